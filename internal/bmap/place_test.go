package bmap

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
)

// A place in a hole is behind what is before it, or before what is behind it, whichever is nearer in the file; a gap is kept
// unless it is more than four times as long as the blocks.
func TestTarget(t *testing.T) {
	g := &geometry.Geometry{AGCount: 4, AGBlocks: 1000, AGBlockLog: 10}
	const home = 5
	at := func(agno geometry.AGNumber, agbno geometry.AGBlock) geometry.FSBlock { return g.FSBlock(agno, agbno) }
	ext := func(off uint64, start geometry.FSBlock, n geometry.Blocks) inode.Extent {
		return inode.Extent{Offset: off, Start: start, Blocks: n}
	}
	for _, c := range []struct {
		name      string
		list      []inode.Extent
		off       uint64
		n         geometry.Blocks
		want      geometry.FSBlock
		elsewhere bool // at home
	}{
		{name: "empty", off: 7, n: 1, want: home, elsewhere: true},
		{name: "end", list: []inode.Extent{ext(0, at(1, 100), 10)}, off: 10, n: 3, want: at(1, 110)},
		{name: "end, behind a gap", list: []inode.Extent{ext(0, at(1, 100), 10)}, off: 500, n: 3, want: at(1, 600)},
		{name: "end, the gap would leave the AG", list: []inode.Extent{ext(0, at(1, 100), 10)}, off: 900, n: 3, want: at(1, 110)},
		{name: "end of the AG", list: []inode.Extent{ext(0, at(1, 990), 10)}, off: 10, n: 3, want: home, elsewhere: true},
		{name: "before the first", list: []inode.Extent{ext(10, at(1, 100), 10)}, off: 8, n: 2, want: at(1, 98)},
		{name: "before the first, touching", list: []inode.Extent{ext(100, at(1, 100), 10)}, off: 8, n: 2, want: at(1, 98)},
		{name: "before the first, at the start of the AG", list: []inode.Extent{ext(100, at(1, 1), 10)}, off: 8, n: 2, want: at(1, 1)},
		{name: "hole, nearer the left", list: []inode.Extent{ext(0, at(1, 100), 10), ext(30, at(2, 200), 10)}, off: 12, n: 5,
			want: at(1, 112)},
		{name: "hole, nearer the right", list: []inode.Extent{ext(0, at(1, 100), 10), ext(30, at(2, 200), 10)}, off: 25, n: 5,
			want: at(2, 195)},
		{name: "hole, as near to both", list: []inode.Extent{ext(0, at(1, 100), 10), ext(30, at(2, 200), 10)}, off: 20, n: 10,
			want: at(1, 110+10)},
		{name: "hole, the gap is long", list: []inode.Extent{ext(0, at(1, 100), 10), ext(60, at(2, 200), 10)}, off: 20, n: 2,
			want: at(1, 110)},
		{name: "hole, the left one ends its AG", list: []inode.Extent{ext(0, at(1, 990), 10), ext(60, at(2, 200), 10)}, off: 10, n: 2,
			want: at(2, 198)},
	} {
		w := want{span: span{c.off, c.n}}
		f := inode.Fork{Extents: c.list}
		w.behind(c.list, f.Search(c.off))
		got, adjacent := w.target(g, home)
		if got != c.want || adjacent == c.elsewhere {
			t.Errorf("%s: %#x, adjacent %v; want %#x", c.name, got, adjacent, c.want)
		}
	}
}

// Blocks of a file with an extent size hint begin and end at multiples of it where the hole allows.
func TestFit(t *testing.T) {
	free := hole{}
	between := func(low, high uint64) hole { return hole{low: low, high: high, bounded: true} }
	for _, c := range []struct {
		name string
		hole hole
		span span
		want span
	}{
		{"aligned", free, span{32, 16}, span{32, 16}},
		{"grows both ways", free, span{35, 10}, span{32, 16}},
		{"grows over a border", free, span{30, 4}, span{16, 32}},
		{"not over what is before", hole{low: 34}, span{35, 10}, span{34, 16}},
		{"not over what is behind", between(0, 40), span{35, 4}, span{24, 16}},
		{"not over either", between(34, 40), span{35, 4}, span{34, 6}},
		{"at the start of the file", between(0, 8), span{3, 2}, span{0, 8}},
		{"no longer than an extent", free, span{0, maxLength}, span{0, maxLength &^ 15}},
	} {
		if got := c.hole.fit(c.span, 16); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
