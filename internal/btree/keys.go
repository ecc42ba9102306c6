package btree

import (
	"encoding/binary"

	"mkfs/internal/ondisk"
)

var be = binary.BigEndian

// A record of free space is its own key.
func putAllocKey(key, record []byte) { copy(key, record[:ondisk.AllocRecordSize]) }

// The key is the number that a record begins with.
func putStartKey(key, record []byte) { copy(key, record[:startKeySize]) }

// putRunEnd: the last block of a record that begins with its first block and its length.
func putRunEnd(key, record []byte) { be.PutUint32(key, be.Uint32(record)+be.Uint32(record[4:])-1) }

const (
	extentFlagBits   = 1 // whether it is unwritten
	extentOffsetDown = 9
)

// extentOffset is the offset in its file of a record of an extent.
func extentOffset(record []byte) uint64 {
	return be.Uint64(record) << extentFlagBits >> (extentFlagBits + extentOffsetDown)
}

func putOffsetKey(key, record []byte) { be.PutUint64(key, extentOffset(record)) }

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
