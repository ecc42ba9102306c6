package btree

import (
	"cmp"
	"encoding/binary"

	"mkfs/internal/ondisk"
)

// Records and keys are compared where they lie: this is the hottest code there is.

var be = binary.BigEndian

// A record of free space is its own key.
func putAllocKey(key, record []byte) { copy(key, record[:ondisk.AllocRecordSize]) }

// The key is the number that a record begins with.
func putStartKey(key, record []byte) { copy(key, record[:startKeySize]) }

// orderStart orders by the number that records and keys begin with.
func orderStart(entry, key []byte) int { return cmp.Compare(be.Uint32(entry), be.Uint32(key)) }

// orderCount orders free space by length, and by place if that is the same.
func orderCount(entry, key []byte) int {
	a, b := be.Uint64(entry), be.Uint64(key) // start, then length
	return cmp.Compare(a<<32|a>>32, b<<32|b>>32)
}

const (
	extentFlagBits   = 1 // whether it is unwritten
	extentOffsetDown = 9
)

// extentOffset is the offset in its file of a record of an extent.
func extentOffset(record []byte) uint64 {
	return be.Uint64(record) << extentFlagBits >> (extentFlagBits + extentOffsetDown)
}

func putOffsetKey(key, record []byte) { be.PutUint64(key, extentOffset(record)) }

func orderExtent(record, key []byte) int { return cmp.Compare(extentOffset(record), be.Uint64(key)) }
func orderOffset(entry, key []byte) int  { return cmp.Compare(be.Uint64(entry), be.Uint64(key)) }

// Where the fields of owners of blocks are, and what the offset says beside the
// offset. A record is start, length, owner, offset, and a key lacks the length.
const (
	rmapCount     = 4
	rmapOwner     = 8
	rmapOffset    = 16
	rmapKeyOwner  = 4
	rmapKeyOffset = 12

	rmapUnwritten = 1 << 61 // not part of the key
	rmapMask      = 1<<54 - 1
	rmapNoInode   = 1 << 63 // of the owner
)

func putRmapKey(key, record []byte) {
	copy(key, record[:rmapCount])
	copy(key[rmapKeyOwner:], record[rmapOwner:rmapOffset])
	be.PutUint64(key[rmapKeyOffset:], be.Uint64(record[rmapOffset:])&^rmapUnwritten)
}

// putRmapHigh: the last block, and if the blocks map those of a file, the last
// of these. (xfs_rmapbt_init_high_key_from_rec in libxfs.)
func putRmapHigh(key, record []byte) {
	putRmapKey(key, record)
	more := be.Uint32(record[rmapCount:]) - 1
	be.PutUint32(key, be.Uint32(record)+more)
	offset := be.Uint64(key[rmapKeyOffset:])
	if be.Uint64(record[rmapOwner:])&rmapNoInode != 0 || offset&ondisk.RmapBmbt != 0 {
		return
	}
	// A sum that overflows into the flags is the format's, not checked.
	be.PutUint64(key[rmapKeyOffset:], (offset&rmapMask+uint64(more))|offset&^rmapMask)
}

func orderRmapRecord(record, key []byte) int {
	return orderRmap(record, record[rmapOwner:], record[rmapOffset:], key)
}

func orderRmapKey(entry, key []byte) int {
	return orderRmap(entry, entry[rmapKeyOwner:], entry[rmapKeyOffset:], key)
}

func orderRmap(start, owner, offset, key []byte) int {
	if c := orderStart(start, key); c != 0 {
		return c
	}
	if c := cmp.Compare(be.Uint64(owner), be.Uint64(key[rmapKeyOwner:])); c != 0 {
		return c
	}
	return cmp.Compare(be.Uint64(offset)&^rmapUnwritten, be.Uint64(key[rmapKeyOffset:])&^rmapUnwritten)
}
