package da

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/live"
)

// put makes a block of the tree a node or a leaf with entries, the values of which are
// 1000 + hash in leaves.
func (w *world) put(t testing.TB, tx *live.Trans, at Block, level int, back, forward Block, entries ...record) *buffer.Buf {
	t.Helper()
	for w.tr.find(w.ip, uint64(at)) == nil {
		total := w.tr.Blocks
		if _, ok, err := w.tr.Grow(tx, w.ip, w.tr.Root, &total); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	l := w.tr.Leaves.(*leaves)
	b, err := l.make(tx, w.ip, at)
	if err != nil {
		t.Fatal(err)
	}
	if level > 0 {
		w.tr.MakeNode(tx, b, uint64(w.ip.Ino), level)
	}
	d := w.tr.view(b)
	for i, e := range entries {
		d.Entries().Put(i, e.hash, e.value)
	}
	d.SetCount(len(entries))
	d.SetBack(uint32(back))
	d.SetForward(uint32(forward))
	return b
}

// picture is a tree as text: a block a line, with all that is in its first slots.
func (w *world) picture(t testing.TB, slots int) string {
	t.Helper()
	var s strings.Builder
	tx := w.fs.Begin(0)
	for _, e := range w.tr.fork(w.ip).Extents {
		for at := Block(e.Offset); uint64(at) < e.End(); at += Block(w.tr.Blocks) {
			b, err := w.tr.Read(tx, w.ip, at)
			if err != nil {
				t.Fatal(err)
			}
			d := w.tr.view(b)
			level := 0
			if w.tr.IsNode(b) {
				level = d.Level()
			}
			fmt.Fprintf(&s, "%d: level %d <%d >%d", at, level, d.Back(), d.Forward())
			for i := range slots {
				if i == d.Count() {
					s.WriteString(" |")
				}
				fmt.Fprintf(&s, " %d:%d", d.Entries().Hash(i), d.Entries().Value(i))
			}
			s.WriteString("\n")
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// Thresholds of joining: at most half, and three quarters for both. Fractions are cut off
// before they are taken away.
func TestNodeThresholds(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024})
	n := nodes{w.tr}
	a, b := &buffer.Buf{Data: make([]byte, 1024)}, &buffer.Buf{Data: make([]byte, 1024)}
	for _, c := range []struct{ entries, half, both int }{{120, 60, 90}, {7, 3, 6}, {6, 3, 5}, {9, 4, 7}} {
		w.tr.NodeEntries = c.entries
		for i := range c.entries + 1 {
			w.tr.view(a).SetCount(i)
			want := Small
			if i == 0 {
				want = Empty
			} else if i > c.half {
				want = Large
			}
			if got := n.Fill(a); got != want {
				t.Errorf("%d of %d: %d, want %d", i, c.entries, got, want)
			}
			for k := range c.entries + 1 {
				w.tr.view(b).SetCount(k)
				if got := n.Room(a, b); got != (i+k <= c.both) {
					t.Errorf("%d and %d of %d: %v", i, k, c.entries, got)
				}
			}
		}
	}
}

// nodeOf is a node of so many entries, of hashes 10, 20 and so on, with a step to one of them.
func nodeOf(w *world, t testing.TB, tx *live.Trans, n, index int) *Step {
	var list []record
	for i := range n {
		list = append(list, record{uint32(10 * (i + 1)), uint32(i + 1)})
	}
	return &Step{Buf: w.put(t, tx, rootAt+1, 1, 0, 0, list...), At: rootAt + 1, Index: index}
}

// A full node gives its upper half away, of an odd number the smaller one, and the new
// entry goes behind that of the step: also if that is the last of the lower half.
func TestNodeSplit(t *testing.T) {
	const lower, upper = "lower", "upper"
	for _, c := range []struct {
		entries, index int
		to             string
		at             int // where it is then
	}{
		{6, 0, lower, 1}, {6, 1, lower, 2}, {6, 2, lower, 3}, {6, 3, upper, 1}, {6, 5, upper, 3},
		{7, 3, lower, 4}, {7, 4, upper, 1}, {7, 6, upper, 3},
	} {
		w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: c.entries})
		tx := w.fs.Begin(0)
		node, added := nodeOf(w, t, tx, c.entries, c.index), &Step{}
		w.s.Begin(w.tr, tx, w.ip, nil, 0, 0)
		split, fit, err := w.s.enterNode(node, added, &Step{At: 99, Hash: uint32(10*(c.index+1) + 5)})
		if !split || fit != Fits || err != nil {
			t.Fatal(split, fit, err)
		}
		d, u := w.tr.view(node.Buf), w.tr.view(added.Buf)
		got := map[string][]uint32{}
		for i := range d.Count() {
			got[lower] = append(got[lower], d.Entries().Value(i))
		}
		for i := range u.Count() {
			got[upper] = append(got[upper], u.Entries().Value(i))
		}
		want := map[string][]uint32{}
		for i := range c.entries {
			half := lower
			if i >= c.entries-c.entries/2 {
				half = upper
			}
			want[half] = append(want[half], uint32(i+1))
		}
		want[c.to] = slices.Insert(want[c.to], c.at, 99)
		if !slices.Equal(got[lower], want[lower]) || !slices.Equal(got[upper], want[upper]) {
			t.Errorf("%d entries, behind entry %d: %v, want %v", c.entries, c.index, got, want)
		}
		if Block(d.Forward()) != added.At || Block(u.Back()) != node.At || u.Forward() != 0 || u.Level() != 1 {
			t.Errorf("links %d and %d, level %d", d.Forward(), u.Back(), u.Level())
		}
		for _, s := range []*Step{node, added} {
			if last, _ := (nodes{w.tr}).LastHash(s.Buf); last != s.Hash {
				t.Errorf("the last hash is %d, says %d", last, s.Hash)
			}
		}
	}
}

