package target

import (
	"hash/crc32"
	"math/bits"
)

// The ext family is told apart by features. Those of ext2 and ext3 are few; a
// file system that has any other is ext4.
var extMagic = []magic{{kib, 0x38, "\x53\xef"}}

const (
	extJournal    = 0x4   // compat
	extJournalDev = 0x8   // incompat
	extMetaCsum   = 0x400 // ro_compat
	extTestFlag   = 0x4   // flags
	ext3ROCompat  = 0x7   // sparse_super, large_file, btree_dir
	ext2Incompat  = 0x12  // filetype, meta_bg
	ext3Incompat  = 0x12 | 0x4
)

// extFeatures returns the superblock's features; ok is false if it is not one.
func extFeatures(v *view, sb int64) (compat, incompat, roCompat, flags uint32, ok bool) {
	b := v.at(sb, 1024)
	if b == nil {
		return
	}
	compat, incompat, roCompat = le.Uint32(b[0x5c:]), le.Uint32(b[0x60:]), le.Uint32(b[0x64:])
	flags = le.Uint32(b[0x160:])
	if roCompat&extMetaCsum != 0 {
		ok = ^crc32.Checksum(b[:1020], castagnoli) == le.Uint32(b[1020:])
	} else {
		ok = le.Uint32(b[0x18:]) < 256
	}
	return
}

func checkJBD(v *view, sb int64, _ magic) bool {
	_, incompat, _, _, ok := extFeatures(v, sb)
	return ok && incompat&extJournalDev != 0
}

func checkExt2(v *view, sb int64, _ magic) bool {
	compat, incompat, roCompat, _, ok := extFeatures(v, sb)
	return ok && compat&extJournal == 0 && roCompat&^ext3ROCompat == 0 && incompat&^ext2Incompat == 0
}

func checkExt3(v *view, sb int64, _ magic) bool {
	compat, incompat, roCompat, _, ok := extFeatures(v, sb)
	return ok && compat&extJournal != 0 && roCompat&^ext3ROCompat == 0 && incompat&^ext3Incompat == 0
}

func checkExt4(v *view, sb int64, _ magic) bool {
	_, incompat, roCompat, flags, ok := extFeatures(v, sb)
	return ok && incompat&extJournalDev == 0 && flags&extTestFlag == 0 &&
		(roCompat&^ext3ROCompat != 0 || incompat&^ext3Incompat != 0)
}

func checkExt4dev(v *view, sb int64, _ magic) bool {
	_, incompat, _, flags, ok := extFeatures(v, sb)
	return ok && incompat&extJournalDev == 0 && flags&extTestFlag != 0
}

// checkSwap wants the version that goes with the magic number, and pages. An
// image of a hibernated system may hide in swap, but then it is that.
func checkSwap(v *view, sb int64, m magic) bool {
	if v.is(0, "\xed\xc3\x02\xe9\x98\x56\xe5\x0c") {
		return false
	}
	b := v.at(1024, 12)
	if b == nil {
		return false
	}
	if m.bytes == "SWAP-SPACE" {
		return true // version 0 has no header
	}
	return (le.Uint32(b) == 1 || be.Uint32(b) == 1) && le.Uint32(b[4:]) != 0
}

// checkReiser wants the journal to lie behind the superblock.
func checkReiser(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 100)
	if b == nil {
		return false
	}
	sectors := uint32(le.Uint16(b[44:]) >> 9)
	return sectors != 0 && uint32(sb>>10)/sectors <= le.Uint32(b[12:])/2
}

func checkReiser4(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 60)
	return b != nil && b[19] >= 2 // in 256 bytes
}

func checkJFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 184)
	if b == nil {
		return false
	}
	block, log, factor := le.Uint32(b[16:]), le.Uint16(b[20:]), le.Uint16(b[22:])
	sector, sectorLog := le.Uint32(b[24:]), le.Uint16(b[28:])
	return log <= 31 && sectorLog <= 31 && block == 1<<log && sector == 1<<sectorLog && log-sectorLog == factor
}

