// Package alloc hands out the blocks of AGs, and takes them back.
package alloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/rmap"
)

// Request is what is wanted. The fields are those of the kernel's xfs_alloc_arg.
type Request struct {
	Min, Max  geometry.Blocks
	Mod, Prod geometry.Blocks // the length is Mod beyond a multiple of Prod, if Prod is not 0
	Align     geometry.Blocks // of the start; 0 is 1
	// AlignSlop is what an exact allocation must leave for alignment, MinLeft what
	// must stay free in the AG, and Total what all of the operation takes.
	AlignSlop, MinLeft, Total geometry.Blocks
	// From and To bound the start of the extent within its AG, if To is not 0.
	From, To geometry.AGBlock
	// Owner is entered in the rmapbt with the allocation, unless it is zero: the owner
	// of a file's data is entered with MapLater.
	Owner   rmap.Owner
	Reserve Reserve
	// UserData: for what users keep in files, which begins where free space does, so
	// that the file may grow into the rest of it.
	UserData bool
}

// Reserve is the reservation that blocks come from.
type Reserve int

// The reservations of an AG.
const (
	ReserveNone Reserve = iota
	ReserveAGFL
	ReserveMetadata
	ReserveRmap
)

// Exact takes the blocks at a place, if they are free.
func Exact(t *live.Trans, at geometry.FSBlock, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	panic("to be written")
}

// Near takes blocks near a place, in its AG.
func Near(t *live.Trans, at geometry.FSBlock, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	panic("to be written")
}

// ThisAG takes blocks anywhere in an AG.
func ThisAG(t *live.Trans, agno geometry.AGNumber, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	panic("to be written")
}

// StartAG takes blocks near a place, else anywhere in the AGs behind it, else in those
// before it. If the place is the first block of an AG any place there will do.
// (xfs_alloc_vextent_start_ag, and as libxfs has no locks that others may hold,
// xfs_alloc_vextent_first_ag as well.)
func StartAG(t *live.Trans, at geometry.FSBlock, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	panic("to be written")
}

// Free frees blocks of an AG at once, and FreeLater at the end of the transaction.
// FreeLater with an owner that is zero leaves the rmapbt alone.
func Free(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o rmap.Owner, r Reserve) error {
	panic("to be written")
}

// FreeLater: see Free.
func FreeLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks, o rmap.Owner, r Reserve) {
	panic("to be written")
}

// FixFreeList makes the AGFL of an AG as long as it is to be, longer or shorter.
func FixFreeList(t *live.Trans, agno geometry.AGNumber) error { panic("to be written") }

// Longest is the length of the longest extent that an AG can give, and Available
// the number of its blocks that can be had.
func Longest(t *live.Trans, agno geometry.AGNumber, r Reserve) (geometry.Blocks, error) {
	panic("to be written")
}