// Where a leaf has been split twice two entries are made, which need room for both.
func TestNodeTakesTwo(t *testing.T) {
	for _, c := range []struct {
		after bool
		n     int
		split bool
		want  []uint32
	}{
		{false, 4, false, []uint32{1, 2, 98, 99, 3, 4}},
		{true, 4, false, []uint32{1, 2, 99, 98, 3, 4}},
		{true, 5, true, []uint32{1, 2, 99, 98, 3}},
	} {
		w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 6})
		tx := w.fs.Begin(0)
		node, added := nodeOf(w, t, tx, c.n, 1), &Step{}
		w.s.Begin(w.tr, tx, w.ip, nil, 0, 0)
		w.s.ExtraValid, w.s.ExtraAfter, w.s.Extra = true, c.after, Step{At: 98, Hash: 22}
		split, _, err := w.s.enterNode(node, added, &Step{At: 99, Hash: 21})
		if split != c.split || err != nil || w.s.ExtraValid {
			t.Fatal(split, err, w.s.ExtraValid)
		}
		var got []uint32
		d := w.tr.view(node.Buf)
		for i := range d.Count() {
			got = append(got, d.Entries().Value(i))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// place is that of the n-th block of the index.
func (w *world) place(n int) Block { return rootAt + Block(n)*Block(w.tr.Blocks) }

// forest makes a root above nodes of so many entries each, with a leaf of one hash below each.
func (w *world) forest(t testing.TB, counts ...int) {
	same := func(i int) int { return i }
	w.forestAt(t, same, same, counts...)
}

// forestAt is forest that puts the i-th node and the i-th leaf, counted from 0, where it is told,
// among the places of nodes and among those of leaves.
func (w *world) forestAt(t testing.TB, nodeAt, leafAt func(i int) int, counts ...int) {
	leaves := 0
	for _, n := range counts {
		leaves += n
	}
	place := func(i, n, first int, at func(i int) int) Block {
		if i < 0 || i >= n {
			return 0 // no neighbour
		}
		return w.place(first + at(i))
	}
	node := func(i int) Block { return place(i, len(counts), 1, nodeAt) }
	leaf := func(i int) Block { return place(i, leaves, 1+len(counts), leafAt) }
	tx := w.fs.Begin(0)
	var root []record
	k := 0
	for i, n := range counts {
		var list []record
		for range n {
			hash := uint32(10 * (k + 1))
			list = append(list, record{hash, uint32(leaf(k))})
			w.put(t, tx, leaf(k), 0, leaf(k-1), leaf(k+1),
				record{hash, 1000 + hash}, record{hash, 2000 + hash}, record{hash, 3000 + hash})
			k++
		}
		w.put(t, tx, node(i), 1, node(i-1), node(i+1), list...)
		root = append(root, record{list[n-1].hash, uint32(node(i))})
	}
	w.put(t, tx, rootAt, 2, 0, 0, root...)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// clearLeaf removes all records of a hash.
func (w *world) clearLeaf(t testing.TB, hash uint32) {
	t.Helper()
	for i := range uint32(3) {
		if ok, err := w.remove(record{hash, (i+1)*1000 + hash}); !ok || err != nil {
			t.Fatal(i, ok, err)
		}
	}
}

// nodesOf are the values of the root, and how many entries each node below it has.
func (w *world) nodesOf(t testing.TB) string {
	t.Helper()
	tx := w.fs.Begin(0)
	root, err := w.tr.Read(tx, w.ip, rootAt)
	if err != nil {
		t.Fatal(err)
	}
	d := w.tr.view(root)
	var s []string
	for i := range d.Count() {
		b, err := w.tr.Read(tx, w.ip, Block(d.Entries().Value(i)))
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, fmt.Sprintf("%d:%d", d.Entries().Value(i)-rootAt, w.tr.view(b).Count()))
	}
	return fmt.Sprintf("level %d, %s", d.Level(), strings.Join(s, " "))
}

// With which sibling a node is joined that has become small, and which of both stays. Nodes have
// 8 entries, leaves are joined only when they are empty.
func TestNodeJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		leaf   uint32 // that is emptied, by its number from 1 on
		want   string
	}{
		{"more than half stays", []int{6, 2, 6}, 1, "level 2, 1:5 2:2 3:6"},
		{"half is joined with the one behind", []int{5, 2, 6}, 1, "level 2, 1:6 3:6"},
		{"no room", []int{5, 3, 6}, 1, "level 2, 1:4 2:3 3:6"},
		{"of two the lower place", []int{3, 3, 3}, 4, "level 2, 1:5 3:3"},
		{"the other if there is no room", []int{6, 3, 3}, 7, "level 2, 1:6 2:5"},
		{"the last one", []int{3, 6, 1}, 10, "level 2, 1:3 2:6"},
		{"an empty one goes to the one behind", []int{6, 1, 6}, 7, "level 2, 1:6 3:6"},
		{"the root goes", []int{3, 3}, 1, "level 1, 5:0"},
	} {
		w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 8, leaves: 3})
		w.forest(t, c.counts...)
		w.walk(t)
		w.clearLeaf(t, 10*c.leaf)
		got := w.nodesOf(t)
		if c.name == "the root goes" {
			got = got[:len("level 1")]
			c.want = "level 1"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		w.walk(t)
	}
}

