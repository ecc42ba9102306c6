package target

import (
	"crypto/sha256"
	"hash/crc32"
	"math"
)

// File systems for flash, for images that are only read, and the newer ones.

func checkSquashfs(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 96)
	return b != nil && le.Uint16(b[28:]) >= 4
}

// checkSquashfs3 is for what came before version 4, in either byte order.
func checkSquashfs3(v *view, sb int64, m magic) bool {
	b := v.at(sb, 96)
	if b == nil {
		return false
	}
	if m.bytes == "sqsh" {
		return be.Uint16(b[28:]) <= 3
	}
	return le.Uint16(b[28:]) <= 3
}

// checkBtrfs knows two of the four checksums. A superblock with one of the
// others counts without it.
func checkBtrfs(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4096)
	if b == nil || le.Uint32(b[144:]) == 0 {
		return false
	}
	switch le.Uint16(b[196:]) {
	case 0:
		return crc32.Checksum(b[32:], castagnoli) == le.Uint32(b)
	case 2:
		sum := sha256.Sum256(b[32:])
		return string(sum[:]) == string(b[:32])
	}
	return true
}

func checkUBIFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4096)
	return b != nil && ^crc32.ChecksumIEEE(b[8:]) == le.Uint32(b[4:])
}

// findNILFS looks at the superblock and at its copy near the end.
func findNILFS(v *view) (int64, bool) {
	for _, sb := range []int64{kib, v.fromEnd(8)} {
		b := v.at(sb, 1024)
		if b == nil || le.Uint16(b[6:]) != 0x3434 {
			continue
		}
		n := le.Uint16(b[8:])
		if n < 20 || n > 1024 {
			continue
		}
		crc := rawCRC(le.Uint32(b[12:]), crc32.IEEETable, without(b[:n], 16, 4, 0))
		if crc == le.Uint32(b[16:]) {
			return sb + 6, true
		}
	}
	return 0, false
}

// checkF2FS believes version 1.0, which has no checksum, and later ones that
// say where they have theirs, or that they have none.
func checkF2FS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4096)
	if b == nil {
		return false
	}
	sum := le.Uint32(b[32:])
	if le.Uint16(b[4:]) == 1 && le.Uint16(b[6:]) == 0 || sum == 0 {
		return true
	}
	return sum%4 == 0 && sum <= 4092 && rawCRC(0xf2f52010, crc32.IEEETable, b[:sum]) == le.Uint32(b[sum:])
}

func checkMpool(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 66)
	return b != nil && crc32.Checksum(b[:62], castagnoli) == le.Uint32(b[62:])
}

// checkAPFS wants a container superblock with its checksum, a Fletcher one.
func checkAPFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4096)
	if b == nil || le.Uint16(b[24:]) != 1 || le.Uint16(b[28:]) != 0 || le.Uint16(b[30:]) != 0 ||
		le.Uint32(b[36:]) != 4096 {
		return false
	}
	var lo, hi uint64
	for i := 8; i < 4096; i += 4 {
		lo += uint64(le.Uint32(b[i:]))
		hi += lo
	}
	low := ^uint32((lo + hi) % math.MaxUint32)
	high := ^uint32((lo + uint64(low)) % math.MaxUint32)
	return uint64(high)<<32|uint64(low) == le.Uint64(b)
}

func checkZonefs(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4096)
	return b != nil && ^crc32.ChecksumIEEE(without(b, 4, 4, 0)) == le.Uint32(b[4:])
}

// checkEROFS wants the checksum if the superblock says that it has one.
func checkEROFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 128)
	if b == nil || b[12] < 9 || b[12] > 16 {
		return false
	}
	if le.Uint32(b[8:])&1 == 0 {
		return true
	}
	n := int64(1)<<b[12] - kib // to the end of the block
	if n <= 0 {
		return false
	}
	want := le.Uint32(b[4:])
	b = v.at(sb, n)
	return b != nil && ^crc32.Checksum(without(b, 4, 4, 0), castagnoli) == want
}

// checkCramfs wants the checksum that the second version has over all of it.
func checkCramfs(v *view, sb int64, m magic) bool {
	b := v.at(sb, 64)
	if b == nil {
		return false
	}
	num := le.Uint32
	if m.bytes[0] == '\x28' {
		num = be.Uint32
	}
	if num(b[8:])&1 == 0 {
		return true
	}
	size, want := int64(num(b[4:])), num(b[32:])
	if size < 64 || size > 64*kib {
		return false
	}
	b = v.at(sb, size)
	return b != nil && crc32.ChecksumIEEE(without(b, 32, 4, 0)) == want
}

// checkROMFS wants the words at the start to sum up to 0.
func checkROMFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 32)
	if b == nil {
		return false
	}
	b = v.at(sb, min(512, int64(be.Uint32(b[8:]))))
	if len(b) == 0 || len(b)%4 != 0 {
		return false
	}
	var sum uint32
	for ; len(b) > 0; b = b[4:] {
		sum += be.Uint32(b)
	}
	return sum == 0
}

var scoutfsMagic = []magic{{64 * kib, 4, "\x8b\x42\x3c\x10"}}

// scoutfsFlags returns the flags of a superblock; ok is false if it is not one.
func scoutfsFlags(v *view, sb int64) (flags uint64, ok bool) {
	b := v.at(sb, 4096)
	if b == nil {
		return 0, false
	}
	return le.Uint64(b[48:]), ^crc32.Checksum(b[4:], castagnoli) == le.Uint32(b)
}

func checkScoutFSMeta(v *view, sb int64, _ magic) bool {
	flags, ok := scoutfsFlags(v, sb)
	return ok && flags&1 != 0
}

func checkScoutFSData(v *view, sb int64, _ magic) bool {
	flags, ok := scoutfsFlags(v, sb)
	return ok && flags&1 == 0
}

var gfsMagic = []magic{{64 * kib, 0, "\x01\x16\x19\x70"}}

func checkGFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 288)
	return b != nil && be.Uint32(b[24:]) == 1309 && be.Uint32(b[28:]) == 1401
}

func checkGFS2(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 288)
	if b == nil {
		return false
	}
	format, multi := be.Uint32(b[24:]), be.Uint32(b[28:])
	return format >= 1800 && format < 1900 && multi >= 1900 && multi < 2000
}

func checkHPFS(v *view, sb int64, _ magic) bool {
	return v.is(sb+512, "\x49\x18\x91\xf9")
}

// checkHFS leaves out those that are only the wrapping of an HFS+.
func checkHFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 130)
	if b == nil {
		return false
	}
	block := be.Uint32(b[20:])
	return !isHFSPlus(b[124:]) && block != 0 && block%512 == 0
}

func isHFSPlus(b []byte) bool { return string(b[:2]) == "H+" || string(b[:2]) == "HX" }

// checkHFSPlus follows the wrapping if there is one. The catalog must lie on the
// target.
func checkHFSPlus(v *view, sb int64, m magic) bool {
	off := int64(0)
	if m.bytes == "BD" {
		b := v.at(sb, 130)
		if b == nil || !isHFSPlus(b[124:]) {
			return false
		}
		block := int64(be.Uint32(b[20:]))
		if block < 512 || block%512 != 0 {
			return false
		}
		off = int64(be.Uint16(b[28:]))*512 + int64(be.Uint16(b[126:]))*block
	}
	b := v.at(off+sb, 512)
	if b == nil || !isHFSPlus(b) {
		return false
	}
	block := be.Uint32(b[40:])
	return block >= 512 && powerOfTwo(block) && v.has(off+int64(be.Uint32(b[288:]))*int64(block), 0)
}
