package btree

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

var (
	shortKinds = []*Kind{Bnobt, Cntbt, Inobt, Finobt, Rmapbt, Refcountbt}
	longKinds  = []*Kind{Bmbt, RTRmapbt, RTRefcountbt}
	allKinds   = slices.Concat(shortKinds, longKinds)
)

// model is a sorted list that does what a tree does.
type model struct {
	k    *Kind
	list [][]byte
}

func (m *model) find(r []byte) (int, bool) {
	return slices.BinarySearchFunc(m.list, r, m.k.compareRecords)
}

// lookup is the index that a lookup leads to.
func (m *model) lookup(o Order, r []byte) (int, bool) {
	i, there := m.find(r)
	switch {
	case there:
		return i, true
	case o == LE:
		return i - 1, i > 0
	}
	return i, o == GE && i < len(m.list)
}

// at checks that a cursor is at record i, or at none where there is none.
func (m *model) at(t *rapid.T, c *Cursor, i int) {
	t.Helper()
	r, ok := c.Record()
	want := i >= 0 && i < len(m.list)
	if ok != want || ok && !bytes.Equal(r, m.list[i]) {
		t.Fatalf("the cursor is at %x, %v, not at record %d of %d", r, ok, i, len(m.list))
	}
}

// walk checks that a cursor at record i goes a few steps one way and back.
func (m *model) walk(t *rapid.T, c Cursor, i int) {
	t.Helper()
	n := rapid.IntRange(-30, 30).Draw(t, "steps")
	move, by := c.Next, 1
	if n < 0 {
		move, by, n = c.Prev, -1, -n
	}
	for range n {
		ok, err := move()
		if err != nil {
			t.Fatal(err)
		}
		if i += by; ok != (i >= 0 && i < len(m.list)) {
			t.Fatalf("a step to record %d of %d: %v", i, len(m.list), ok)
		}
		i = min(max(i, -1), len(m.list))
		m.at(t, &c, i)
	}
}

// TestModel does what a list does, in trees of all kinds with tiny blocks.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(allKinds).Draw(t, "kind")
		v5 := k.MagicV4 == 0 || rapid.Bool().Draw(t, "v5")
		room := rapid.IntRange(2, 4).Draw(t, "room")
		fs, _ := tiny(k, v5)
		tr, trans := start(t, fs, k, rootHeader+room*(k.Key+8)+rapid.IntRange(0, 7).Draw(t, "spare"))
		m := &model{k: k}
		least := 0 // records that are always there
		if k == Bmbt {
			m.list = [][]byte{k.sample(0, 1)}
			least = 1
		}
		var c Cursor
		c.Init(tr, trans)
		keys := rapid.SampledFrom([]int{30, 300, 3000}).Draw(t, "keys")
		grow := 0
		for step := range rapid.IntRange(0, 600).Draw(t, "steps") {
			if step%200 == 0 {
				grow = rapid.IntRange(0, 10).Draw(t, "grow")
			}
			r := k.sample(rapid.IntRange(0, keys).Draw(t, "key"), rapid.IntRange(1, 9).Draw(t, "length"))
			o := Order(rapid.IntRange(0, 2).Draw(t, "order"))
			i, want := m.lookup(o, r)
			got, err := c.Lookup(o, r)
			if err != nil || got != want {
				t.Fatalf("lookup %d of %x: %v, %v", o, r, got, err)
			}
			if got {
				m.at(t, &c, i)
				m.walk(t, c, i)
			}
			i, there := m.find(r)
			if there, err := c.Lookup(EQ, r); err != nil || there != (i < len(m.list) && k.compareRecords(m.list[i], r) == 0) {
				t.Fatal(err)
			}
			switch {
			case !there && rapid.IntRange(0, 9).Draw(t, "insert") < grow:
				if ok, err := c.Insert(r); !ok || err != nil {
					t.Fatal(ok, err)
				}
				m.list = slices.Insert(m.list, i, r)
				m.at(t, &c, i)
				m.walk(t, c, i)
			case there && len(m.list) > least && rapid.IntRange(0, 9).Draw(t, "delete") >= grow:
				if err := c.Delete(); err != nil {
					t.Fatal(err)
				}
				m.list = slices.Delete(m.list, i, i+1)
				if _, ok := c.Record(); ok {
					m.at(t, &c, i)
				}
				back := c
				if ok, err := back.Prev(); err != nil || ok != (i > 0) {
					t.Fatalf("back from record %d: %v, %v", i, ok, err)
				}
				m.at(t, &back, i-1)
			case there:
				if err := c.Update(r); err != nil {
					t.Fatal(err)
				}
				m.list[i] = r
				m.at(t, &c, i)
				m.walk(t, c, i)
			}
			if tr.Fork != nil && rapid.IntRange(0, 20).Draw(t, "fork") == 0 {
				reload(t, tr, trans)
			}
			if step%10 == 0 || step > 590 {
				if got := sound(t, tr, trans); !slices.EqualFunc(got, m.list, bytes.Equal) {
					t.Fatalf("records\n got %x\nwant %x", got, m.list)
				}
			}
		}
	})
}

// reload puts the root of a tree into an inode, of another size sometimes, and reads it again.
func reload(t *rapid.T, tr *Tree, trans *live.Trans) {
	t.Helper()
	f := tr.Fork
	size := max(rootHeader+2*(tr.Key+8), f.size+rapid.IntRange(-50, 50).Draw(t, "more"))
	size = min(size, tr.size/2) // as inodes are no longer than half a block
	if !f.Resize(size) {
		if f.Needs() <= size {
			t.Fatalf("a root of %d bytes does not fit %d", f.Needs(), size)
		}
		var c Cursor
		c.Init(tr, trans)
		if _, err := c.Lookup(GE, tr.sample(0, 0)); err != nil {
			t.Fatal(err)
		}
		if ok, err := c.PushDown(); err != nil || !ok || !f.Resize(size) {
			t.Fatal(ok, err)
		}
	}
	behind := bytes.Repeat([]byte{0xee}, size)
	f.Put(behind)
	level, n := ondisk.ForkRootHeader(behind)
	if level != f.Level() || n != f.Live() {
		t.Fatalf("the inode has level %d and %d entries, not %d and %d", level, n, f.Level(), f.Live())
	}
	if left := bytes.Count(behind, []byte{0xee}); left < size-f.Needs() {
		t.Fatalf("%d bytes of %d were left alone, %d are needed", left, size, f.Needs())
	}
	again := new(Fork)
	if err := again.Load(tr.Kind, behind); err != nil {
		t.Fatal(err)
	}
	tr.Fork = again
}
