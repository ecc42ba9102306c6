// Package rmap keeps the reverse mapping of an AG: who owns its blocks.
package rmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Owner says whose blocks are.
type Owner struct {
	Owner  uint64 // an inode or one of the ondisk.Own values
	Offset uint64 // within a file's fork, in blocks
	Attr   bool   // of the attribute fork
	Bmbt   bool   // of the btree of a fork, which has no offsets
}

// Map enters blocks of an AG, at once. Without an rmapbt it does nothing.
func Map(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	panic("to be written")
}

// Unmap removes blocks of an AG, at once.
func Unmap(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	panic("to be written")
}

// MapLater puts off entering the blocks that a file has got, UnmapLater removing
// those that it has lost, and ConvertLater that they are written now, or not.
func MapLater(t *live.Trans, ino geometry.Inode, attr bool, e inode.Extent)   { panic("to be written") }
func UnmapLater(t *live.Trans, ino geometry.Inode, attr bool, e inode.Extent) { panic("to be written") }
func ConvertLater(t *live.Trans, ino geometry.Inode, attr bool, e inode.Extent) {
	panic("to be written")
}
