package refcount

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// record is a record of the refcountbt.
type record struct {
	start  geometry.AGBlock
	blocks geometry.Blocks
	count  uint32 // of owners
	staged bool   // it is of the staging extents
}

const (
	// pinned is a count that stays as it is: more owners cannot be told (MAXREFCOUNT).
	pinned = 1<<32 - 1
	// tooLong is a length that no merged record has (MAXREFCEXTLEN).
	tooLong = 1<<32 - 1
)

func decode(b []byte) record {
	r := ondisk.DecodeRefcountRecord(b)
	return record{
		start: geometry.AGBlock(r.Start &^ ondisk.RefcountCow), blocks: geometry.Blocks(r.Blocks), count: r.Count,
		staged: r.Start&ondisk.RefcountCow != 0,
	}
}

func (r record) put(b []byte) {
	start := uint32(r.start)
	if r.staged {
		start |= ondisk.RefcountCow
	}
	ondisk.RefcountRecord{Start: start, Blocks: uint32(r.blocks), Count: r.count}.Put(b)
}

// end is the first block behind it.
func (r record) end() geometry.AGBlock { return r.start + geometry.AGBlock(r.blocks) }

// there tells whether there is such a record, or blocks that could be one.
func (r record) there() bool { return r.blocks > 0 }

// stored tells whether blocks have a record, and not only could.
func (r record) stored() bool { return r.there() && (r.staged || r.count > 1) }

// changed is the count once it is changed by as much.
func (r record) changed(by int) uint32 {
	if r.count == pinned {
		return pinned
	}
	return uint32(int64(r.count) + int64(by))
}

// fault tells what is wrong with a record, of whatever AG. (xfs_refcount_check_irec in libxfs.)
func (r record) fault() string {
	switch {
	case r.staged && r.count != 1:
		return "is a staging extent, which nobody shares"
	case !r.staged && r.count < 2:
		return "is not shared"
	case r.blocks == tooLong:
		return "is too long"
	}
	return ""
}
