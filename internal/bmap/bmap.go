// Package bmap maps the blocks of a file's forks.
package bmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// ForkID is a fork of an inode.
type ForkID int

// The forks.
const (
	Data ForkID = iota
	Attr
)

// Flags of Write, as those of xfs_bmapi_write.
type Flags uint

// The flags.
const (
	Metadata   Flags = 1 << iota // blocks of a directory, of attributes, of a symlink
	Contiguous                   // in one extent or not at all
	Prealloc                     // unwritten
)

// Read maps n blocks from off on: the extents that there are, cut to the range. Holes
// are between them.
func Read(t *live.Trans, ip *inode.Inode, f ForkID, off uint64, n geometry.Blocks) ([]inode.Extent, error) {
	panic("to be written")
}

// Write maps n blocks from off on, and allocates what is not there: at most one
// new extent. total is what the whole operation may take (resblks).
// The result is what was mapped, cut to the range; it is empty if there is no room.
func Write(t *live.Trans, ip *inode.Inode, f ForkID, off uint64, n geometry.Blocks, flags Flags,
	total geometry.Blocks) ([]inode.Extent, error) {
	panic("to be written")
}

// Unmap frees n blocks from off on, at most most extents at a time; done tells whether
// nothing is left. The blocks are freed at the end of the transaction.
func Unmap(t *live.Trans, ip *inode.Inode, f ForkID, off uint64, n geometry.Blocks, flags Flags, most int) (done bool, err error) {
	panic("to be written")
}

// LastOffset is the first block behind all extents of a fork below a limit.
func LastOffset(t *live.Trans, ip *inode.Inode, f ForkID, below uint64) (uint64, error) {
	panic("to be written")
}

// FirstUnused is the first place from low on where n blocks are not mapped.
func FirstUnused(t *live.Trans, ip *inode.Inode, f ForkID, n geometry.Blocks, low uint64) (uint64, error) {
	panic("to be written")
}

// AddAttrFork makes an attribute fork with room for size bytes of attributes.
func AddAttrFork(t *live.Trans, ip *inode.Inode, size int) error { panic("to be written") }

// LocalToExtents gives a local fork a block and returns it: its contents are for
// the caller to put there.
func LocalToExtents(t *live.Trans, ip *inode.Inode, f ForkID, total geometry.Blocks) (inode.Extent, error) {
	panic("to be written")
}
