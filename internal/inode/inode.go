// Package inode has inodes in memory, while something works on them, with what
// their forks hold.
package inode

import (
	"mkfs/internal/btree"
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
	// ForkOffset is where the attribute fork begins in the literal area, in bytes.
	ForkOffset int
}

// Extent is a run of a file's blocks.
type Extent struct {
	Offset    uint64 // within the file, in blocks
	Start     geometry.FSBlock
	Blocks    geometry.Blocks
	Unwritten bool
}

// End is the first block of the file behind the extent.
func (e Extent) End() uint64 { return e.Offset + uint64(e.Blocks) }

// Fork is what a fork of an inode holds.
type Fork struct {
	Format ondisk.Format
	// Local is the contents of a local fork.
	Local []byte
	// Extents are all extents, in order of offset, whether they are in the inode
	// or in a btree.
	Extents []Extent
	// Root is the root of the btree of extents.
	Root btree.Fork
}

// Read reads an inode and its forks.
func Read(t *live.Trans, ino geometry.Inode) (*Inode, error) { panic("to be written") }

// Log says that an inode is changed by a transaction, which puts it into its block
// at the end. Once in a transaction that counts as a change of the file.
func (ip *Inode) Log(t *live.Trans) { panic("to be written") }

// Flush puts the inode into its block.
func (ip *Inode) Flush(t *live.Trans) error { panic("to be written") }

// Room is how many bytes a fork may take in the inode.
func (ip *Inode) Room(t *live.FS, attr bool) int { panic("to be written") }
