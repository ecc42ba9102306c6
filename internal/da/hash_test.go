package da

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHash(t *testing.T) {
	for name, want := range map[string]uint32{
		"": 0, ".": 0x2e, "..": 0x172e, "rtgroups": 0x2d18ab4c, "0.rmap": 0xee5b7172,
	} {
		if got := Hash(name); got != want {
			t.Errorf("%q: %#x, want %#x", name, got, want)
		}
		if got := Hash([]byte(name)); got != want {
			t.Errorf("bytes of %q: %#x, want %#x", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		// Each byte goes 7 bits to the left for each that follows.
		name := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "name")
		want := uint32(0)
		for i, c := range name {
			n := 7 * (len(name) - 1 - i) % 32
			want ^= uint32(c)<<n | uint32(uint64(c)<<n>>32)
		}
		if got := Hash(name); got != want {
			t.Fatalf("%q: %#x, want %#x", name, got, want)
		}
	})
}

// Of Latin-1 exactly the letters have small ones.
func TestFold(t *testing.T) {
	for c := range 256 {
		want := byte(c)
		if r := []rune(strings.ToLower(string(rune(c)))); len(r) == 1 && r[0] < 256 {
			want = byte(r[0])
		}
		if got := Fold(byte(c)); got != want {
			t.Errorf("%#x: %#x, want %#x", c, got, want)
		}
	}
	if HashFolded("Ab\xc4\xd7") != Hash("ab\xe4\xd7") || HashFolded("Ab") == Hash("Ab") {
		t.Error("names that differ in case have two hashes")
	}
}
