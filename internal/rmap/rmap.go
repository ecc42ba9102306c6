// Package rmap keeps the reverse mapping of an AG: who owns its blocks.
package rmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

// Owner says whose blocks are. That whose Owner is 0 is nobody.
type Owner struct {
	Owner  uint64 // an inode or one of the ondisk.Own values
	Offset uint64 // within a file's fork, in blocks
	Attr   bool   // of the attribute fork
	Bmbt   bool   // of the btree of a fork, which has no offsets
	// Unwritten: preallocated blocks that hold no data yet.
	Unwritten bool
}

// Map enters blocks of an AG, at once. Without an rmapbt it does nothing.
func Map(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	panic("to be written")
}

// Unmap removes blocks of an AG, at once.
func Unmap(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	panic("to be written")
}
