package inode

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

// Ahead reads clusters ahead, of inodes that will be read in the order in which they are named.
// The zero value is ready.
type Ahead struct{ last int64 }

// Begin begins to read the cluster of an inode, unless it is there or is the one of the inode named before.
// It tells whether there is room for more. What is wrong with the number is told by Read.
func (a *Ahead) Begin(t *live.Trans, ino geometry.Inode) (bool, error) {
	p, err := locate(t, ino)
	if err != nil || p.off == a.last {
		return true, nil
	}
	a.last = p.off
	return t.Cache.Ahead(p.off, p.n)
}
