package alloc

import (
	"slices"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// state is what the structures of an AG say.
type state struct {
	free   []geometry.Extent // in order of place
	owners []ondisk.RmapRecord
	list   []geometry.AGBlock
}

// records reads all records of a tree.
func records(t tb, tr *live.Trans, tree *btree.Tree) (list [][]byte) {
	t.Helper()
	c := tree.Cursor(tr)
	first := make([]byte, tree.Record)
	for ok, err := c.Lookup(btree.GE, first); ; ok, err = c.Next() {
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return list
		}
		rec, _ := c.Record()
		list = append(list, slices.Clone(rec))
	}
}

// blocks counts the blocks of a tree but for its root.
func blocksBelow(t tb, tr *live.Trans, tree *btree.Tree) (n int) {
	t.Helper()
	g := tr.G
	root, levels := tree.Root.Root()
	level := []uint32{uint32(root)}
	for l := levels - 1; l > 0; l-- {
		var below []uint32
		for _, at := range level {
			b, err := tr.Get(tr.Offset(tree.AG, geometry.AGBlock(at)), int(g.BlockSize), tree.Buffer(tr.V5))
			if err != nil {
				t.Fatal(err)
			}
			h, _ := ondisk.DecodeBtreeBlock(b.Data, tr.V5)
			head := ondisk.BtreeHeaderV4
			if tr.V5 {
				head = ondisk.BtreeHeader
			}
			_, ptrs := ondisk.BtreeNode(b.Data[head:], tree.Key, 4)
			for i := range int(h.Records) {
				below = append(below, ondisk.Field32(4*i).Get(ptrs))
			}
		}
		n += len(below)
		level = below
	}
	return n
}

// check reads an AG, and tells where its structures disagree with each other.
func check(t tb, fs *live.FS, agno geometry.AGNumber) (s state) {
	t.Helper()
	tr := fs.Begin(0)
	g, err := open(tr, agno)
	if err != nil {
		t.Fatal(err)
	}
	var total, longest geometry.Blocks
	for _, rec := range records(t, tr, &g.bno) {
		r := ondisk.DecodeAllocRecord(rec)
		e := geometry.Extent{Start: geometry.AGBlock(r.Start), Blocks: geometry.Blocks(r.Blocks)}
		if n := len(s.free); n > 0 && s.free[n-1].End() >= e.Start {
			t.Errorf("free extents %v and %v", s.free[n-1], e)
		}
		s.free = append(s.free, e)
		total += e.Blocks
		longest = max(longest, e.Blocks)
	}
	var byLength []geometry.Extent
	for _, rec := range records(t, tr, &g.cnt) {
		r := ondisk.DecodeAllocRecord(rec)
		byLength = append(byLength, geometry.Extent{Start: geometry.AGBlock(r.Start), Blocks: geometry.Blocks(r.Blocks)})
	}
	sorted := slices.Clone(s.free)
	slices.SortStableFunc(sorted, func(a, b geometry.Extent) int { return int(a.Blocks) - int(b.Blocks) })
	if !slices.Equal(sorted, byLength) {
		t.Errorf("cntbt has %v, bnobt %v", byLength, s.free)
	}
	if s.list, err = g.Listed(); err != nil {
		t.Fatal(err)
	}
	grown := blocksBelow(t, tr, &g.bno) + blocksBelow(t, tr, &g.cnt)
	if fs.G.Features.Rmapbt {
		tree := rmap.Tree(g.AGF)
		below := blocksBelow(t, tr, tree)
		grown += below
		if n := g.Get(ondisk.AGFRmapBlocks); int(n) != below+1 {
			t.Errorf("%d blocks of the rmapbt, AGF says %d", below+1, n)
		}
		for _, rec := range records(t, tr, tree) {
			s.owners = append(s.owners, ondisk.DecodeRmapRecord(rec))
		}
		s.checkOwners(t, g)
	}
	for _, n := range []struct {
		what      string
		got, want int
	}{
		{"free blocks", int(g.FreeBlocks()), int(total)},
		{"longest", int(g.Longest()), int(longest)},
		{"btree blocks", int(g.Get(ondisk.AGFBtreeBlocks)), grown},
	} {
		if n.got != n.want {
			t.Errorf("%s: %d, want %d", n.what, n.got, n.want)
		}
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	return s
}

// checkOwners tells whether all blocks are either free or someone's, and those of the
// free list and of the trees the AG's.
func (s *state) checkOwners(t tb, g *group) {
	t.Helper()
	owner := make([]uint64, g.Length())
	set := func(at, n uint32, o uint64) {
		for b := at; b < at+n; b++ {
			if owner[b] != 0 {
				t.Errorf("block %d is of %#x and %#x", b, owner[b], o)
			}
			owner[b] = o
		}
	}
	for _, e := range s.free {
		set(uint32(e.Start), uint32(e.Blocks), ^uint64(0))
	}
	for i, r := range s.owners {
		set(r.Start, r.Blocks, r.Owner)
		if i == 0 {
			continue
		}
		before := s.owners[i-1]
		joins := before.Start+before.Blocks == r.Start && before.Owner == r.Owner
		if joins && (r.Owner>>63 != 0 || before.Offset+uint64(before.Blocks) == r.Offset) {
			t.Errorf("%v and %v could be one", before, r)
		}
	}
	for b, o := range owner {
		if o == 0 {
			t.Errorf("block %d is nobody's", b)
		}
	}
	for _, b := range s.list {
		if owner[b] != ondisk.OwnAG {
			t.Errorf("block %d of the free list is of %#x", b, owner[b])
		}
	}
}

// differ compares the blocks of an AG's headers and trees of free space and owners.
func differ(t tb, g *geometry.Geometry, agno geometry.AGNumber, got, want *livetest.Device) {
	t.Helper()
	names := map[int]string{0: "superblock", 1: "AGF", 2: "AGI", 3: "AGFL"}
	for i := range 4 {
		if diff := livetest.Differ(got, want, int64(g.Offset(agno, 0))+int64(i)*int64(g.SectorSize), int64(g.SectorSize)); diff != "" {
			t.Errorf("%s: %s", names[i], diff)
		}
	}
	for at := geometry.AGBlock(g.SectorBlocks()); at < geometry.AGBlock(g.HeaderBlocks()); at++ {
		if diff := livetest.Differ(got, want, int64(g.Offset(agno, at)), int64(g.BlockSize)); diff != "" {
			t.Errorf("block %d: %s", at, diff)
		}
	}
}
