package refcount

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/alloc"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// world is a filesystem of which one AG has blocks in use, with the number of files that have each, and those that are
// staged.
type world struct {
	fs     *live.FS
	first  geometry.AGBlock
	count  []uint32 // of each block from the first on; 0 if it is free
	staged []bool
}

// inUse is the AG that blocks are taken of.
const inUse = 1

// newWorld takes n blocks in one piece, which nobody is said to own, so that none has a record in the rmapbt.
func newWorld(t testing.TB, g *geometry.Geometry, n geometry.Blocks) *world {
	t.Helper()
	fs, _ := livetest.New(t, g)
	tr := fs.Begin(0)
	at, got, ok, err := alloc.ThisAG(tr, inUse, alloc.Request{Min: n, Max: n})
	if err != nil || !ok || got != n {
		t.Fatal(got, ok, err)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	w := &world{fs: fs, count: make([]uint32, n), staged: make([]bool, n)}
	_, w.first = g.BlockAddress(at)
	for i := range w.count {
		w.count[i] = 1
	}
	return w
}

// do changes blocks, of which from and n are a run.
func (w *world) do(op uint8, from, n int, logSpace geometry.Bytes) error {
	tr := w.fs.Begin(0)
	tr.LogSpace = logSpace
	at := w.fs.G.FSBlock(inUse, w.first+geometry.AGBlock(from))
	later(tr, op, at, geometry.Blocks(n))
	if err := tr.Commit(); err != nil {
		return err
	}
	for i := from; i < from+n; i++ {
		switch op {
		case opIncrease:
			w.count[i]++
		case opDecrease:
			w.count[i]--
		default:
			w.staged[i] = op == opStage
		}
	}
	return nil
}

// run is the range of blocks around one that an operation may be done to.
func (w *world) run(op uint8, at int) (from, end int) {
	may := func(i int) bool {
		switch op {
		case opStage:
			return w.count[i] == 1 && !w.staged[i]
		case opUnstage:
			return w.staged[i]
		}
		return w.count[i] > 0 && !w.staged[i]
	}
	for from, end = at, at; from > 0 && may(from-1); from-- {
	}
	for end < len(w.count) && may(end) {
		end++
	}
	if !may(at) {
		return 0, 0
	}
	return from, end
}

// records are those that the tree is to have.
func (w *world) records() (list []record) {
	for _, staged := range []bool{false, true} {
		for i, n := range w.count {
			if w.staged[i] != staged || !staged && n < 2 {
				continue
			}
			r := record{start: w.first + geometry.AGBlock(i), blocks: 1, count: n, staged: staged}
			if k := len(list) - 1; k >= 0 && list[k].end() == r.start && list[k].count == n && list[k].staged == staged {
				list[k].blocks++
				continue
			}
			list = append(list, r)
		}
	}
	return list
}

// stored are those that it has, with the number of blocks of the tree as the AGF tells it, and as it is.
func stored(t testing.TB, fs *live.FS, agno geometry.AGNumber) (list []record) {
	t.Helper()
	tr := fs.Begin(0)
	c, err := open(tr, agno)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range c.tree.Records(tr) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, decode(b))
	}
	n, err := c.tree.Blocks(tr)
	if err != nil {
		t.Fatal(err)
	}
	if told := geometry.Blocks(c.Get(ondisk.AGFRefcountBlocks)); told != n {
		t.Errorf("%d blocks, and the AGF says %d", n, told)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	return list
}

