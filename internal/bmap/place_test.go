package bmap

import (
	"testing"

	"mkfs/internal/alloc"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// A place in a hole is behind what is before it, or before what is behind it, whichever is nearer in the file; a gap
// is kept
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
	if got := free.fit(span{0, maxLength}, 7); got.n != maxLength { // which is a multiple of 7
		t.Errorf("the longest extent became one of %d blocks", got.n)
	}
}

// A fork with a btree leaves a block for each of its levels, one with extents a block for a first one, and none has
// to once
// the transaction has taken blocks.
func TestMinLeft(t *testing.T) {
	fs, ip := newFile(t, 1<<30, nil)
	tr := fs.Begin(100)
	o := on(tr, ip, Data)
	defer o.end()
	if n := o.minLeft(); n != 1 {
		t.Errorf("extents: %d blocks, want 1", n)
	}
	for i := range uint64(100) {
		if got, err := Write(tr, ip, Data, 2*i, 1, 0, 0); err != nil || len(got) == 0 {
			t.Fatal(got, err)
		}
	}
	if n := o.minLeft(); n != 0 {
		t.Errorf("a transaction that has blocks: %d blocks, want 0", n)
	}
	if err := tr.Roll(); err != nil {
		t.Fatal(err)
	}
	if n := o.minLeft(); ip.Data.Root.Level() != 1 || n != 2 {
		t.Errorf("btree of level %d: %d blocks, want 2", ip.Data.Root.Level(), n)
	}
}

// Blocks come from an AG that has all that the operation may take, if there is one; else from where there are any,
// and the
// transaction knows then that space is low.
func TestTotal(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave []geometry.Blocks // in each AG
		total geometry.Blocks
		want  geometry.AGNumber
		low   bool
	}{
		{"enough near the inode", []geometry.Blocks{500, 5000, 500, 500}, 300, 0, false},
		{"enough elsewhere", []geometry.Blocks{500, 500, 5000, 500}, 3000, 2, false},
		{"enough nowhere", []geometry.Blocks{500, 500, 500, 500}, 3000, 0, true},
	} {
		fs, ip := newFile(t, 1<<30, nil)
		for agno, leave := range c.leave {
			useUp(t, fs, geometry.AGNumber(agno), leave)
		}
		tr := fs.Begin(100)
		got, err := Write(tr, ip, Data, 0, 1, 0, c.total)
		if err != nil || len(got) != 1 {
			t.Fatal(c.name, got, err)
		}
		if agno, _ := fs.G.BlockAddress(got[0].Start); agno != c.want || tr.LowSpace != c.low {
			t.Errorf("%s: AG %d, low space %v; want AG %d, %v", c.name, agno, tr.LowSpace, c.want, c.low)
		}
	}
}

// useUp uses an AG up but for so many blocks.
func useUp(t *testing.T, fs *live.FS, agno geometry.AGNumber, leave geometry.Blocks) {
	t.Helper()
	tr := fs.Begin(0)
	longest, err := alloc.Longest(tr, agno, alloc.ReserveNone)
	if err != nil {
		t.Fatal(err)
	}
	n := longest - leave
	if _, _, ok, err := alloc.ThisAG(tr, agno, alloc.Request{Min: n, Max: n}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// Where not all can be had, and blocks are smaller than pages, what is taken ends at a page.
func TestPages(t *testing.T) {
	fs, ip := newFile(t, 1<<30, func(s *geometry.Spec) { s.BlockSize = geometry.Given(int64(1024)) })
	for agno := range fs.G.AGCount {
		useUp(t, fs, agno, 502)
	}
	tr := fs.Begin(2000)
	got, err := Write(tr, ip, Data, 1, 1000, 0, 3000)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if got[0].End()%4 != 0 || got[0].Blocks < 490 {
		t.Errorf("%d blocks at %d", got[0].Blocks, got[0].Offset)
	}
}

// Data goes on behind what there is if its AG would have had room for it at a stripe unit as well.
func TestSlop(t *testing.T) {
	for less, want := range map[geometry.Blocks]geometry.AGNumber{14: 1, 15: 0} {
		fs, ip := newFile(t, 4<<30, func(s *geometry.Spec) {
			s.Data.StripeUnit512, s.Data.StripeWidth512 = geometry.Given(int64(128)), geometry.Given(int64(512))
		})
		useUp(t, fs, 0, 300)
		tr := fs.Begin(500)
		if got, err := Write(tr, ip, Data, 0, 100, 0, 0); err != nil || len(got) != 1 || got[0].Blocks != 100 {
			t.Fatal(got, err)
		}
		if err := tr.Roll(); err != nil {
			t.Fatal(err)
		}
		longest, err := alloc.Longest(tr, 0, alloc.ReserveNone)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Write(tr, ip, Data, 100, longest-less, 0, 0)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		if agno, _ := fs.G.BlockAddress(got[0].Start); agno != want {
			t.Errorf("%d blocks of %d are in AG %d, want %d", longest-less, longest, agno, want)
		}
	}
}

// A block for the btree that is the first that a transaction takes comes from an AG that has all that the btree may
// need.
func TestTreeLeavesRoom(t *testing.T) {
	fs, ip := newFile(t, 1<<30, nil)
	if ok, err := Fill(fs, ip, 0, 600, Prealloc); err != nil || !ok {
		t.Fatal(ok, err)
	}
	const leaf = (4096 - 72) / 16
	write := func(off uint64) {
		t.Helper()
		tr := fs.Begin(10)
		if got, err := Write(tr, ip, Data, off, 1, Convert, 0); err != nil || len(got) == 0 {
			t.Fatal(got, err)
		}
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	off := uint64(1)
	for ; len(ip.Data.Extents) < leaf; off += 2 {
		write(off) // the extent that is left is unwritten on both sides
	}
	tr := fs.Begin(0)
	for ok := true; ok; { // but for one that can be had
		var err error
		if _, _, ok, err = alloc.ThisAG(tr, 0, alloc.Request{Min: 1, Max: 50000, MinLeft: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	write(off)
	if n := ip.Data.Root.Live(); n != 2 {
		t.Fatalf("the root has %d leaves below it, want 2", n)
	}
	first, _ := fs.G.BlockAddress(geometry.FSBlock(ip.Data.Root.Below(0)))
	second, _ := fs.G.BlockAddress(geometry.FSBlock(ip.Data.Root.Below(1)))
	if first != 0 || second != 1 {
		t.Errorf("the leaves are in AGs %d and %d, want 0 and 1", first, second)
	}
}
