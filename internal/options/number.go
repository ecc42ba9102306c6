package options

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"mkfs/internal/geometry"
)

// parseInt reads an integer as C programs do: blanks, a sign, then
// hexadecimal after 0x, binary after 0b, octal after 0, else decimal. It returns what follows
// the digits. Numbers beyond 64 bits become the nearest there is; ok is false
// where there are no digits.
func parseInt(s string) (v int64, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative, s = s[0] == '-', s[1:]
	}
	base := uint64(10)
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && digit(s[2]) < 16:
		base, s = 16, s[2:]
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'b' && digit(s[2]) < 2:
		base, s = 2, s[2:]
	case s != "" && s[0] == '0':
		base = 8
	}
	var n uint64
	i := 0
	for ; i < len(s) && uint64(digit(s[i])) < base; i++ {
		hi, lo := bits.Mul64(n, base)
		sum, carry := bits.Add64(lo, uint64(digit(s[i])), 0)
		if hi != 0 || carry != 0 {
			sum = math.MaxUint64
		}
		n = sum
	}
	if i == 0 {
		return 0, s, false
	}
	switch {
	case negative && n > 1<<63:
		v = math.MinInt64
	case negative:
		v = -int64(n)
	case n > math.MaxInt64:
		v = math.MaxInt64
	default:
		v = int64(n)
	}
	return v, s[i:], true
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// suffixes are the units of sizes as shifts.
const suffixes = "kmgtpe"

// parseSize reads a number with at most one suffix: s for sectors, b for
// filesystem blocks, or a power of 1024. reason tells what is wrong.
func parseSize(text string) (size geometry.Size, reason string) {
	v, rest, ok := parseInt(text)
	size = geometry.Size{Count: v, Text: text}
	if !ok {
		return size, "is no number"
	}
	if rest == "" {
		return size, ""
	}
	if len(rest) > 1 {
		return size, "has more than a suffix of one letter: s, b, k, m, g, t, p or e"
	}
	switch c := rest[0] | 0x20; c {
	case 's':
		size.Unit = geometry.UnitSectors
	case 'b':
		size.Unit = geometry.UnitBlocks
	default:
		i := strings.IndexByte(suffixes, c)
		if i < 0 {
			return size, "has a suffix that is none of s, b, k, m, g, t, p and e"
		}
		shift := 10 * (i + 1)
		if v > math.MaxInt64>>shift || v < math.MinInt64>>shift {
			return size, "is not less than 8 EiB"
		}
		size.Count = v << shift
	}
	return size, ""
}

// ParseBytes reads a size in bytes, as parseSize does, without sectors and blocks.
func ParseBytes(text string) (int64, error) {
	size, reason := parseSize(text)
	switch {
	case reason != "":
		return 0, fmt.Errorf("%q %s", text, reason)
	case size.Unit != geometry.UnitBytes:
		return 0, fmt.Errorf("%q is in sectors or blocks; only bytes, k, m, g, t, p and e make sense here", text)
	case size.Count < 0:
		return 0, fmt.Errorf("%q is negative", text)
	}
	return size.Count, nil
}
