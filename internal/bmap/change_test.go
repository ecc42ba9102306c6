package bmap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
)

// records is a btree as far as the steps of a change can tell: records in order of offset, and a place.
type records struct {
	list []inode.Extent
	at   int
}

// do does the steps of a change.
func (r *records) do(t *rapid.T, c *change) {
	list := steps[c.kind][c.edges]
	if list == nil {
		t.Fatalf("change %d has no steps for edges %04b", c.kind, c.edges)
	}
	for _, s := range list {
		e := c.extents[s.what]
		switch s.verb {
		case find, absent:
			var ok bool
			r.at, ok = slices.BinarySearchFunc(r.list, e, func(a, b inode.Extent) int { return int(a.Offset) - int(b.Offset) })
			if ok != (s.verb == find) || ok && r.list[r.at] != e {
				t.Fatalf("change %d, edges %04b: looks for %v in %v", c.kind, c.edges, e, r.list)
			}
		case update:
			r.list[r.at] = e
		case insert:
			r.list = slices.Insert(r.list, r.at, e)
		case drop:
			r.list = slices.Delete(r.list, r.at, r.at+1)
		case next:
			r.at++
		case prev:
			r.at--
		}
		if !slices.IsSortedFunc(r.list, func(a, b inode.Extent) int { return int(a.Offset) - int(b.Offset) }) {
			t.Fatalf("change %d, edges %04b: %v is not in order after %v", c.kind, c.edges, r.list, s)
		}
	}
}

// state is of a block of a file: where it is, and whether that is unwritten.
type state struct {
	start     geometry.FSBlock
	unwritten bool
}

// blocksOf lists the blocks that extents map.
func blocksOf(t *rapid.T, list []inode.Extent) map[uint64]state {
	m := map[uint64]state{}
	end := uint64(0)
	for _, e := range list {
		if e.Blocks == 0 || e.Offset < end {
			t.Fatalf("%v is no list of extents", list)
		}
		for i := range uint64(e.Blocks) {
			m[e.Offset+i] = state{e.Start + geometry.FSBlock(i), e.Unwritten}
		}
		end = e.End()
	}
	return m
}

// Whatever the change, memory and the btree get the same extents; these map what is to be mapped, and as few as there
// can be around the change. All rows of the table come up.
func TestChanges(t *testing.T) {
	seen := map[[2]uint8]bool{}
	rapid.Check(t, func(t *rapid.T) {
		f := &inode.Fork{}
		tree := &records{}
		model := map[uint64]state{}
		for range 40 {
			// Blocks are where they would be in an image of the file, or some way off, so that neighbours are often
			// contiguous.
			off := rapid.Uint64Range(0, 30).Draw(t, "off")
			n := rapid.Uint64Range(1, 6).Draw(t, "n")
			i := f.Search(off)
			var c change
			if i < len(f.Extents) && f.Extents[i].Offset <= off {
				e, _ := cut(f.Extents[i], off, geometry.Blocks(n))
				if rapid.Bool().Draw(t, "remove") {
					c = removed(f.Extents, i, e)
					for b := range uint64(e.Blocks) {
						delete(model, e.Offset+b)
					}
				} else {
					e.Unwritten = !e.Unwritten
					c = converted(f.Extents, i, e)
					note(model, e)
				}
			} else {
				if i < len(f.Extents) {
					n = min(n, f.Extents[i].Offset-off)
				}
				shift := rapid.SampledFrom([]uint64{0, 0, 0, 1000}).Draw(t, "shift")
				e := inode.Extent{Offset: off, Start: geometry.FSBlock(100 + off + shift), Blocks: geometry.Blocks(n),
					Unwritten: rapid.Bool().Draw(t, "unwritten")}
				c = added(f.Extents, i, e)
				note(model, e)
			}
			seen[[2]uint8{uint8(c.kind), uint8(c.edges)}] = true
			tree.do(t, &c)
			c.apply(f)
			if !slices.Equal(f.Extents, tree.list) {
				t.Fatalf("change %d, edges %04b: memory has %v, the btree %v", c.kind, c.edges, f.Extents, tree.list)
			}
			got := blocksOf(t, f.Extents)
			for off, s := range model {
				if got[off] != s {
					t.Fatalf("block %d is %v, want %v", off, got[off], s)
				}
			}
			if len(got) != len(model) {
				t.Fatalf("%d blocks, want %d", len(got), len(model))
			}
			if c.kind != remove && c.extents[whole] != f.Extents[c.at] {
				t.Fatalf("change %d, edges %04b: %v is not extent %d of %v", c.kind, c.edges, c.extents[whole], c.at, f.Extents)
			}
			for i := 1; i < len(f.Extents); i++ {
				if follows(f.Extents[i-1], f.Extents[i]) {
					t.Fatalf("change %d, edges %04b: two extents could be one in %v", c.kind, c.edges, f.Extents)
				}
			}
		}
	})
	for k := range steps {
		for e := range steps[k] {
			if !seen[[2]uint8{uint8(k), uint8(e)}] {
				t.Errorf("change %d with edges %04b did not come up", k, e)
			}
		}
	}
}

func note(model map[uint64]state, e inode.Extent) {
	for i := range uint64(e.Blocks) {
		model[e.Offset+i] = state{e.Start + geometry.FSBlock(i), e.Unwritten}
	}
}

// Extents are one only as far as a record can tell their length.
func TestLongest(t *testing.T) {
	const half = inode.MaxExtent / 2
	list := []inode.Extent{{Offset: 0, Start: 1000, Blocks: half}, {Offset: half + 2, Start: 1000 + half + 2, Blocks: half}}
	e := inode.Extent{Offset: half, Start: 1000 + half, Blocks: 2}
	c := added(list, 1, e)
	if c.edges != joinsLeft {
		t.Errorf("edges %04b, want only the extent before", c.edges)
	}
	e.Blocks, list[1].Offset, list[1].Start = 1, half+1, 1000+half+1
	if c = added(list, 1, e); c.edges != joinsLeft|joinsRight || c.extents[whole].Blocks != inode.MaxExtent {
		t.Errorf("edges %04b, %d blocks, want one extent of the greatest length", c.edges, c.extents[whole].Blocks)
	}
}