// check compares the tree, the free space, and what is found to be shared, with the model.
func (w *world) check(t *testing.T, rt *rapid.T, free geometry.Blocks) {
	got, want := stored(t, w.fs, inUse), w.records()
	if !slices.Equal(got, want) {
		rt.Fatalf("records %v, want %v", got, want)
	}
	tr := w.fs.Begin(0)
	agf, err := tr.AGF(inUse)
	if err != nil {
		rt.Fatal(err)
	}
	for _, n := range w.count {
		if n == 0 {
			free++
		}
	}
	if n := w.fs.Counts.FreeBlocks + geometry.Blocks(agf.Get(ondisk.AGFRefcountBlocks)) - 1; n != free {
		rt.Fatalf("%d blocks are free, want %d", n, free)
	}
	from := rapid.IntRange(0, len(w.count)-1).Draw(rt, "from")
	end := rapid.IntRange(from+1, len(w.count)).Draw(rt, "end")
	for _, whole := range []bool{false, true} {
		e, err := Shared(tr, inUse, w.first+geometry.AGBlock(from), geometry.Blocks(end-from), whole)
		if want := w.shared(from, end, whole); err != nil || e != want {
			rt.Fatalf("%v of %d to %d are shared, want %v: %v", e, from, end, want, err)
		}
	}
	staged, err := Staged(tr, inUse)
	var extents []geometry.Extent
	for _, r := range want {
		if r.staged {
			extents = append(extents, geometry.Extent{Start: r.start, Blocks: r.blocks})
		}
	}
	if err != nil || !slices.Equal(staged, extents) {
		rt.Fatalf("staging extents %v, want %v: %v", staged, extents, err)
	}
	if err := tr.Commit(); err != nil {
		rt.Fatal(err)
	}
}

// shared is what Shared is to find.
func (w *world) shared(from, end int, whole bool) (e geometry.Extent) {
	for ; from < end && w.count[from] < 2; from++ {
	}
	if from == end {
		return e
	}
	e.Start = w.first + geometry.AGBlock(from)
	for i := from; i < end && w.count[i] > 1 && (whole || w.count[i] == w.count[from]); i++ {
		e.Blocks++
	}
	return e
}

// small is a filesystem with small blocks, so that trees are high.
func small(t testing.TB, ask func(*geometry.Spec)) *geometry.Geometry {
	return livetest.Plan(t, 300<<20, func(s *geometry.Spec) {
		s.BlockSize = geometry.Given(int64(1024))
		if ask != nil {
			ask(s)
		}
	})
}

// Whatever is done, counts are those of a model, runs of equal counts are one record, blocks that nobody has are free, and
// once all are given back all is as it was.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(*geometry.Spec)
	}{
		{"owners", nil},
		{"no owners", func(s *geometry.Spec) { s.Features.Rmapbt = geometry.Given(false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := small(t, c.ask)
			rapid.Check(t, func(rt *rapid.T) {
				const n = 600
				w := newWorld(t, g, n)
				free := w.fs.Counts.FreeBlocks
				logSpace := rapid.SampledFrom([]geometry.Bytes{0, 1, 64 << 10}).Draw(rt, "log space")
				if rapid.Bool().Draw(rt, "in pieces") { // a tree of more than one level
					for i := 0; i < n; i += 2 {
						if err := w.do(opIncrease, i, 1, 0); err != nil {
							rt.Fatal(err)
						}
					}
				}
				for range rapid.IntRange(1, 60).Draw(rt, "operations") {
					op := rapid.SampledFrom([]uint8{opIncrease, opIncrease, opDecrease, opStage, opUnstage}).Draw(rt, "op")
					at := rapid.IntRange(0, n-1).Draw(rt, "at")
					from, end := w.run(op, at)
					if from == end {
						continue
					}
					if rapid.Bool().Draw(rt, "part") {
						from = rapid.IntRange(from, end-1).Draw(rt, "from")
						end = rapid.IntRange(from+1, end).Draw(rt, "end")
					}
					if err := w.do(op, from, end-from, logSpace); err != nil {
						rt.Fatal(err)
					}
				}
				w.check(t, rt, free)
				w.giveBack(rt, logSpace)
				w.check(t, rt, free)
				if w.fs.Counts.FreeBlocks != free+n {
					rt.Fatalf("%d blocks are free, want %d", w.fs.Counts.FreeBlocks, free+n)
				}
			})
		})
	}
}

// giveBack takes all blocks away from all that have them.
func (w *world) giveBack(rt *rapid.T, logSpace geometry.Bytes) {
	for _, op := range []uint8{opUnstage, opDecrease} {
		for i := 0; i < len(w.count); {
			from, end := w.run(op, i)
			if from == end {
				i++
				continue
			}
			if err := w.do(op, from, end-from, logSpace); err != nil {
				rt.Fatal(err)
			}
		}
	}
}
