package rmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// flags are the flags in an offset.
const flags = ondisk.RmapAttr | ondisk.RmapBmbt | ondisk.RmapUnwritten

// record is a record of the rmapbt. Its offset has the flags of the format.
type record struct {
	start  geometry.AGBlock
	blocks geometry.Blocks
	owner  uint64
	offset uint64
}

func decode(b []byte) record {
	r := ondisk.DecodeRmapRecord(b)
	return record{geometry.AGBlock(r.Start), geometry.Blocks(r.Blocks), r.Owner, r.Offset}
}

func (r record) put(b []byte) {
	ondisk.RmapRecord{Start: uint32(r.start), Blocks: uint32(r.blocks), Owner: r.owner, Offset: r.offset}.Put(b)
}

// end is the first block behind it.
func (r record) end() geometry.AGBlock { return r.start + geometry.AGBlock(r.blocks) }

// plain: the blocks have no offsets, since they are no file's, or of the btree of a fork.
func (r record) plain() bool { return r.owner>>63 != 0 || r.offset&ondisk.RmapBmbt != 0 }

// unwritten is the flag.
func (r record) unwritten() uint64 { return r.offset & ondisk.RmapUnwritten }

// block is the offset without its flags.
func (r record) block() uint64 { return r.offset &^ flags }

// holds tells whether a record has all blocks of another, for the same owner, at the same offset and with the same flags.
func (r record) holds(part record) bool {
	return r.start <= part.start && r.end() >= part.end() && r.owner == part.owner &&
		r.behind(geometry.Blocks(part.start-r.start)).offset == part.offset
}

// endOffset is the offset behind it.
func (r record) endOffset() uint64 {
	if r.plain() {
		return r.offset
	}
	return r.offset + uint64(r.blocks)
}

// extends tells whether a record goes on in another: the flags are part of the offset.
func (r record) extends(next record) bool {
	return r.end() == next.start && r.owner == next.owner && r.plain() == next.plain() && r.endOffset() == next.offset
}

// first is the first n blocks of it, and behind all but those.
func (r record) first(n geometry.Blocks) record {
	r.blocks = n
	return r
}

func (r record) behind(n geometry.Blocks) record {
	b := r
	b.start, b.blocks = r.start+geometry.AGBlock(n), r.blocks-n
	if !r.plain() {
		b.offset += uint64(n)
	}
	return b
}

// longer is it with n blocks more.
func (r record) longer(n geometry.Blocks) record { return r.first(r.blocks + n) }

// fault tells what is wrong with a record, of whatever AG. (xfs_rmap_check_irec in libxfs.)
func (r record) fault() string {
	fork := r.offset & (ondisk.RmapAttr | ondisk.RmapBmbt)
	switch {
	case r.offset&^uint64(flags|ondisk.RmapOffset) != 0:
		return "has unknown flags"
	case r.owner <= ondisk.OwnLowest && r.owner>>63 != 0 || r.owner > ondisk.OwnFS || r.owner == 0:
		return "has an owner that there is not"
	case r.owner>>63 != 0 && r.offset != 0:
		return "has an offset, and no file"
	case r.offset&ondisk.RmapBmbt != 0 && r.offset&ondisk.RmapOffset != 0:
		return "has an offset, in a btree"
	case r.unwritten() != 0 && fork != 0:
		return "is unwritten, and no data"
	}
	return ""
}
