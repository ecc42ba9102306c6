package da

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// grown is a world with n records, on disk and not in memory.
func grown(t testing.TB, sh shape, n uint32) *world {
	w := newWorld(t, sh)
	for i := range n {
		if ok, err := w.insert(record{i * 977 % n / 3, i}, false); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	w.reopen(t)
	return w
}

// damage changes a block on disk, and seals it again.
func (w *world) damage(at Block, change func(b []byte)) {
	e := w.tr.find(w.ip, uint64(at))
	off := w.tr.offset(e, uint64(at))
	b := make([]byte, w.tr.Bytes)
	_, _ = w.dev.ReadAt(b, off)
	change(b)
	if w.fs.V5 {
		ondisk.Seal(b, ondisk.DABlockCRC)
	}
	_, _ = w.dev.WriteAt(b, off)
}

// Whatever is wrong in a block is an error, with its place, or is not seen; nothing panics or
// goes on for ever.
func TestDamage(t *testing.T) {
	for _, name := range []string{"V5", "V4", "large", "stubborn"} {
		t.Run(name, func(t *testing.T) {
			w := grown(t, shapes[name], 200)
			clean, ip := w.dev.Clone(), slices.Clone(w.tr.fork(w.ip).Extents)
			rapid.Check(t, func(t *rapid.T) {
				w.dev = clean.Clone()
				w.fs.Cache = buffer.New(w.dev, buffer.Config{Device: "test"})
				w.tr.fork(w.ip).Extents = slices.Clone(ip)
				w.ip.Core.Blocks = 1000
				places := int(ip[0].End()-rootAt) / int(w.tr.Blocks)
				for range rapid.IntRange(1, 4).Draw(t, "damages") {
					at := w.place(rapid.IntRange(0, min(places, 8)).Draw(t, "block"))
					w.damage(at, func(b []byte) {
						off := 4 * rapid.IntRange(0, 2).Draw(t, "word")
						if rapid.Bool().Draw(t, "entries") {
							off = 12 + 44*map[bool]int{true: 1}[w.fs.V5] + 4*rapid.IntRange(0, 14).Draw(t, "entry")
						}
						v := rapid.SampledFrom([]uint32{0, 1, uint32(w.place(0)), uint32(w.place(1)), uint32(at), uint32(w.place(3)), 0x10001, 0xffffffff}).
							Draw(t, "value")
						if rapid.Bool().Draw(t, "half") {
							binary.BigEndian.PutUint16(b[off+2*rapid.IntRange(0, 1).Draw(t, "which"):], uint16(v))
							return
						}
						binary.BigEndian.PutUint32(b[off:], v)
					})
				}
				for range 20 {
					r := record{rapid.Uint32Range(0, 80).Draw(t, "hash"), rapid.Uint32Range(0, 250).Draw(t, "value")}
					op := rapid.SampledFrom([]func(record) (bool, error){
						w.lookup, w.remove, w.remove, func(r record) (bool, error) { return w.insert(r, false) },
					}).Draw(t, "op")
					if _, err := op(r); err != nil {
						if !strings.Contains(err.Error(), "inode 4660: block ") {
							t.Fatalf("no place: %v", err)
						}
						return // the transaction is not to be used any more
					}
				}
			})
		})
	}
}

// Each thing that is checked is told.
func TestDamageIsTold(t *testing.T) {
	type damage struct {
		want string
		at   int
		do   func(d ondisk.DABlock)
	}
	all := []damage{
		{"magic number 0x1234", 0, func(d ondisk.DABlock) { d.SetMagic(0x1234) }},
		{"a node of level 0", 0, func(d ondisk.DABlock) { d.SetLevel(0) }},
		{"a node of level 6", 0, func(d ondisk.DABlock) { d.SetLevel(6) }},
		{"of level 1, where one of level 2", 0, func(d ondisk.DABlock) { d.SetLevel(3) }},
		{"0 entries, where there may be 1 to 8", 0, func(d ondisk.DABlock) { d.SetCount(0) }},
		{"9 entries", 0, func(d ondisk.DABlock) { d.SetCount(9) }},
		{"no block of the index begins there", 0, func(d ondisk.DABlock) { d.Entries().SetValue(0, 3) }},
		{"no block of the index begins there", 0, func(d ondisk.DABlock) { d.Entries().SetValue(0, rootAt+1) }},
		{"not mapped", 0, func(d ondisk.DABlock) { d.Entries().SetValue(0, rootAt+2000) }},
		{"points back to the root", 0, func(d ondisk.DABlock) { d.Entries().SetValue(0, rootAt) }},
		{"of level 0, where one of level 1", 0, func(d ondisk.DABlock) { d.Entries().SetValue(0, rootAt+2*4) }},
	}
	v5 := []damage{
		{"belongs to inode 7", 1, func(d ondisk.DABlock) { binary.BigEndian.PutUint64(d.B[ondisk.DABlockOwner:], 7) }},
		{"its place is 1,", 1, func(d ondisk.DABlock) { d.SetBlkno(1) }},
		{"another filesystem", 1, func(d ondisk.DABlock) { d.B[40]++ }},
	}
	for _, sh := range []shape{
		{block: 1024, bytes: 2048, nodes: 8, leaves: 3}, {v4: true, block: 512, bytes: 1024, nodes: 8, leaves: 3},
	} {
		list := all
		if !sh.v4 {
			list = append(slices.Clone(all), v5...)
		}
		for _, c := range list {
			w := newWorld(t, sh)
			w.forest(t, 3, 3)
			w.reopen(t)
			w.damage(w.place(c.at), func(b []byte) { c.do(ondisk.DABlock{B: b, V5: w.fs.V5}) })
			_, err := w.lookup(record{10, 1010})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "test of inode 4660: block ") {
				t.Errorf("%+v: %v, want %s", sh, err, c.want)
			}
		}
	}
	w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 8, leaves: 3})
	w.forest(t, 3, 3)
	w.reopen(t)
	e := w.tr.find(w.ip, rootAt)
	_, _ = w.dev.WriteAt([]byte{1}, w.tr.offset(e, rootAt)+1000)
	if _, err := w.lookup(record{10, 1010}); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Error(err)
	}
}