// findUFS tries the places of all its kinds, in both byte orders.
func findUFS(v *view) (int64, bool) {
	for _, at := range []int64{0, 8 * kib, 64 * kib, 256 * kib} {
		b := v.at(at+1372, 5)
		if b == nil {
			return 0, false // what is behind is not looked at either
		}
		for _, m := range []uint32{0x19540119, 0x00011954, 0x00195612, 0x00095014, 0x00612195, 0x05231994} {
			if le.Uint32(b) == m || be.Uint32(b) == m {
				return at + 1372, true
			}
		}
	}
	return 0, false
}

func findSysV(v *view) (int64, bool) {
	for _, at := range []int64{0, 9, 15, 18} {
		off := at*kib + 512 + 504
		if v.is(off, "\x20\x7e\x18\xfd") || v.is(off, "\xfd\x18\x7e\x20") {
			return off, true
		}
	}
	return 0, false
}

// findMinix wants bitmaps that are large enough for the inodes and zones. Its
// magic numbers are short, and two other formats have data in that place.
func findMinix(v *view) (int64, bool) {
	b := v.at(kib, 64)
	if b == nil || be.Uint32(b) == 0xe2e1f5e0 || string(b[0x38:0x3a]) == "\x53\xef" {
		return 0, false
	}
	var order interface {
		Uint16([]byte) uint16
		Uint32([]byte) uint32
	} = le
	magic := le.Uint16(b[16:])
	if m := bits.ReverseBytes16(magic); m == 0x137f || m == 0x138f || m == 0x2468 || m == 0x2478 {
		order, magic = be, m
	}
	off := int64(kib + 16)
	var inodes, zones, first, imaps, zmaps, zoneLog uint32
	switch {
	case magic == 0x137f || magic == 0x138f, magic == 0x2468 || magic == 0x2478:
		if order.Uint16(b[18:])&^3 != 0 {
			return 0, false
		}
		inodes, zones = uint32(order.Uint16(b)), uint32(order.Uint16(b[2:]))
		if magic >= 0x2468 {
			zones = order.Uint32(b[20:])
		}
		imaps, zmaps = uint32(order.Uint16(b[4:])), uint32(order.Uint16(b[6:]))
		first, zoneLog = uint32(order.Uint16(b[8:])), uint32(order.Uint16(b[10:]))
	case le.Uint16(b[24:]) == 0x4d5a:
		off = kib + 24
		inodes, zones = le.Uint32(b), le.Uint32(b[20:])
		imaps, zmaps = uint32(le.Uint16(b[6:])), uint32(le.Uint16(b[8:]))
		first, zoneLog = uint32(le.Uint16(b[10:])), uint32(le.Uint16(b[12:]))
	default:
		return 0, false
	}
	return off, zoneLog == 0 && inodes != 0 && inodes != 1<<32-1 && first <= zones &&
		uint64(imaps)*8*kib >= uint64(inodes)+1 && uint64(zmaps)*8*kib >= uint64(zones-first)+1
}

// checkBeFS wants all three magic numbers, in one byte order, and a root inode.
func checkBeFS(v *view, sb int64, m magic) bool {
	b := v.at(sb, 132)
	if b == nil {
		return false
	}
	var order interface {
		Uint16([]byte) uint16
		Uint32([]byte) uint32
	} = le
	if m.bytes == "BFS1" {
		order = be
	}
	block, log, agLog := order.Uint32(b[40:]), order.Uint32(b[44:]), order.Uint32(b[76:])
	if order.Uint32(b[36:]) != 0x42494745 || order.Uint32(b[68:]) != 0xdd121031 || order.Uint32(b[112:]) != 0x15b6830e ||
		log < 10 || log > 13 || block != 1<<log || agLog >= 64-log {
		return false
	}
	root := (uint64(order.Uint32(b[116:]))<<agLog + uint64(order.Uint16(b[120:]))) << log
	if root >= 1<<63 || order.Uint16(b[122:]) == 0 {
		return false
	}
	b = v.at(int64(root), 4)
	return b != nil && order.Uint32(b) == 0x3bbe0ad9
}
