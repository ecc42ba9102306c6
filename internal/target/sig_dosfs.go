package target

// File systems that start with a boot sector for the PC.

// fatMagics are the marks of FAT, the weakest last.
var fatMagics = []magic{
	{0, 0x52, "MSWIN"}, {0, 0x52, "FAT32   "},
	{0, 0x36, "MSDOS"}, {0, 0x36, "FAT16   "}, {0, 0x36, "FAT12   "}, {0, 0x36, "FAT     "},
	{0, 0, "\xeb"}, {0, 0, "\xe9"}, {0, 0x1fe, "\x55\xaa"},
}

func checkFAT(v *view, _ int64, m magic) bool { return fatNumbersFit(v, m) && fatInfoFits(v) }

// fatNumbersFit wants the numbers in the boot sector to describe a FAT file
// system. Where the magic number is short the end of the sector must be right
// as well.
func fatNumbersFit(v *view, m magic) bool {
	b := v.at(0, 512)
	if b == nil {
		return false
	}
	if len(m.bytes) <= 2 {
		kind := string(b[0x36:0x3e])
		if string(b[510:]) != "\x55\xaa" || kind == "JFS     " || kind == "HPFS    " {
			return false
		}
	}
	sector, cluster, reserved, fats := uint32(le.Uint16(b[11:])), uint32(b[13]), uint32(le.Uint16(b[14:])), uint32(b[16])
	media := b[21]
	if fats == 0 || reserved == 0 || media < 0xf8 && media != 0xf0 || !powerOfTwo(cluster) ||
		!powerOfTwo(sector) || sector < 512 || sector > 4096 {
		return false
	}
	total := uint32(le.Uint16(b[19:]))
	if total == 0 {
		total = le.Uint32(b[32:])
	}
	short := uint32(le.Uint16(b[22:]))
	length := short
	if length == 0 {
		length = le.Uint32(b[36:])
	}
	root := (uint32(le.Uint16(b[17:]))*32 + sector - 1) / sector
	clusters := (total - (reserved + length*fats + root)) / cluster
	limit := uint32(0xff4) // FAT12
	switch {
	case short == 0 && length != 0:
		limit = 0x0ffffff6
	case clusters > limit:
		limit = 0xfff4
	}
	if clusters > limit {
		return false
	}
	_, locked := findBitLocker(v)
	return !locked
}

// fatInfoFits looks at the sector of a FAT32 that counts free clusters, if it
// has one: it is marked at both ends, or empty.
func fatInfoFits(v *view) bool {
	b := v.at(0, 512)
	sector, n := int64(le.Uint16(b[11:])), int64(le.Uint16(b[48:]))
	if le.Uint16(b[22:]) != 0 || le.Uint32(b[36:]) == 0 || n == 0 {
		return true // FAT12 and FAT16 have none
	}
	b = v.at(n*sector, 512)
	if b == nil {
		return false
	}
	first, second := string(b[:4]), string(b[484:488])
	return (first == "RRaA" || first == "RRdA" || first == "\x00\x00\x00\x00") &&
		(second == "rrAa" || second == "\x00\x00\x00\x00")
}

// isFAT reports whether the boot sector is that of a FAT file system.
func isFAT(v *view) bool {
	for _, m := range fatMagics {
		if v.is(m.skip, m.bytes) {
			return fatNumbersFit(v, m)
		}
	}
	return false
}

// checkNTFS wants two records of the file table where the boot sector says.
func checkNTFS(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 84)
	if b == nil {
		return false
	}
	sector, perCluster := int64(le.Uint16(b[11:])), int64(b[13])
	switch n := b[13]; {
	case powerOfTwo(n):
	case n >= 240 && n <= 249:
		perCluster = 1 << (256 - int64(n))
	default:
		return false
	}
	if sector < 256 || sector > 4096 || !powerOfTwo(uint16(sector)) || sector*perCluster > 2*mib {
		return false
	}
	// What a FAT would have there is 0.
	if !zero(b[14:21]) || !zero(b[22:24]) || !zero(b[32:36]) {
		return false
	}
	var record int64
	switch n := b[64]; {
	case powerOfTwo(n) && n <= 64:
		record = int64(n) * sector * perCluster
	case n >= 0xe2 && n <= 0xf7:
		record = 1 << (256 - int64(n))
	default:
		return false
	}
	cluster := sector * perCluster
	clusters := le.Uint64(b[40:]) / uint64(perCluster)
	table, mirror := le.Uint64(b[48:]), le.Uint64(b[56:])
	if table > clusters || mirror > clusters || table > uint64(v.size/cluster) {
		return false
	}
	off := int64(table) * cluster
	for _, off := range []int64{off, off + 3*record} {
		if !v.has(off, record) || !v.is(off, "FILE") {
			return false
		}
	}
	return true
}

func isNTFS(v *view) bool { return v.is(3, "NTFS    ") && checkNTFS(v, 0, magic{}) }

// checkExFAT wants the fields of the boot sector in their ranges, and the
// checksum of all boot sectors, which the twelfth repeats from end to end.
func checkExFAT(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	if b == nil || string(b[510:]) != "\x55\xaa" || string(b[:11]) != "\xeb\x76\x90EXFAT   " || !zero(b[11:64]) {
		return false
	}
	fat, fatLength, heap := le.Uint32(b[80:]), le.Uint32(b[84:]), le.Uint32(b[88:])
	clusters, root := le.Uint32(b[92:]), le.Uint32(b[96:])
	sectorLog, clusterLog, fats := b[108], b[109], uint32(b[110])
	if sectorLog < 9 || sectorLog > 12 || clusterLog > 25-sectorLog || fats < 1 || fats > 2 {
		return false
	}
	all := fatLength * fats
	if fat < 24 || fat > heap-all || heap < fat+all || heap > 1<<31 || root < 2 || root > clusters+1 {
		return false
	}
	b = v.at(sb, 12<<sectorLog)
	if b == nil {
		return false
	}
	end := 11 << sectorLog
	var sum uint32
	for i, c := range b[:end] {
		if i != 106 && i != 107 && i != 112 { // they change all the time
			sum = sum<<31 | sum>>1
			sum += uint32(c)
		}
	}
	for b = b[end:]; len(b) > 0; b = b[4:] {
		if le.Uint32(b) != sum {
			return false
		}
	}
	return true
}

// isExFAT reports whether there is an exFAT file system.
func isExFAT(v *view) bool { return v.is(3, "EXFAT   ") && checkExFAT(v, 0, magic{}) }

// findBitLocker is an encrypted NTFS or FAT. Since Windows 7 the boot sector says
// where the metadata is.
func findBitLocker(v *view) (int64, bool) {
	b := v.at(0, 512)
	if b == nil {
		return 0, false
	}
	var meta uint64
	switch string(b[:11]) {
	case "\xeb\x52\x90-FVE-FS-":
		return 0, true
	case "\xeb\x58\x90-FVE-FS-":
		meta = le.Uint64(b[176:])
	case "\xeb\x58\x90MSWIN4.1":
		meta = le.Uint64(b[440:])
	default:
		return 0, false
	}
	return 0, meta != 0 && meta%64 == 0 && meta < 1<<63 && v.has(int64(meta), 112) && v.is(int64(meta), "-FVE-FS-")
}
