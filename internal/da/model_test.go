package da

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
)

// walk collects the records of a tree in order, and checks all that holds for one:
// the levels, the hashes of nodes, and the neighbours; that all blocks of the fork are
// in it, once.
func (w *world) walk(t fataler) (list []record) {
	t.Helper()
	tx := w.fs.Begin(0)
	lefts := map[int]Block{} // the last block of each level so far
	seen := map[Block]bool{}
	var visit func(at Block, level int) (last uint32, any bool)
	visit = func(at Block, level int) (uint32, bool) {
		b, err := w.tr.Read(tx, w.ip, at)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if seen[at] {
			t.Fatalf("block %d is in the tree twice", at)
		}
		seen[at] = true
		d := w.tr.view(b)
		is := 0
		if w.tr.IsNode(b) {
			is = d.Level()
		}
		if level < 0 {
			level = is
		}
		if is != level || level >= MaxDepth {
			t.Fatalf("block %d is of level %d, under one of level %d", at, is, level+1)
		}
		w.checkLeft(t, tx.Cache, lefts, at, level, d.Back())
		lefts[level] = at
		for i := range d.Count() {
			e := record{d.Entries().Hash(i), d.Entries().Value(i)}
			if level == 0 {
				list = append(list, e)
			} else if last, any := visit(Block(e.value), level-1); any && last != e.hash {
				t.Fatalf("node %d says that block %d ends with %#x, which does with %#x", at, e.value, e.hash, last)
			}
		}
		if d.Count() == 0 {
			return 0, false
		}
		return d.Entries().Hash(d.Count() - 1), true
	}
	visit(w.tr.Root, -1)
	for level, at := range lefts {
		b, err := w.tr.Read(tx, w.ip, at)
		if err != nil || w.tr.view(b).Forward() != 0 {
			t.Fatalf("the last block of level %d has one behind it (%v)", level, err)
		}
	}
	if n := w.blocks(); n != len(seen) {
		t.Fatalf("the fork has %d blocks, the tree %d", n, len(seen))
	}
	if !slices.IsSortedFunc(list, func(a, b record) int { return cmp.Compare(a.hash, b.hash) }) {
		t.Fatalf("not in order: %v", list)
	}
	if err := tx.Commit(); err != nil {
		t.Fatalf("%v", err)
	}
	return list
}

// checkLeft checks that a block and the one before it on its level know each other.
func (w *world) checkLeft(t fataler, _ *buffer.Cache, lefts map[int]Block, at Block, level int, back uint32) {
	t.Helper()
	left := lefts[level]
	if Block(back) != left {
		t.Fatalf("block %d says that block %d is before it, which is block %d", at, back, left)
	}
	if left == 0 {
		return
	}
	tx := w.fs.Begin(0)
	b, err := w.tr.Read(tx, w.ip, left)
	if err != nil || Block(w.tr.view(b).Forward()) != at {
		t.Fatalf("block %d does not say that block %d is behind it (%v)", left, at, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatalf("%v", err)
	}
}

// blocks is how many blocks the fork has.
func (w *world) blocks() (n int) {
	for _, e := range w.tr.fork(w.ip).Extents {
		n += int(e.Blocks)
	}
	return n / int(w.tr.Blocks)
}

// shapes are worlds to try all with.
var shapes = map[string]shape{
	"V5":        {block: 1024, bytes: 1024, nodes: 6, leaves: 6},
	"V4":        {v4: true, block: 512, bytes: 512, nodes: 7, leaves: 5},
	"large":     {block: 1024, bytes: 4096, nodes: 8, leaves: 4},
	"scattered": {block: 1024, bytes: 4096, nodes: 5, leaves: 9, scattered: true},
	"stubborn":  {block: 1024, bytes: 2048, nodes: 6, leaves: 6, stubborn: true},
	"twice":     {block: 1024, bytes: 1024, nodes: 7, leaves: 8, fork: bmap.Attr},
}

// Whatever is entered and removed, the tree has what the model has.
func TestModel(t *testing.T) {
	for name, sh := range shapes {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sh)
			rapid.Check(t, func(t *rapid.T) {
				w.begin(sh)
				model := map[record]bool{}
				var list []record // in order of entering
				most := rapid.SampledFrom([]uint32{3, 50, 1 << 20}).Draw(t, "hashes")
				steps := rapid.IntRange(1, 300).Draw(t, "steps")
				falling := false
				for i := range steps {
					if i%50 == 0 {
						falling = rapid.Bool().Draw(t, "falling")
					}
					if rapid.IntRange(0, 15).Draw(t, "reopen") == 15 { // what is not told to be changed is lost
						w.reopen(t)
					}
					grow := rapid.IntRange(0, 9).Draw(t, "grow") < 8
					if grow == falling && len(list) > 0 {
						k := rapid.IntRange(0, len(list)-1).Draw(t, "which")
						r := list[k]
						list = slices.Delete(list, k, k+1)
						if ok, err := w.remove(r); !ok || err != nil {
							t.Fatalf("remove %v: %v, %v", r, ok, err)
						}
						delete(model, r)
						continue
					}
					r := record{rapid.Uint32Range(0, most).Draw(t, "hash"), rapid.Uint32Range(0, 20).Draw(t, "value")}
					twice := sh.fork == bmap.Attr && len(list) > 8 && rapid.Bool().Draw(t, "twice") && w.full(t, r)
					ok, err := w.insert(r, twice)
					if ok == model[r] || err != nil {
						t.Fatalf("insert %v: %v, %v", r, ok, err)
					}
					if ok {
						model[r] = true
						list = append(list, r)
					}
				}
				if rapid.Bool().Draw(t, "reopen") {
					w.reopen(t)
				}
				got := w.walk(t)
				if len(got) != len(model) {
					t.Fatalf("%d records, want %d", len(got), len(model))
				}
				for _, r := range got {
					if ok, err := w.lookup(r); !model[r] || !ok || err != nil {
						t.Fatalf("%v is there: %v in the model, %v found (%v)", r, model[r], ok, err)
					}
				}
				for _, r := range got {
					if ok, err := w.remove(r); !ok || err != nil {
						t.Fatalf("remove %v: %v, %v", r, ok, err)
					}
				}
				if n := len(w.walk(t)); n != 0 || w.blocks() > 2 {
					t.Fatalf("%d records and %d blocks are left", n, w.blocks())
				}
			})
		})
	}
}

// full tells whether the leaf of a record, that is not there, has so many that it can be split twice.
func (w *world) full(t fataler, r record) bool {
	found, err := w.lookup(r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return !found && w.tr.view(w.s.Path.Last().Buf).Count() >= 4
}
