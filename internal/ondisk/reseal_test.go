package ondisk

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// A resealed copy has the checksum that sealing it whole gives.
func TestResealer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(64, 5000).Draw(t, "size")
		field := rapid.IntRange(1, size-4).Draw(t, "field")
		head := rapid.IntRange(0, min(field, 60)).Draw(t, "head")
		original := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "original")
		Seal(original, field)
		r := NewResealer(original, field, head)

		patched := bytes.Clone(original)
		copy(patched, rapid.SliceOfN(rapid.Byte(), head, head).Draw(t, "head bytes"))
		r.Seal(patched)
		if !Sealed(patched, field) {
			t.Fatalf("size %d, checksum at %d, head %d: wrong checksum", size, field, head)
		}
	})
}
