package target

import "hash/crc32"

// The RAID of mainboards and cheap controllers has its metadata in one of the
// last sectors, so that the system can start from a member as from a disk.

// fromEnd returns the offset of the n-th last sector.
func (v *view) fromEnd(n int64) int64 { return (v.size/512 - n) * 512 }

// findDDF is the common format of several makers; it has a checksum and knows
// where the first copy is.
func findDDF(v *view) (int64, bool) {
	for _, n := range []int64{1, 257} {
		sb := v.fromEnd(n)
		b := v.at(sb, 512)
		if b == nil || be.Uint32(b) != 0xde11de11 ||
			rawCRC(0, crc32.IEEETable, without(b, 4, 4, 0xff)) != be.Uint32(b[4:]) {
			continue
		}
		first := be.Uint64(b[96:])
		return sb, first == 0 || first < 1<<54 && v.is(int64(first)<<9, string(b[:4]))
	}
	return 0, false
}

// findISW is Intel's, for disks of either sector size.
func findISW(v *view) (int64, bool) {
	for _, sector := range []int64{512, 4096} {
		if sb := (v.size/sector - 2) * sector; v.is(sb, "Intel Raid ISM Cfg Sig. ") {
			return sb, true
		}
	}
	return 0, false
}

func findLSI(v *view) (int64, bool) {
	sb := v.fromEnd(1)
	return sb, v.is(sb, "$XIDE$")
}

func findVIA(v *view) (int64, bool) {
	sb := v.fromEnd(1)
	b := v.at(sb, 51)
	if b == nil || le.Uint16(b) != 0xaa55 || b[2] > 2 {
		return 0, false
	}
	var sum byte
	for _, c := range b[:50] {
		sum += c
	}
	return sb, sum == b[50]
}

func findSilicon(v *view) (int64, bool) {
	sb := v.fromEnd(1)
	b := v.at(sb, 512)
	if b == nil || le.Uint32(b[0x60:]) != 0x2f000000 || b[0x116] >= 8 {
		return 0, false
	}
	var sum uint16
	for i := 0; i < 0x13e; i += 2 {
		sum += le.Uint16(b[i:])
	}
	return sb + 0x60, -sum == le.Uint16(b[0x13e:])
}

func findNVIDIA(v *view) (int64, bool) {
	sb := v.fromEnd(2)
	b := v.at(sb, 120)
	if b == nil || string(b[:8]) != "NVIDIA  " || le.Uint32(b[8:]) != 30 {
		return 0, false
	}
	// The words sum up to 0 when the checksum is one of them.
	var sum uint32
	for i := 0; i < 120; i += 4 {
		sum += le.Uint32(b[i:])
	}
	return sb, sum == 0
}

func findPromise(v *view) (int64, bool) {
	for _, n := range []int64{63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087} {
		if sb := v.fromEnd(n); v.is(sb, "Promise Technology, Inc.") {
			return sb, true
		}
	}
	return 0, false
}

func findHighpoint45x(v *view) (int64, bool) {
	sb := v.fromEnd(11)
	return sb, v.is(sb, "\xf3\x16\x78\x5a") || v.is(sb, "\xfd\x16\x78\x5a")
}

func findAdaptec(v *view) (int64, bool) {
	sb := v.fromEnd(1)
	b := v.at(sb, 512)
	return sb, b != nil && be.Uint32(b) == 0x37fc4d1e && string(b[0x100:0x104]) == "DPTM"
}

// findJMicron wants a RAID level that there is, and a checksum over 128 bytes. The
// level is behind 12 bytes about the segment, of which the last two are padding.
func findJMicron(v *view) (int64, bool) {
	sb := v.fromEnd(1)
	b := v.at(sb, 128)
	if b == nil || string(b[:2]) != "JM" || b[48] > 5 {
		return 0, false
	}
	var sum uint16
	for i := 0; i < len(b); i += 2 {
		sum += le.Uint16(b[i:])
	}
	return sb, sum <= 1
}
