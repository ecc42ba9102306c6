package target

import (
	"encoding/binary"
	"hash/crc32"
)

// Short names for what every structure here is read with. The offsets are those
// of the fields in the format in question.
var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

// Linux RAID (md): the superblock of version 0.90 is in the last 64 KiB that
// are aligned to 64 KiB, that of version 1 near the end (1.0), at the start
// (1.1) or 4 KiB behind it (1.2).
const (
	mdMagic   = 0xa92b4efc
	md0Behind = 64 * kib
	md1Behind = 8 * kib
)

func findMD(v *view) (int64, bool) {
	if v.size > md0Behind {
		if sb := v.size - v.size%md0Behind - md0Behind; isMD0(v, sb) {
			return sb, true
		}
		if sb := v.size - v.size%4096 - md1Behind; isMD1(v, sb) {
			return sb, true
		}
	}
	for _, sb := range []int64{0, 4 * kib} {
		if isMD1(v, sb) {
			return sb, true
		}
	}
	return 0, false
}

// isMD0 is for version 0.90, which is in the byte order of the machine it was
// made on. The data lies before it.
func isMD0(v *view, sb int64) bool {
	b := v.at(sb, 64)
	if b == nil {
		return false
	}
	var order binary.ByteOrder = le
	if be.Uint32(b) == mdMagic {
		order = be
	} else if le.Uint32(b) != mdMagic {
		return false
	}
	data := int64(order.Uint32(b[32:])) << 10
	return data <= sb && data <= v.size-md0Behind
}

// isMD1 is for version 1, which knows where it is and has a checksum: the sum
// of its 32-bit words, folded.
func isMD1(v *view, sb int64) bool {
	b := v.at(sb, 256)
	if b == nil || le.Uint32(b) != mdMagic || le.Uint32(b[4:]) != 1 || le.Uint64(b[144:]) != uint64(sb)>>9 {
		return false
	}
	devs := int64(le.Uint32(b[220:]))
	if devs > 1<<20 { // more than there can be
		return false
	}
	b = v.at(sb, 256+2*devs)
	if b == nil {
		return false
	}
	want := le.Uint32(b[216:])
	b = without(b, 216, 4, 0)
	var sum uint64
	for ; len(b) >= 4; b = b[4:] {
		sum += uint64(le.Uint32(b))
	}
	if len(b) == 2 {
		sum += uint64(le.Uint16(b))
	}
	return uint32(sum)+uint32(sum>>32) == want
}

// checkBcache has a CRC-64 over the header and the journal buckets in use.
func checkBcache(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 208)
	if b == nil || le.Uint64(b[8:]) != 8 {
		return false
	}
	keys := int64(le.Uint16(b[206:]))
	if keys > 256 {
		return false
	}
	b = v.at(sb, 208+8*keys)
	return b != nil && crc64(b[8:]) == le.Uint64(b)
}

// crc64 is the CRC-64 of bcache: polynomial of ECMA-182, most significant bit
// first, inverted before and after. hash/crc64 has the mirrored one only.
func crc64(b []byte) uint64 {
	crc := ^uint64(0)
	for _, c := range b {
		crc ^= uint64(c) << 56
		for range 8 {
			top := crc >> 63
			crc = crc<<1 ^ -top&0x42f0e1eba9ea3693
		}
	}
	return ^crc
}

// checkBcachefs looks at the position and the sizes. The checksum may be of a
// kind that is not known here, so it counts without it.
func checkBcachefs(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 752)
	if b == nil || le.Uint64(b[104:]) != uint64(sb)>>9 {
		return false
	}
	index, devices := b[122], b[123]
	maxBits := b[240+17]
	length := 752 + 8*int64(le.Uint32(b[124:]))
	return index < devices && maxBits <= 16 && length <= 512<<maxBits && v.has(sb, length)
}

// checkDRBD looks at the size of a bitmap block and the padding behind the
// fields, which are more in version 9.
func checkDRBD(v *view, sb int64, m magic) bool {
	b := v.at(sb, 4096)
	if b == nil {
		return false
	}
	fields := 100
	if m.bytes[3] == 0x6d {
		fields = 112 + 32*32 + 32*8 // 32 peers, 32 old UUIDs
	}
	return be.Uint32(b[80:]) == 4096 && zero(b[fields:])
}

// zero reports whether all of b is 0.
func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// checkDRBDManage wants 32 hexadecimal digits and a line end.
func checkDRBDManage(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 44)
	if b == nil || b[43] != '\n' {
		return false
	}
	for _, c := range b[11:43] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// checkLVM2 wants a label that knows its sector, with a checksum.
func checkLVM2(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && string(b[:8]) == "LABELONE" && le.Uint64(b[8:]) == uint64(sb)>>9 &&
		rawCRC(0xf597a6cf, crc32.IEEETable, b[20:]) == le.Uint32(b[16:])
}

func checkLVM1(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 172)
	return b != nil && (le.Uint16(b[2:]) == 1 || le.Uint16(b[2:]) == 2)
}

func checkVerity(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && le.Uint32(b[8:]) == 1
}

func checkIntegrity(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 33)
	return b != nil && b[8] != 0
}

// findLUKS looks at the start, and at the places for the second header of
// version 2, which stays if only the first is wiped.
func findLUKS(v *view) (int64, bool) {
	if isLUKS(v, 0, "LUKS\xba\xbe") {
		return 0, true
	}
	for sb := int64(16 * kib); sb <= 4*mib; sb *= 2 {
		if isLUKS(v, sb, "SKUL\xba\xbe") {
			return sb, true
		}
	}
	return 0, false
}

// isLUKS wants a header of version 2 to know where it is.
func isLUKS(v *view, sb int64, magic string) bool {
	b := v.at(sb, 512)
	return b != nil && string(b[:6]) == magic && (be.Uint16(b[6:]) != 2 || be.Uint64(b[256:]) == uint64(sb))
}

func checkUBI(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 64)
	return b != nil && ^crc32.ChecksumIEEE(b[:60]) == be.Uint32(b[60:])
}

func checkStratis(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && crc32.Checksum(b[4:], castagnoli) == le.Uint32(b)
}

// checkFileVault wants the one kind of header that is known of Apple's Core
// Storage.
func checkFileVault(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && le.Uint16(b[8:]) == 1 && le.Uint32(b[90:]) == 1 &&
		rawCRC(le.Uint32(b[4:]), castagnoli, b[8:]) == le.Uint32(b) &&
		le.Uint16(b[10:]) == 0x10 && le.Uint32(b[168:]) == 16 && le.Uint32(b[172:]) == 2
}
