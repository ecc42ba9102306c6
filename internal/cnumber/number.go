// Package cnumber reads numbers as the C programs do that XFS comes with: strtoll with any base, and
// cvtnum in libfrog/convert.c for sizes. Options and prototype files have them.
package cnumber

import (
	"math"
	"math/bits"
	"strings"
)

// Int reads an integer as C programs do: blanks, a sign, then
// hexadecimal after 0x, binary after 0b, octal after 0, else decimal. It returns what follows
// the digits. Numbers beyond 64 bits become the nearest there is; ok is false
// where there are no digits.
func Int(s string) (v int64, rest string, ok bool) {
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

// Unit is what a size is counted in.
type Unit byte

// Units of sizes. How long a sector or a block is, the reader of the number knows.
const (
	Bytes Unit = iota
	Sectors
	Blocks
)

// Size reads a number with at most one suffix: s for sectors, b for filesystem blocks, or a power
// of 1024. reason tells what is wrong, in the form of `"x" is no number`, without the text.
func Size(text string) (count int64, unit Unit, reason string) {
	count, rest, ok := Int(text)
	switch {
	case !ok:
		return count, Bytes, "is no number"
	case rest == "":
		return count, Bytes, ""
	case len(rest) > 1:
		return count, Bytes, "has more than a suffix of one letter: s, b, k, m, g, t, p or e"
	}
	switch c := rest[0] | 0x20; c {
	case 's':
		return count, Sectors, ""
	case 'b':
		return count, Blocks, ""
	default:
		i := strings.IndexByte(suffixes, c)
		if i < 0 {
			return count, Bytes, "has a suffix that is none of s, b, k, m, g, t, p and e"
		}
		shift := 10 * (i + 1)
		if count > math.MaxInt64>>shift || count < math.MinInt64>>shift {
			return count, Bytes, "is not less than 8 EiB"
		}
		return count << shift, Bytes, ""
	}
}
