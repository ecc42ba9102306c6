package target

import (
	"bytes"
	"strconv"
	"strings"
)

// checkGzip wants the reserved flags to be clear (RFC 1952, 2.3.1).
func checkGzip(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 10)
	return b != nil && b[3]&0xe0 == 0
}

// checkBzip2 wants a size of blocks, and then the start of a block or the end.
func checkBzip2(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 10)
	if b == nil || b[3] < '1' || b[3] > '9' {
		return false
	}
	next := string(b[4:])
	return next == "\x31\x41\x59\x26\x53\x59" || next == "\x17\x72\x45\x38\x50\x90"
}

// checkCompress wants codes of 9 to 16 bits.
func checkCompress(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4)
	return b != nil && b[2]&0x60 == 0 && b[2]&0x1f >= 9 && b[2]&0x1f <= 16
}

// findTar wants the checksum of the first header, which old archives have as well
// that have no magic number: the sum of its 512 bytes, in octal, with the field
// itself taken as spaces (POSIX.1, pax, ustar Interchange Format).
func findTar(v *view) (int64, bool) {
	const field, width = 148, 8
	b := v.at(0, 512)
	if b == nil || b[0] == 0 {
		return 0, false
	}
	want, err := strconv.ParseUint(strings.Trim(string(b[field:field+width]), " \x00"), 8, 32)
	sum := uint64(0)
	for _, c := range without(b, field, width, ' ') {
		sum += uint64(c)
	}
	return 0, err == nil && sum == want
}

// findCpio knows the formats with numbers as text, by those, and the one with numbers
// of 16 bits, in either byte order, by the end of the first name (cpio(5)).
func findCpio(v *view) (int64, bool) {
	switch {
	case v.is(0, "070701"), v.is(0, "070702"):
		return 0, digits(v.at(6, 104), "0123456789abcdefABCDEF")
	case v.is(0, "070707"):
		return 0, digits(v.at(6, 70), "01234567")
	}
	b := v.at(0, 26)
	if b == nil {
		return 0, false
	}
	num := le.Uint16
	if be.Uint16(b) == 0o70707 {
		num = be.Uint16
	}
	n := num(b[20:])
	if num(b) != 0o70707 || n < 2 || n > 4096 {
		return 0, false
	}
	return 0, bytes.IndexByte(v.at(26, int64(n)), 0) == int(n)-1
}

// digits reports whether a field is there and has no other characters.
func digits(field []byte, known string) bool {
	return len(field) > 0 && len(bytes.Trim(field, known)) == 0
}

// checkELF wants a class, a byte order and a version that there are.
func checkELF(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 16)
	return b != nil && (b[4] == 1 || b[4] == 2) && (b[5] == 1 || b[5] == 2) && b[6] == 1
}

// checkPE follows the old header to the new one: of Windows, its 16-bit forebears,
// or OS/2.
func checkPE(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 64)
	if b == nil {
		return false
	}
	at := int64(le.Uint32(b[60:]))
	if at > chunkSize {
		return false
	}
	next := string(v.at(at, 2))
	return v.is(at, "PE\x00\x00") || next == "NE" || next == "LE" || next == "LX"
}

// checkScript wants the path of an interpreter in the first line, of which the kernel
// reads 256 bytes. What follows may be binary, as in archives that unpack themselves.
func checkScript(v *view, sb int64, _ magic) bool {
	line, _, ok := bytes.Cut(v.at(sb, min(256, v.size)), []byte("\n"))
	path := bytes.TrimLeft(line[2:], " \t")
	return (ok || v.size <= 256) && bytes.HasPrefix(path, []byte("/")) && !bytes.ContainsFunc(line, isControl)
}

// checkPcapng wants the number that tells the byte order.
func checkPcapng(v *view, sb int64, _ magic) bool {
	return v.is(sb+8, "\x1a\x2b\x3c\x4d") || v.is(sb+8, "\x4d\x3c\x2b\x1a")
}

// checkJPEG wants a marker that can follow the start of the image.
func checkJPEG(v *view, sb int64, _ magic) bool {
	b := v.at(sb, 4)
	return b != nil && (b[3] >= 0xe0 && b[3] <= 0xef || strings.IndexByte("\xc0\xc1\xc2\xc4\xdb\xdd\xfe", b[3]) >= 0)
}

// checkRIFF wants a kind of content of four letters.
func checkRIFF(v *view, sb int64, _ magic) bool {
	kind := v.at(sb+8, 4)
	return kind != nil && !bytes.ContainsFunc(kind, func(r rune) bool { return r < ' ' || r > '~' })
}
