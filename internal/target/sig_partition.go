package target

import (
	"hash/crc32"
	"math"
)

const (
	aixMagic = "\xc9\xc2\xd4\xc1"
	bsdMagic = "\x57\x45\x56\x82"
)

// The four entries of a PC's partition table, 16 bytes each, are at the end of
// the first sector.
const (
	dosTable   = 446
	dosType    = 4 // where in the entry
	dosLength  = 12
	gptProtect = 0xee // the type of the entry that covers a GPT
)

// checkDOS takes an empty table for one, too. A boot sector of a file system
// ends in the same magic number, and so does the cover of a GPT.
func checkDOS(v *view, _ int64, _ magic) bool {
	b := v.at(0, 512)
	if b == nil || string(b[:4]) == aixMagic {
		return false
	}
	empty := true
	for e := b[dosTable:510]; len(e) > 0; e = e[16:] {
		if e[0] != 0 && e[0] != 0x80 || e[dosType] == gptProtect {
			return false
		}
		empty = empty && le.Uint32(e[dosLength:]) == 0
	}
	if isFAT(v) || isExFAT(v) || isNTFS(v) {
		return false
	}
	return !empty || !isLVM2(v)
}

// isLVM2 reports whether the target is a physical volume, which may have the
// magic number of a partition table before it.
func isLVM2(v *view) bool {
	for i := range volumeFormats {
		if volumeFormats[i].name == "LVM2_member" {
			_, ok := volumeFormats[i].find(v)
			return ok
		}
	}
	return false
}

// hasProtective reports whether the first sector says that there is a GPT.
func hasProtective(v *view) bool {
	b := v.at(0, 512)
	if b == nil || string(b[510:]) != "\x55\xaa" {
		return false
	}
	for e := b[dosTable:510]; len(e) > 0; e = e[16:] {
		if e[dosType] == gptProtect {
			return true
		}
	}
	return false
}

// findGPT looks for the header behind the first sector or in the last one, for
// disks of either sector size: an image may go to another disk than it is on.
func findGPT(v *view) (int64, bool) {
	if !hasProtective(v) {
		return 0, false
	}
	for _, sector := range []int64{512, 4096} {
		if v.size < 2*sector {
			continue
		}
		last := v.size/sector - 1
		for _, lba := range []int64{1, last} {
			if isGPT(v, sector, lba, last) {
				return lba * sector, true
			}
		}
	}
	return 0, false
}

// gptEntries is the longest table that is read, of 128 bytes an entry.
const gptEntries = 16 * mib

// isGPT reports whether there is a header at sector lba that fits together, with
// the table it speaks of, on a disk with that last sector.
func isGPT(v *view, sector, lba, last int64) bool {
	b := v.at(lba*sector, sector)
	if b == nil || string(b[:8]) != "EFI PART" {
		return false
	}
	n := int64(le.Uint32(b[12:]))
	if n < 92 || n > sector || crc32.ChecksumIEEE(without(b[:n], 16, 4, 0)) != le.Uint32(b[16:]) {
		return false
	}
	first, end := le.Uint64(b[40:]), le.Uint64(b[48:])
	if le.Uint64(b[24:]) != uint64(lba) || end < first || first > uint64(last) || end > uint64(last) ||
		first < uint64(lba) && uint64(lba) < end {
		return false
	}
	table, length := le.Uint64(b[72:]), int64(le.Uint32(b[80:]))*128
	if le.Uint32(b[84:]) != 128 || length == 0 || length > gptEntries || table > math.MaxInt64/uint64(sector) {
		return false
	}
	entries := v.at(int64(table)*sector, length)
	return entries != nil && crc32.ChecksumIEEE(entries) == le.Uint32(b[88:])
}

// checkProtective is the cover of a GPT without the GPT.
func checkProtective(v *view, _ int64, _ magic) bool {
	if !hasProtective(v) {
		return false
	}
	_, ok := findGPT(v)
	return !ok
}

// checkSGI wants the words to sum up to 0.
func checkSGI(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	if b == nil {
		return false
	}
	var sum uint32
	for ; len(b) > 0; b = b[4:] {
		sum += be.Uint32(b)
	}
	return sum == 0
}

// checkSun wants the words to cancel out.
func checkSun(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && xorWords(b) == 0
}

// xorWords is the exclusive or of the 16-bit words of b.
func xorWords(b []byte) (x uint16) {
	for ; len(b) > 0; b = b[2:] {
		x ^= le.Uint16(b)
	}
	return x
}

// checkBSD has the same checksum as Sun, over the label with its 16 partitions.
func checkBSD(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 404)
	return b != nil && xorWords(b) == 0
}

// checkMac wants the first entry of the map behind the first block.
func checkMac(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	if b == nil {
		return false
	}
	block := int64(be.Uint16(b[2:]))
	if block < 136 {
		return false
	}
	return v.has(block, block) && (v.is(block, "PM") || v.is(block, "TS"))
}

func checkSolaris(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && le.Uint32(b[16:]) == 1
}

// findAtari has no magic number, only a length that fits on the disk and at
// least one partition that fits in the length.
func findAtari(v *view) (int64, bool) {
	b := v.at(0, 512)
	if b == nil || v.size/512 > math.MaxInt32 {
		return 0, false
	}
	length := be.Uint32(b[450:])
	if length < 2 || int64(length) > v.size/512 {
		return 0, false
	}
	if bad := b[502:510]; !zero(bad) && !fitsIn(bad, length) {
		return 0, false
	}
	for i := 454; i < 502; i += 12 {
		if p := b[i : i+12]; p[0]&1 != 0 && alnum(p[1]) && alnum(p[2]) && alnum(p[3]) && fitsIn(p[4:], length) {
			return int64(i), true
		}
	}
	return 0, false
}

// fitsIn reports whether b, a start and a length, is a range in [1, end].
func fitsIn(b []byte, end uint32) bool {
	start, n := be.Uint32(b), be.Uint32(b[4:])
	sum := start + n
	return start > 0 && start <= end && n > 0 && n <= end && sum >= start && sum <= end
}

// alnum reports whether c is a letter or digit, of Latin-1 too.
func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0xc0 && c != 0xd7 && c != 0xf7
}