// What stays in blocks behind the entries in use: a removed entry leaves zeros in the last
// slot, a node that was split and a root that was copied leave what moved, and a root that
// takes its last child back has all of that.
func TestRemains(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 4, leaves: 4})
	for i := range uint32(5) {
		if ok, err := w.insert(record{10 * (i + 1), 0}, false); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	want := `64: level 1 <0 >0 20:66 50:65 | 30:0 40:0
65: level 0 <66 >0 30:0 40:0 50:0 | 0:0
66: level 0 <0 >65 10:0 20:0 | 0:0 0:0
`
	if got := w.picture(t, 4); got != want {
		t.Errorf("grown:\n%swant\n%s", got, want)
	}
	remove := func(list ...uint32) {
		for _, h := range list {
			if ok, err := w.remove(record{h, 0}); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	}
	remove(50, 40)
	if got, want := w.picture(t, 4), "64: level 0 <0 >0 10:0 20:0 30:0 | 0:0\n"; got != want {
		t.Errorf("shrunk:\n%swant\n%s", got, want)
	}
	w = newWorld(t, shape{block: 1024, bytes: 1024, nodes: 4, leaves: 3})
	w.forest(t, 3, 3)
	w.clearLeaf(t, 20)
	got, _, _ := strings.Cut(w.picture(t, 4), "\n67")
	want = `64: level 2 <0 >0 30:65 60:66 | 0:0 0:0
65: level 1 <0 >66 10:67 30:69 | 0:0 0:0
66: level 1 <65 >0 40:70 50:71 60:72 | 0:0`
	if got != want {
		t.Errorf("one leaf less:\n%s\nwant\n%s", got, want)
	}
}

// The last block of the index goes to the place of one that cannot be given back, and
// paths that have it go with it. In an attribute fork that is an error.
func TestLastBlockMoves(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 2048, nodes: 8, leaves: 3, stubborn: true})
	w.forest(t, 5, 3, 6)
	w.space.next += 100
	last := w.ip.Data.Extents[len(w.ip.Data.Extents)-1].End() - 2
	before := w.walk(t)
	w.clearLeaf(t, 20)
	if after := w.walk(t); len(after) != len(before)-3 {
		t.Errorf("%d records of %d are left", len(after), len(before))
	}
	if w.tr.find(w.ip, last) != nil {
		t.Error("the last block is still there")
	}
}