// Siblings that do not know each other are found when one of them is split or joined.
func TestDamagedLinks(t *testing.T) {
	for _, c := range []struct {
		want    string
		at      int
		back    int
		forward int
		remove  bool // the first leaf, or enter a record there
	}{
		{"it is no neighbour of block 67", 68 - rootAt, 5, 5, false},
		{"it is no neighbour of block 68", 68 - rootAt, 5, 5, true},
		{"no block of the index begins there", 67 - rootAt, 0, -9, false},
		{"it is not of the level of its sibling", 65 - rootAt, 0, 2, true},
		{"it is not of the level of its sibling", 65 - rootAt, 5, 6, true},
		{"it is its own sibling", 67 - rootAt, 0, 0, true},
	} {
		w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 8, leaves: 3})
		w.forest(t, 3, 3)
		w.reopen(t)
		w.damage(w.place(c.at), func(b []byte) {
			d := ondisk.DABlock{B: b, V5: true}
			d.SetBack(uint32(rootAt + c.back))
			d.SetForward(uint32(rootAt + c.forward))
			if c.want == "it is its own sibling" {
				d.SetBack(0)
				d.SetForward(uint32(rootAt + c.at))
			}
		})
		if c.want == "it is its own sibling" {
			w.damage(65, func(b []byte) { ondisk.DABlock{B: b, V5: true}.Entries().SetValue(1, 67) })
		}
		var err error
		if c.remove {
			for i := uint32(1); i <= 3 && err == nil; i++ {
				_, err = w.remove(record{10, 1000*i + 10})
			}
		} else {
			_, err = w.insert(record{5, 5}, false)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Siblings that the nodes above them do not know as such are not joined.
func TestDamagedSiblings(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 8, leaves: 3})
	w.forest(t, 3, 3, 3)
	w.reopen(t)
	w.damage(65, func(b []byte) { ondisk.DABlock{B: b, V5: true}.SetForward(67) })
	w.damage(67, func(b []byte) { ondisk.DABlock{B: b, V5: true}.SetBack(65) })
	err := error(nil)
	for i := uint32(1); i <= 3 && err == nil; i++ {
		_, err = w.remove(record{10, 1000*i + 10})
	}
	if err == nil || !strings.Contains(err.Error(), "no sibling by the nodes above") {
		t.Error(err)
	}
}

