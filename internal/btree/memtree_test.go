package btree

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/live"
	"mkfs/internal/memtree"
)

// image is what a block of a tree in memory is on disk, with what is left behind the
// live entries.
func image(tr *Tree, b *memtree.Block[string], off int64, level int) []byte {
	data := make([]byte, tr.size)
	at := block{data: data, lay: tr.blocks.of(level)}
	form := at.lay.form
	form.Init(data, tr.buffers.magic, level, b.Live, tr.fs.Daddr(off), tr.Owner, &tr.fs.UUID)
	if b.Left != nil {
		form.SetLeft(data, b.Left.At)
	}
	if b.Right != nil {
		form.SetRight(data, b.Right.At)
	}
	for i, r := range b.Records {
		copy(at.entry(i), r)
	}
	for i := range b.Below {
		tr.putKey(at.entry(i), []byte(b.Low[i]))
		if tr.overlaps() {
			tr.putHigh(tr.high(at.entry(i)), []byte(b.High[i]))
		}
		at.setBelow(i, b.Below[i].At)
	}
	return data
}

// Blocks are to the byte those that memtree was seen to have in common with the reference.
func TestSameBytesAsMemtree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]*Kind{Bnobt, Inobt, Rmapbt}).Draw(t, "kind")
		fs, _ := small(true, 8)
		tr, trans := start(t, fs, k, 0)
		order := &memtree.Order[string]{
			Less: func(a, b string) bool { return k.compareRecords([]byte(a), []byte(b)) < 0 },
		}
		if tr.overlaps() {
			order.High = func(r string) string { return r }
		}
		lay := tr.blocks
		twin := memtree.New(order, memtree.Size{Leaf: lay[leaf].max, Node: lay[node].max}, 100, nil)
		next := uint64(100)
		alloc := func(uint64) (uint64, bool) { next++; return next, true }
		var c Cursor
		c.Init(tr, trans)
		for range rapid.IntRange(0, 1000).Draw(t, "records") {
			n := rapid.IntRange(0, 4000).Draw(t, "key")
			if k == Rmapbt {
				n = n * 40 // they do not overlap
			}
			r := k.sample(n, rapid.IntRange(1, 9).Draw(t, "length"))
			there, err := c.Lookup(EQ, r)
			if err != nil {
				t.Fatal(err)
			}
			place := twin.Find(string(r))
			if place.Live() && there != (k.compareRecords([]byte(place.Record()), r) == 0) {
				t.Fatal("only one has the record")
			}
			switch {
			case !there:
				ok, err := c.Insert(r)
				if err != nil || !ok || !twin.Insert(place, string(r), alloc) {
					t.Fatal(ok, err)
				}
			case rapid.Bool().Draw(t, "remove"):
				if !twin.Remove(place) {
					continue
				}
				if err := c.Delete(); err != nil {
					t.Fatal(err)
				}
			default:
				twin.Update(place, string(r))
				if err := c.Update(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		compare(t, tr, trans, twin)
	})
}

func compare(t *rapid.T, tr *Tree, trans *live.Trans, twin *memtree.Tree[string]) {
	t.Helper()
	if ptr, levels := tr.Root.Root(); ptr != twin.Root().At || levels != twin.Levels() {
		t.Fatalf("the root is %d of %d levels, want %d of %d", ptr, levels, twin.Root().At, twin.Levels())
	}
	for b := range twin.All {
		got, err := tr.read(trans, b.At, b.Level)
		if err != nil {
			t.Fatal(err)
		}
		if want := image(tr, b, got.buf.Off, b.Level); !bytes.Equal(got.data, want) {
			t.Fatalf("block %d of level %d, %d live\n got %x\nwant %x", b.At, b.Level, got.live(), got.data, want)
		}
	}
	if n := len(tr.Root.(*pool).used); n != twin.Blocks() {
		t.Fatalf("%d blocks, want %d", n, twin.Blocks())
	}
}