// A node that goes has an entry above it still while the last block moves to its place. What was
// below it is found below the one that stays, and not in it.
func TestLastBlockMovesFromBelow(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 2048, nodes: 8, leaves: 3, stubborn: true})
	w.forestAt(t, func(i int) int { return [3]int{1, 0, 2}[i] }, func(i int) int { return 11 - i }, 3, 3, 6)
	before := w.walk(t)
	w.clearLeaf(t, 10)
	if got, want := w.nodesOf(t), "level 2, 2:5 6:6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if after := w.walk(t); len(after) != len(before)-3 {
		t.Errorf("%d records of %d are left", len(after), len(before))
	}
}

// A tree that has all the levels there may be refuses to grow.
func TestDeepest(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 4, leaves: 2})
	for i := range uint32(1000) {
		ok, err := w.insert(record{i, 0}, false)
		if err != nil {
			if !strings.Contains(err.Error(), "would have more than 5 levels") {
				t.Fatal(err)
			}
			if i < 40 {
				t.Errorf("record %d: %v", i, err)
			}
			return
		}
		if !ok {
			t.Fatal(i)
		}
	}
	t.Error("it grows and grows")
}

// If there is no room a split says so, whichever block is the one that is not there.
func TestNoRoom(t *testing.T) {
	for _, sh := range shapes {
		failed := 0
		for n := 0; ; n++ {
			w := newWorld(t, sh)
			w.space.fail = n
			ok, err := true, error(nil)
			for i := uint32(0); i < 60 && ok && err == nil; i++ {
				ok, err = w.insert(record{i * 977 % 61, i}, sh.fork == bmap.Attr && i%5 == 4)
			}
			if err != nil {
				t.Fatalf("%+v, %d blocks: %v", sh, n, err)
			}
			if ok {
				break
			}
			failed++
		}
		if failed < 5 {
			t.Errorf("%+v: only %d blocks are needed", sh, failed)
		}
	}
}
