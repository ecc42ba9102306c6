package inode

import (
	"errors"

	"mkfs/internal/live"
)

// readTree reads the root of a btree of extents, and all of these.
func (f *Fork) readTree(t *live.Trans, ip *Inode, b []byte, extents uint64, attr bool) error {
	return errors.New("btrees are not read yet")
}

// putRoot writes the root of a btree of extents.
func (f *Fork) putRoot(dst []byte) error { return errors.New("btrees are not written yet") }
