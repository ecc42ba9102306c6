package inode

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Search finds what a look at each extent finds.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Fork
		end := uint64(0)
		for range rapid.IntRange(0, 20).Draw(t, "extents") {
			e := Extent{
				Offset: end + uint64(rapid.IntRange(0, 3).Draw(t, "hole")),
				Blocks: geometry.Blocks(rapid.IntRange(1, 4).Draw(t, "blocks")),
			}
			f.Insert(len(f.Extents), e)
			end = e.End()
		}
		for off := range end + 3 {
			want := slices.IndexFunc(f.Extents, func(e Extent) bool { return e.End() > off })
			if want < 0 {
				want = len(f.Extents)
			}
			if got := f.Search(off); got != want {
				t.Fatalf("Search(%d) = %d, want %d", off, got, want)
			}
			i, has := f.Lookup(off)
			if is := want < len(f.Extents) && f.Extents[want].Offset <= off; i != want || has != is {
				t.Fatalf("Lookup(%d) = %d, %v, want %d, %v", off, i, has, want, is)
			}
		}
	})
}

// An extent is read as it was written.
func TestExtentRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Extent{
			Offset: rapid.Uint64Range(0, MaxOffset).Draw(t, "offset"),
			Start:  geometry.FSBlock(rapid.Uint64Range(0, 1<<52-1).Draw(t, "start")),
			Blocks: geometry.Blocks(rapid.Uint64Range(1, MaxExtent).Draw(t, "blocks")),

			Unwritten: rapid.Bool().Draw(t, "unwritten"),
		}
		var b [ondisk.FileExtentSize]byte
		e.Put(b[:])
		if got := DecodeExtent(b[:]); got != e {
			t.Fatalf("%+v, want %+v", got, e)
		}
	})
}

// BenchmarkExtents is what it takes to find, enter and remove an extent of a million.
func BenchmarkExtents(b *testing.B) {
	const n = 1 << 20
	var f Fork
	for i := range n {
		f.Insert(i, Extent{Offset: 2 * uint64(i), Blocks: 1})
	}
	for _, at := range []struct {
		name  string
		index int
	}{{"end", n}, {"middle", n / 2}} {
		b.Run(at.name, func(b *testing.B) {
			for range b.N {
				i := f.Search(2 * uint64(at.index))
				f.Insert(i, Extent{Offset: 2*uint64(i) - 1, Blocks: 1})
				f.Remove(i, 1)
			}
		})
	}
	b.Run("search", func(b *testing.B) {
		for i := range b.N {
			if off := uint64(i) * 7919 % (2 * n); f.Search(off) > n {
				b.Fatal(fmt.Sprint(off))
			}
		}
	})
}
