package btree

import (
	"bytes"
	"errors"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// Walks find all records and blocks of a tree, and end where they are told to.
func TestWalks(t *testing.T) {
	for _, k := range allKinds {
		t.Run(k.Name, func(t *testing.T) {
			fs, _ := small(true, 9)
			tr, trans := start(t, fs, k, rootHeader+3*(k.Key+8))
			fill(t, tr, trans, 2000)
			want := sound(t, tr, trans)
			n := 0
			for r, err := range tr.Records(trans) {
				if err != nil || !bytes.Equal(r, want[n]) {
					t.Fatalf("record %d is %x, %v, want %x", n, r, err, want[n])
				}
				n++
			}
			if n != len(want) {
				t.Errorf("%d records, want %d", n, len(want))
			}
			for range tr.Records(trans) {
				break
			}
			used := len(tr.Root.(*pool).used)
			if n, err := tr.Blocks(trans); err != nil || int(n) != used {
				t.Errorf("%d blocks, %v, want %d", n, err, used)
			}
			seen := map[uint64]bool{}
			top := MaxLevels
			err := tr.Visit(trans, func(level int, ptr uint64, data []byte) error {
				if level > top || len(data) != tr.size {
					t.Errorf("block %d of level %d has %d bytes", ptr, level, len(data))
				}
				top, seen[ptr] = level, true
				return nil
			})
			if err != nil || len(seen) != used || top != 0 {
				t.Errorf("%d blocks were visited, %v, want %d", len(seen), err, used)
			}
			enough := errors.New("enough")
			if err := tr.Visit(trans, func(int, uint64, []byte) error { return enough }); err != enough {
				t.Error(err)
			}
		})
	}
}

// A tree whose levels go round is damaged, and no walk follows.
func TestNoEndlessWalk(t *testing.T) {
	fs, _ := small(true, 8)
	tr, trans := start(t, fs, Inobt, 0)
	fill(t, tr, trans, 2000)
	first, last := map[int]*block{}, map[int]*block{}
	err := tr.Visit(trans, func(level int, ptr uint64, _ []byte) error {
		b, err := tr.read(trans, ptr, level)
		if first[level] == nil {
			first[level] = &b
		}
		last[level] = &b
		return err
	})
	if err != nil || len(first) < 3 {
		t.Fatalf("%v, %d levels", err, len(first))
	}
	for level := range len(first) - 1 {
		b := last[level]
		b.lay.form.SetRight(b.data, first[level].ptr)
	}
	n := 0
	err = tr.Visit(trans, func(int, uint64, []byte) error {
		if n++; n > 1000 {
			t.Fatal("it goes round")
		}
		return nil
	})
	if !errors.Is(err, errBeside) {
		t.Error(err)
	}
	for _, err = range tr.Records(trans) {
		if n++; n > 5000 {
			t.Fatal("it goes round")
		}
	}
	if !errors.Is(err, errBeside) {
		t.Error(err)
	}
	var c Cursor
	c.Init(tr, trans)
	ok, err := c.Lookup(GE, tr.sample(0, 0))
	for n = 0; ok && n < 5000; n++ {
		ok, err = c.Next()
	}
	if ok || err == nil {
		t.Errorf("after %d steps: %v, %v", n, ok, err)
	}
}

// counted is a device that counts the reads that are in flight together.
type counted struct {
	*livetest.Device
	flying, most int
	late         []func()
}

func (c *counted) Read(off int64, vec [][]byte, done func(error)) error {
	c.flying++
	c.most = max(c.most, c.flying)
	c.late = append(c.late, func() { _ = c.Device.Read(off, vec, done) })
	return nil
}

func (c *counted) Reap(int) error {
	late := c.late
	c.late, c.flying = nil, 0
	for _, do := range late {
		do()
	}
	return nil
}

// A walk reads ahead, and needs little memory, however large the tree is.
func TestWalkReadsAhead(t *testing.T) {
	fs, d := small(true, 9)
	tr, trans := start(t, fs, Bnobt, 0)
	fill(t, tr, trans, 20000)
	if err := trans.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	const limit = 256 << 10
	ring := &counted{Device: d}
	again := &live.FS{G: fs.G, V5: true, UUID: fs.UUID, Cache: buffer.New(ring, buffer.Config{
		Device: "test", Limit: limit, Depth: 32, Place: func(int64) int64 { return 0 },
	})}
	tr = &Tree{Kind: Bnobt, AG: 1, Root: tr.Root}
	trans = again.Begin(0)
	n := 0
	for _, err := range tr.Records(trans) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 20000 || ring.most < 16 {
		t.Errorf("%d records, at most %d reads at a time", n, ring.most)
	}
	if got := again.Cache.Bytes(); got > limit {
		t.Errorf("it takes %d bytes of memory, of %d", got, int64(limit))
	}
}