// Nodes whose entries all lead to one leaf, which ends with the hash that is looked for, are not
// gone through for ever.
func TestManyEqual(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024})
	tx := w.fs.Begin(0)
	for level := 0; level < MaxDepth; level++ {
		var list []record
		for range w.tr.NodeEntries {
			list = append(list, record{5, uint32(w.place(MaxDepth - level))})
		}
		w.put(t, tx, w.place(MaxDepth-1-level), level, 0, 0, list...)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.lookup(record{5, 1}); err == nil || !strings.Contains(err.Error(), "more leaves than blocks") {
		t.Error(err)
	}
}

// In an attribute fork no block takes the place of one that cannot be given back.
func TestStubbornAttributes(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 8, leaves: 3, stubborn: true, fork: bmap.Attr})
	w.forest(t, 3, 3)
	err := error(nil)
	for i := uint32(1); i <= 3 && err == nil; i++ {
		_, err = w.remove(record{20, 1000*i + 20})
	}
	if !errors.Is(err, bmap.ErrNoRoom) {
		t.Error(err)
	}
}

// A fork that has blocks up to the end of the index gets no more.
func TestIndexEnds(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 2048})
	w.tr.End = rootAt + 6
	w.s.Begin(w.tr, w.fs.Begin(0), w.ip, nil, 0, 0)
	for i := range 3 {
		at, ok, err := w.s.GrowIndex()
		if i < 2 && (at != w.place(i+1) || !ok || err != nil) || i == 2 && (ok || err == nil) {
			t.Errorf("%d: %d, %v, %v", i, at, ok, err)
		}
	}
	w.ip.Data.Extents = []inode.Extent{{Offset: rootAt, Blocks: 1<<32 - rootAt - 1}}
	w.tr.End = 1<<32 - 1
	if _, ok, err := w.s.GrowIndex(); ok || err != nil {
		t.Error(ok, err)
	}
}

// Leaves are told from nodes, and holes from blocks.
func TestRead(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 1024, nodes: 8, leaves: 3})
	w.forest(t, 3, 3)
	tx := w.fs.Begin(0)
	if b, err := w.tr.ReadLeaf(tx, w.ip, 67); err != nil || w.tr.IsNode(b) {
		t.Error(err)
	}
	if _, err := w.tr.ReadLeaf(tx, w.ip, 65); err == nil {
		t.Error("a node is a leaf")
	}
	if b, err := w.tr.Try(tx, w.ip, 2000, w.tr.Index); b != nil || err != nil {
		t.Error(b, err)
	}
	if _, err := w.tr.Fresh(tx, w.ip, 2000, w.tr.Index); err == nil {
		t.Error("a hole is a block")
	}
	w.tr.Blocks, w.tr.Bytes = 2, 2048 // of which the second half is a hole
	last := Block(w.ip.Data.Extents[0].End() - 1)
	if _, err := w.tr.Get(tx, w.ip, last, w.tr.Index); err == nil || !strings.Contains(err.Error(), "not mapped") {
		t.Error(err)
	}
	if _, err := w.tr.Fresh(tx, w.ip, last, w.tr.Index); err == nil || !strings.Contains(err.Error(), "not mapped") {
		t.Error(err)
	}
}
