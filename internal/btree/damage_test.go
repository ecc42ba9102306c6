package btree

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// damage changes a few bytes of a tree's blocks, most of them in headers and pointers, and
// puts checksums right again, so that it is not these that tell.
func damage(t *rapid.T, fs *live.FS, tr *Tree, trans *live.Trans) {
	t.Helper()
	p := tr.Root.(*pool)
	for range rapid.IntRange(1, 6).Draw(t, "changes") {
		ptr := uint64(100) + rapid.Uint64Range(0, p.next-101).Draw(t, "block")
		off, ok := tr.offset(ptr)
		if !ok {
			continue
		}
		buf, err := fs.Cache.Get(off, tr.size, &tr.buffers.kind)
		if err != nil {
			continue // there already
		}
		lay := tr.blocks.of(ondisk.BtreeLevel(buf.Data))
		at := rapid.SampledFrom([]int{
			4, 6, 8, 12, 16, 20, lay.ptrs, lay.ptrs + lay.ptr, lay.first, lay.first + lay.size, tr.size / 2, tr.size - 8,
		}).Draw(t, "place") + rapid.IntRange(0, 3).Draw(t, "byte")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			buf.Data[at] = rapid.Byte().Draw(t, "value")
		case 1: // a pointer to another block of the tree
			other := uint64(100) + rapid.Uint64Range(0, p.next-101).Draw(t, "other")
			lay.form.PutPtr(buf.Data[at&^3:], other)
		case 2: // and another count, or level
			ondisk.SetBtreeRecords(buf.Data, rapid.IntRange(0, lay.max+1).Draw(t, "count"))
		}
		fs.Cache.Dirty(buf)
		fs.Cache.Unpin(buf)
	}
}

// Whatever is wrong with a tree, what is done in it ends, with an error or without, and does
// not panic.
func TestDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(allKinds).Draw(t, "kind")
		fs, _ := small(true, 9)
		tr, trans := start(t, fs, k, rootHeader+3*(k.Key+8))
		n := rapid.IntRange(1, 1500).Draw(t, "records")
		fill(t, tr, trans, n)
		if err := trans.Commit(); err != nil {
			t.Fatal(err)
		}
		trans = fs.Begin(0)
		damage(t, fs, tr, trans)
		p := tr.Root.(*pool)
		p.hostile = rapid.Bool().Draw(t, "hostile")
		for range tr.Records(trans) {
		}
		_, _ = tr.Blocks(trans)
		_ = tr.Visit(trans, func(int, uint64, []byte) error { return nil })
		var c Cursor
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range rapid.IntRange(1, 100).Draw(t, "operations") {
			c.Init(tr, trans)
			r := k.sample(rng.IntN(n+10), 1+rng.IntN(9))
			_ = c.Query(r, k.sample(n+20, 9), func([]byte) bool { return rng.IntN(50) > 0 })
			there, err := c.Lookup(EQ, r)
			switch {
			case err != nil:
			case !there:
				_, err = c.Insert(r)
			case rng.IntN(2) == 0:
				err = c.Update(r)
			default:
				err = c.Delete()
			}
			if err != nil {
				if err.Error() == "" {
					t.Fatal("an error says nothing")
				}
				continue
			}
			for ok := true; ok && rng.IntN(5) > 0; {
				ok, _ = c.Next()
			}
			for ok := true; ok && rng.IntN(5) > 0; {
				ok, _ = c.Prev()
			}
		}
	})
}

// A root in an inode is any bytes.
func TestDamagedFork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(longKinds).Draw(t, "kind")
		disk := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "fork")
		if len(disk) > 3 && rapid.Bool().Draw(t, "small") {
			disk[0], disk[1], disk[2] = 0, disk[1]%4, 0
		}
		var f Fork
		if err := f.Load(k, disk); err != nil {
			return
		}
		again := make([]byte, len(disk))
		f.Put(again)
		fs, _ := small(true, 9)
		tr := &Tree{Kind: k, Owner: inode, Root: newPool(), Fork: &f}
		trans := fs.Begin(0)
		for range tr.Records(trans) {
		}
		var c Cursor
		c.Init(tr, trans)
		r := k.sample(rapid.IntRange(0, 100).Draw(t, "key"), 1)
		if there, err := c.Lookup(EQ, r); err == nil && !there {
			_, _ = c.Insert(r)
		}
	})
}
