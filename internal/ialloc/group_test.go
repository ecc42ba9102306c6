package ialloc

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live/livetest"
)

// AGs take each other's places in memory, but not the knowledge of where they were last
// searched, nor the blocks of each other's trees.
func TestGroups(t *testing.T) {
	fs, _ := livetest.New(t, livetest.Plan(t, 2<<30, func(s *geometry.Spec) { s.Data.AGCount = geometry.Given(int64(100)) }))
	other := geometry.AGNumber(len(allocator{}.groups) + 1)
	for _, agno := range []geometry.AGNumber{1, other, 1, other} {
		tr := fs.Begin(0)
		g, err := open(tr, agno)
		if err != nil {
			t.Fatal(err)
		}
		if g.agno != agno || g.ino.AG != agno || g.fino.AG != agno || g.Seqno() != uint32(agno) {
			t.Errorf("AG %d: it is %d, with trees of %d and %d, and the AGI of %d", agno, g.agno, g.ino.AG, g.fino.AG, g.Seqno())
		}
		if was, ok := g.last[agno]; ok && was.near != uint32(agno) {
			t.Errorf("AG %d was searched from %d", agno, was.near)
		}
		g.last[agno] = lastSearch{near: uint32(agno)}
		if ptr, levels := g.ino.Root.Root(); ptr != uint64(fs.G.Roots().Ino) || levels != 1 {
			t.Errorf("the inobt has its root at %d, and %d levels", ptr, levels)
		}
		if ptr, levels := g.fino.Root.Root(); ptr != uint64(fs.G.Roots().Fino) || levels != 1 {
			t.Errorf("the finobt has its root at %d, and %d levels", ptr, levels)
		}
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(of(fs).last); n != 2 {
		t.Errorf("%d AGs were searched", n)
	}
}
