package inode

import (
	"slices"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Extent is a run of a file's blocks.
type Extent struct {
	Offset    uint64 // within the file, in blocks
	Start     geometry.FSBlock
	Blocks    geometry.Blocks // 1 to MaxExtent
	Unwritten bool
}

// Limits of an extent: its length and, in blocks, the end of files.
const (
	MaxExtent = 1<<21 - 1
	MaxOffset = 1<<54 - 1 // no block of a file is behind this one
)

// End is the first block of the file behind the extent.
func (e Extent) End() uint64 { return e.Offset + uint64(e.Blocks) }

// Put writes the extent as forks and blocks of their btrees have it.
func (e Extent) Put(b []byte) {
	ondisk.FileExtent{Offset: e.Offset, Start: uint64(e.Start), Blocks: uint32(e.Blocks), Unwritten: e.Unwritten}.Put(b)
}

// DecodeExtent reads what Put writes.
func DecodeExtent(b []byte) Extent {
	e := ondisk.DecodeFileExtent(b)
	return Extent{
		Offset: e.Offset, Start: geometry.FSBlock(e.Start), Blocks: geometry.Blocks(e.Blocks), Unwritten: e.Unwritten,
	}
}

// Fork is what a fork of an inode holds.
type Fork struct {
	Format ondisk.Format
	// Device is the number of a device node, as on disk.
	Device uint32
	// Local is the contents of a local fork; of FormatMetaBtree it is the fork as on disk.
	Local []byte
	// Extents are all extents, in order of offset, whether they are in the inode
	// or in a btree. They take 32 bytes each. To enter or remove one takes as long as
	// moving those behind it: nothing at the end, where files grow, and up to a millisecond
	// in the midst of a million.
	Extents []Extent
	// Root is the root of the btree of extents.
	Root btree.Fork
}

// Reset empties the fork and gives it a form. Memory is kept.
func (f *Fork) Reset(format ondisk.Format) {
	f.Format, f.Device, f.Local, f.Extents = format, 0, f.Local[:0], f.Extents[:0]
	f.Root.Reset()
}

// Search finds the first extent that ends behind an offset: the one that has it, or
// the next. It is len(f.Extents) if there is none.
func (f *Fork) Search(offset uint64) int {
	n := len(f.Extents)
	if n == 0 || f.Extents[n-1].End() <= offset {
		return n // the end of a file that grows
	}
	lo, hi := 0, n-1 // the answer is within
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if f.Extents[mid].End() > offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Lookup is Search that tells whether the extent has the offset.
func (f *Fork) Lookup(offset uint64) (i int, has bool) {
	i = f.Search(offset)
	return i, i < len(f.Extents) && f.Extents[i].Offset <= offset
}

// Insert enters extents before the i-th.
func (f *Fork) Insert(i int, e ...Extent) { f.Extents = slices.Insert(f.Extents, i, e...) }

// Remove removes n extents from the i-th on.
func (f *Fork) Remove(i, n int) { f.Extents = slices.Delete(f.Extents, i, i+n) }

// Resize makes Local n bytes long and returns it. What was there
// before stays, as far as it fits; what is new is zero.
func (f *Fork) Resize(n int) []byte {
	old := len(f.Local)
	if n <= old {
		f.Local = f.Local[:n]
		return f.Local
	}
	f.Local = slices.Grow(f.Local, n-old)[:n]
	clear(f.Local[old:])
	return f.Local
}
