package alloc

import (
	"strings"
	"testing"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// fill takes all of an AG that can be had.
func fill(t *testing.T, fs *live.FS, agno geometry.AGNumber) {
	t.Helper()
	for {
		tr := fs.Begin(0)
		_, _, ok, err := ThisAG(tr, agno, Request{Min: 1, Max: 1 << 20, Owner: rmap.Owner{Owner: ondisk.OwnInodes}})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
	}
}

// A transaction that has allocated in an AG begins there, or behind, for more. Only when
// it has come to the end does it look in those before.
func TestOrderOfAGs(t *testing.T) {
	g := livetest.Plan(t, 400<<20, func(s *geometry.Spec) { s.Data.AGCount = geometry.Given[int64](5) })
	fs, _ := livetest.New(t, g)
	r := Request{Min: 1, Max: 8, Owner: rmap.Owner{Owner: 200}}
	get := func(tr *live.Trans, agno geometry.AGNumber) (geometry.AGNumber, bool) {
		t.Helper()
		at, _, ok, err := StartAG(tr, g.FSBlock(agno, 100), r)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := g.BlockAddress(at)
		return got, ok
	}
	want := func(tr *live.Trans, from, want geometry.AGNumber) {
		t.Helper()
		if got, ok := get(tr, from); !ok || got != want {
			t.Errorf("from AG %d: AG %d (%v), want %d", from, got, ok, want)
		}
	}
	tr := fs.Begin(0)
	want(tr, 1, 1)
	want(tr, 3, 3)
	want(tr, 0, 3) // not 0
	if _, _, ok, err := Near(tr, g.FSBlock(2, 100), r); ok || err != nil {
		t.Error("near a place in an AG before that", err)
	}
	if _, _, ok, err := ThisAG(tr, 2, r); ok || err != nil {
		t.Error("in an AG before that", err)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	tr = fs.Begin(0)
	want(tr, 0, 0) // another transaction may
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	fill(t, fs, 3)
	fill(t, fs, 4)
	tr = fs.Begin(0)
	want(tr, 2, 2)
	want(tr, 3, 0) // the first of those before
	want(tr, 3, 0)
	want(tr, 0, 2) // that was the highest all the same
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	for agno := range g.AGCount {
		fill(t, fs, agno)
		check(t, fs, agno)
	}
	tr = fs.Begin(0)
	if _, ok := get(tr, 2); ok {
		t.Error("something is left of a full filesystem")
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be is told: blocks that are freed twice, that are another's or not there.
func TestDamage(t *testing.T) {
	o := rmap.Owner{Owner: 200}
	for _, c := range []struct {
		want string
		do   func(tr *live.Trans) error
	}{
		{"already", func(tr *live.Trans) error { return Free(tr, 1, 500, 4, rmap.Owner{}, ReserveNone) }},
		{"and the record there", func(tr *live.Trans) error { return Free(tr, 1, 500, 4, o, ReserveNone) }},
		{"are of owner", func(tr *live.Trans) error { return Free(tr, 1, 100, 4, rmap.Owner{Owner: 201}, ReserveNone) }},
		{"are to be freed, of", func(tr *live.Trans) error { return Free(tr, 1, 1<<30, 4, o, ReserveNone) }},
		{"are to be freed, of", func(tr *live.Trans) error { return Free(tr, 1, 100, 1<<30, o, ReserveNone) }},
		{"are to be freed, of", func(tr *live.Trans) error { return Free(tr, 1, 0, 1, o, ReserveNone) }},
		{"there are", func(tr *live.Trans) error { return Free(tr, 99, 100, 1, o, ReserveNone) }},
		{"have an owner already", func(tr *live.Trans) error { return rmap.Map(tr, 1, 102, 4, o) }},
		{"and the record there", func(tr *live.Trans) error { return rmap.Unmap(tr, 1, 102, 40, o) }},
		{"and the record there", func(tr *live.Trans) error {
			return rmap.Convert(tr, 1, 102, 40, rmap.Owner{Owner: 200, Offset: 2, Unwritten: true})
		}},
		{"have no record", func(tr *live.Trans) error {
			ip := &inode.Inode{Ino: 300}
			ip.Core.Flags2 = ondisk.Flag2Reflink
			UnmapLater(tr, ip, false, inode.Extent{Start: tr.G.FSBlock(1, 200), Blocks: 1})
			return tr.Commit()
		}},
		{"in an AG of", func(tr *live.Trans) error { return rmap.Map(tr, 1, 102, 1<<40, o) }},
		{"cntbt of AG 1", func(tr *live.Trans) error {
			g, err := open(tr, 1)
			if err != nil {
				return err
			}
			e, err := g.firstFree()
			if err == nil { // which the cntbt knows nothing of, then
				err = g.byLength().remove(e)
			}
			if err == nil {
				_, _, _, err = Exact(tr, tr.G.FSBlock(1, e.Start), Request{Min: 1, Max: 1})
			}
			return err
		}},
	} {
		fs, _ := livetest.New(t, livetest.Plan(t, 320<<20, nil))
		tr := fs.Begin(0)
		if _, _, ok, err := Exact(tr, fs.G.FSBlock(1, 100), Request{Min: 8, Max: 8, Owner: o}); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if err := c.do(tr); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: %v", c.want, err)
		}
	}
}

// firstFree is the first free extent.
func (g *group) firstFree() (geometry.Extent, error) {
	bno := g.byPlace()
	if _, err := bno.lookup(btree.GE, 0, 0); err != nil {
		return geometry.Extent{}, err
	}
	return bno.extent()
}

// Of two places that are as far from the target that is taken which is looked at later: the one
// behind it. (Where libxfs compares a distance with the best so far, an equal one is as good.)
func TestTie(t *testing.T) {
	fs, _ := livetest.New(t, livetest.Plan(t, 320<<20, nil))
	const agno = 1
	fill(t, fs, agno)
	tr := fs.Begin(0)
	for _, e := range []geometry.Extent{{Start: 90, Blocks: 1}, {Start: 110, Blocks: 1}, {Start: 1000, Blocks: 40}} {
		if err := Free(tr, agno, e.Start, e.Blocks, rmap.Owner{Owner: ondisk.OwnInodes}, ReserveNone); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []geometry.AGBlock{110, 90, 1000} {
		tr := fs.Begin(0)
		at, _, ok, err := Near(tr, fs.G.FSBlock(agno, 100), Request{Min: 1, Max: 1, Owner: rmap.Owner{Owner: 300}})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := fs.G.BlockAddress(at); !ok || got != want {
			t.Errorf("block %d (%v), want %d", got, ok, want)
		}
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	check(t, fs, agno)
}
