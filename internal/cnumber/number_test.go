package cnumber

import (
	"math"
	"testing"
)

func TestInt(t *testing.T) {
	for _, c := range []struct {
		text string
		v    int64
		rest string
		ok   bool
	}{
		{"0", 0, "", true},
		{"7", 7, "", true},
		{"+7", 7, "", true},
		{"-7", -7, "", true},
		{" \t\n\v\f\r7", 7, "", true},
		{"7 ", 7, " ", true},
		{"007", 7, "", true},
		{"017", 15, "", true},
		{"08", 0, "8", true},
		{"0x1f", 31, "", true},
		{"0X1F", 31, "", true},
		{"-0x1f", -31, "", true},
		{"0x", 0, "x", true},
		{"0xg", 0, "xg", true},
		{"12ab", 12, "ab", true},
		{"9223372036854775807", math.MaxInt64, "", true},
		{"9223372036854775808", math.MaxInt64, "", true},
		{"18446744073709551616", math.MaxInt64, "", true},
		{"99999999999999999999999k", math.MaxInt64, "k", true},
		{"-9223372036854775808", math.MinInt64, "", true},
		{"-9223372036854775809", math.MinInt64, "", true},
		{"-99999999999999999999999", math.MinInt64, "", true},
		{"0x7fffffffffffffff", math.MaxInt64, "", true},
		{"0xfffffffffffffffff", math.MaxInt64, "", true},
		{"", 0, "", false},
		{"-", 0, "", false},
		{"+-1", 0, "", false},
		{"x1", 0, "", false},
		{"k", 0, "", false},
		{"\xff1", 0, "", false},
		{"１", 0, "", false}, // digits of other scripts are none
	} {
		v, rest, ok := Int(c.text)
		if v != c.v || ok != c.ok || ok && rest != c.rest {
			t.Errorf("Int(%q) = %d, %q, %v; want %d, %q, %v", c.text, v, rest, ok, c.v, c.rest, c.ok)
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		text   string
		v      int64
		unit   Unit
		reason string
	}{
		{"10", 10, Bytes, ""},
		{"10k", 10240, Bytes, ""},
		{"0x10K", 16384, Bytes, ""},
		{"-1m", -1 << 20, Bytes, ""},
		{"3s", 3, Sectors, ""},
		{"2B", 2, Blocks, ""},
		{"7e", 7 << 60, Bytes, ""},
		{"8e", 8, Bytes, "is not less than 8 EiB"},
		{"", 0, Bytes, "is no number"},
		{"k", 0, Bytes, "is no number"},
		{"1kb", 1, Bytes, "has more than a suffix of one letter: s, b, k, m, g, t, p or e"},
		{"1z", 1, Bytes, "has a suffix that is none of s, b, k, m, g, t, p and e"},
	} {
		if v, unit, reason := Size(c.text); v != c.v || unit != c.unit || reason != c.reason {
			t.Errorf("%q: %d, %d, %q; want %d, %d, %q", c.text, v, unit, reason, c.v, c.unit, c.reason)
		}
	}
}
