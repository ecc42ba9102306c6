package inode

import (
	"sync"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Inode is an inode in use.
type Inode struct {
	Ino geometry.Inode
	// Core is as on disk, but for what follows from the forks, which Flush puts in:
	// formats, ForkOffset and the numbers of extents.
	Core ondisk.Inode
	Data Fork
	// Attr is the attribute fork. There is none if ForkOffset is 0.
	Attr Fork
	// ForkOffset is where the attribute fork begins in the literal area, the bytes
	// behind the core, in bytes. It is a multiple of 8.
	ForkOffset int

	gone bool // with its chunk: there is no place any more to put it
}

var idle = sync.Pool{New: func() any { return new(Inode) }}

// New is an inode of which nothing is known but the number. Its forks have no
// extents, and it has no attribute fork.
func New(ino geometry.Inode) *Inode {
	ip := idle.Get().(*Inode)
	ip.Ino, ip.Core, ip.ForkOffset, ip.gone = ino, ondisk.Inode{}, 0, false
	ip.Data.Reset(ondisk.FormatExtents)
	ip.Attr.Reset(ondisk.FormatExtents)
	return ip
}

// Release gives the memory of an inode back, which nobody uses any more: no
// transaction that is not yet committed either.
func (ip *Inode) Release() { idle.Put(ip) }

// IsDir tells whether it is a directory.
func (ip *Inode) IsDir() bool { return ip.Core.Mode&ondisk.ModeType == ondisk.ModeDirectory }

// Log says that the inode is changed by a transaction, which puts it into its block
// at the end. Once in a transaction that counts as a change of the file.
func (ip *Inode) Log(t *live.Trans) { t.Log(ip) }

// literal is how many bytes both forks have.
func literal(fs *live.FS) int { return int(fs.G.InodeSize) - ondisk.CoreSize(fs.V5) }

// Room is how many bytes a fork may take in the inode.
func (ip *Inode) Room(fs *live.FS, attr bool) int {
	switch {
	case attr && ip.ForkOffset == 0:
		return 0
	case attr:
		return literal(fs) - ip.ForkOffset
	case ip.ForkOffset == 0:
		return literal(fs)
	}
	return ip.ForkOffset
}

// Fork is a fork.
func (ip *Inode) Fork(attr bool) *Fork {
	if attr {
		return &ip.Attr
	}
	return &ip.Data
}

// The most extents that a fork may have: of the data fork and of the attribute fork,
// with counters of 64 and 32 bits (nrext64) and without.
const (
	maxExtents, maxExtentsSmall         = 1<<48 - 1, 1<<31 - 1
	maxAttrExtents, maxAttrExtentsSmall = 1<<32 - 1, 1<<15 - 1
)

// MaxExtents is the most extents that a fork may have (xfs_iext_max_nextents).
func (ip *Inode) MaxExtents(attr bool) uint64 {
	large := ip.Core.Flags2&ondisk.Flag2Nrext64 != 0
	switch {
	case attr && large:
		return maxAttrExtents
	case attr:
		return maxAttrExtentsSmall
	case large:
		return maxExtents
	}
	return maxExtentsSmall
}

// DefaultForkOffset is where the attribute fork of a new inode begins
// (xfs_default_attroffset): behind room for the least that a data fork of its form
// may need.
func (ip *Inode) DefaultForkOffset(fs *live.FS) int {
	const (
		least     = 256        // of the sizes of inodes
		leastRoot = 4 + 2*16   // a btree's root with two pointers
		sixTimes  = 4 + 6*2*16 // with six times as many
	)
	switch {
	case ip.Data.Format == ondisk.FormatDev:
		return 8
	case fs.G.InodeSize == least:
		return (literal(fs) - leastRoot) &^ 7
	}
	return sixTimes &^ 7
}
