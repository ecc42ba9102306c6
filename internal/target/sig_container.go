package target

// checkQCOW wants a version that there is.
func checkQCOW(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 48)
	return b != nil && be.Uint32(b[4:]) >= 1 && be.Uint32(b[4:]) <= 3
}

// checkVMDK wants a version that there is, of the two formats with a header.
func checkVMDK(v *view, sb int64, m magic) bool {
	if m.bytes[0] == '#' {
		return true
	}
	b := v.at(sb, 512)
	return b != nil && le.Uint32(b[4:]) >= 1 && le.Uint32(b[4:]) <= 3
}

// checkVHD wants the checksum of the footer, the inverted sum of its bytes. A
// dynamic disk has a copy of the footer at the start.
func checkVHD(v *view, sb int64, _ magic) bool {
	n := min(512, v.size-sb) // old ones were one byte shorter
	b := v.at(sb, n)
	if b == nil {
		return false
	}
	var sum uint32
	for _, c := range without(b, 64, 4, 0) {
		sum += uint32(c)
	}
	return ^sum == be.Uint32(b[64:])
}

// checkVDI wants the text that stands before the magic number, and a version.
func checkVDI(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 512)
	return b != nil && string(b[:3]) == "<<<" && le.Uint32(b[0x44:])>>16 <= 1
}
