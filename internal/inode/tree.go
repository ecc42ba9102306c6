package inode

import (
	"errors"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

// readTree reads the root of a btree of extents, and all of these.
func (f *Fork) readTree(t *live.Trans, ip *Inode, b []byte, extents uint64, attr bool) error {
	return errors.New("btrees are not read yet")
}

// putRoot writes the root of a btree of extents.
func (f *Fork) putRoot(dst []byte) error { return errors.New("btrees are not written yet") }

// chunkOf finds the first block of an inode's chunk in the inobt.
func chunkOf(t *live.Trans, agno geometry.AGNumber, agino uint32) (geometry.AGBlock, error) {
	return 0, errors.New("chunks that are not aligned are not found yet")
}
