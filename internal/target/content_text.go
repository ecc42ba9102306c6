package target

import (
	"bytes"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// findText tells whether a file is plain text, by its first 64 KiB: UTF-8, or UTF-16
// with a byte order mark, or in large part ASCII with bytes of an older encoding in
// between. None of them has control characters but those of terminals and printers.
// Nothing but one byte, again and again, is what wiping tools leave.
func findText(v *view) (int64, bool) {
	b := v.at(0, min(v.size, chunkSize))
	if len(b) == 0 || len(b) > 1 && bytes.Count(b, b[:1]) == len(b) {
		return 0, false
	}
	if text, ok := fromUTF16(b); ok {
		return 0, len(text) > 0 && !bytes.ContainsFunc(text, isControl)
	}
	if bytes.ContainsFunc(b, isControl) {
		return 0, false
	}
	if int64(len(b)) < v.size {
		b = wholeRunes(b)
	}
	return 0, utf8.Valid(b) || 4*beyondASCII(b) <= len(b)
}

// isControl reports whether a character is in no text.
func isControl(r rune) bool {
	switch r {
	case '\a', '\b', '\t', '\n', '\v', '\f', '\r', '\x1b':
		return false
	}
	return r < ' ' || r == '\x7f'
}

// wholeRunes leaves out a last character that is cut short.
func wholeRunes(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		last := b[len(b)-n:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// beyondASCII counts bytes.
func beyondASCII(b []byte) (n int) {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// fromUTF16 returns a text with a byte order mark as UTF-8. It is empty if there are
// units in it that are in no text; ok is false if there is no mark.
func fromUTF16(b []byte) (text []byte, ok bool) {
	num := le.Uint16
	switch {
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		num = be.Uint16
	case !bytes.HasPrefix(b, []byte("\xff\xfe")):
		return nil, false
	}
	var units []uint16
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, num(b[i:]))
	}
	if n := len(units); n > 0 && len(b) == chunkSize && units[n-1]&0xfc00 == 0xd800 {
		units = units[:n-1] // the first half of a character
	}
	for _, r := range utf16.Decode(units) {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return nil, true
		}
		text = utf8.AppendRune(text, r)
	}
	return text, true
}
