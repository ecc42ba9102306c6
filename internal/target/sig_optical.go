package target

// Optical discs, whose formats are found on other media too: they start with a
// list of descriptors behind the first 32 KiB.

const volumeStart = 32 * kib

// checkISO wants a primary descriptor, and the root directory where it says,
// beginning with the entry for itself.
func checkISO(v *view, _ int64, m magic) bool {
	skip, rootAt := int64(0), 156
	if m.bytes == "CDROM" { // High Sierra, the format before the standard
		skip, rootAt = 8, 172
	}
	for i := int64(0); i < 16; i++ {
		b := v.at(volumeStart+i*2048+skip, 883)
		if b == nil || b[0] == 0xff {
			return false
		}
		if b[0] == 1 {
			return isRoot(v, int64(le.Uint16(b[128:])), le.Uint32(b[rootAt+2:]), le.Uint32(b[rootAt+10:]))
		}
	}
	return false
}

// isRoot reports whether there are length bytes of a root directory at block n.
func isRoot(v *view, block int64, n, length uint32) bool {
	if block == 0 || length < 34 {
		return false
	}
	b := v.at(int64(n)*block, min(int64(length), 2048))
	return b != nil && b[0] >= 34 && b[32] == 1 && b[33] == 0 && le.Uint32(b[2:]) == n
}

// checkUDF wants an anchor at block 256 or 512, for some size of the blocks, and
// among the descriptors it leads to the one that says UDF.
func checkUDF(v *view, _ int64, _ magic) bool {
	for _, block := range []int64{512, 1024, 2048, 4096} {
		if !hasNSR(v, max(block, 2048)) {
			continue
		}
		for _, n := range []int64{256, 512} {
			b := v.at(n*block, 512)
			if b == nil {
				return false
			}
			if le.Uint16(b) == 2 && le.Uint32(b[12:]) == uint32(n) {
				return isUDF(v, block, le.Uint32(b[16:]), le.Uint32(b[20:]))
			}
		}
	}
	return false
}

// hasNSR reports whether the list at the start, with a descriptor every step
// bytes, has one that stands for UDF, before anything unknown.
func hasNSR(v *view, step int64) bool {
	for i := int64(0); i < 64; i++ {
		b := v.at(volumeStart+i*step, 7)
		if b == nil {
			return false
		}
		switch string(b[1:6]) {
		case "NSR02", "NSR03":
			return true
		case "BEA01", "BOOT2", "CD001", "CDW02", "TEA01":
		default:
			return false
		}
	}
	return false
}

// isUDF goes through the length bytes of descriptors at block first.
func isUDF(v *view, block int64, length, first uint32) bool {
	for i := range min(int64(length)/block, 64) {
		at := int64(first) + i
		b := v.at(at*block, 512)
		if b == nil {
			return false
		}
		kind := le.Uint16(b)
		if kind == 0 || kind == 8 || le.Uint32(b[12:]) != uint32(at) {
			return false
		}
		if kind == 6 && string(b[217:237]) == "*OSTA UDF Compliant\x00" {
			return true
		}
	}
	return false
}
