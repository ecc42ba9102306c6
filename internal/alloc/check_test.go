package alloc

import (
	"slices"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
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

// blocksOf lists the blocks of a tree, from the root downwards and each level from the
// left.
func blocksOf(t tb, tr *live.Trans, tree *btree.Tree) (list []geometry.AGBlock) {
	t.Helper()
	root, levels := tree.Root.Root()
	level := []geometry.AGBlock{geometry.AGBlock(root)}
	for ; levels > 0; levels-- {
		list = append(list, level...)
		if levels == 1 {
			break
		}
		var below []geometry.AGBlock
		for _, at := range level {
			b, h := treeBlock(t, tr, tree, at)
			_, ptrs := ondisk.BtreeNode(b[headerSize(tr):], tree.Key, 4)
			for i := range int(h.Records) {
				below = append(below, geometry.AGBlock(ondisk.Field32(4*i).Get(ptrs)))
			}
		}
		level = below
	}
	return list
}

func headerSize(tr *live.Trans) int {
	if tr.V5 {
		return ondisk.BtreeHeader
	}
	return ondisk.BtreeHeaderV4
}

func treeBlock(t tb, tr *live.Trans, tree *btree.Tree, at geometry.AGBlock) ([]byte, ondisk.BtreeBlock) {
	t.Helper()
	b, err := tr.Get(tr.Offset(tree.AG, at), int(tr.G.BlockSize), tree.Buffer(tr.V5))
	if err != nil {
		t.Fatal(err)
	}
	h, _ := ondisk.DecodeBtreeBlock(b.Data, tr.V5)
	return b.Data, h
}

// trees are the trees of an AG by name.
func trees(g *group) map[string]*btree.Tree {
	list := map[string]*btree.Tree{"bnobt": &g.bno, "cntbt": &g.cnt}
	if g.t.G.Features.Rmapbt {
		list["rmapbt"] = ownerTree(g.AGF)
	}
	return list
}

// ownerTree is the rmapbt, to be read.
func ownerTree(agf live.AGF) *btree.Tree {
	return &btree.Tree{Kind: btree.Rmapbt, AG: agf.AG, Root: &root{agf, ondisk.AGFRmapRoot, ondisk.AGFRmapLevel}}
}

// sameTrees compares AGF, free list and trees of free space and of owners of an AG in two
// filesystems, but for which change was the last.
func sameTrees(t tb, a, b *live.FS, agno geometry.AGNumber) {
	t.Helper()
	trA, trB := a.Begin(0), b.Begin(0)
	x, err := open(trA, agno)
	if err != nil {
		t.Fatal(err)
	}
	y, err := open(trB, agno)
	if err != nil {
		t.Fatal(err)
	}
	for f := ondisk.Field32(0); f < 96; f += 4 {
		if v, w := x.Get(f), y.Get(f); v != w {
			t.Errorf("AGF of AG %d: %d at byte %d, want %d", agno, v, f, w)
		}
	}
	listA, err := x.Listed()
	if err != nil {
		t.Fatal(err)
	}
	if listB, err := y.Listed(); err != nil || !slices.Equal(listA, listB) {
		t.Errorf("AGFL of AG %d: %v, want %v (%v)", agno, listA, listB, err)
	}
	treesB := trees(y)
	for name, tree := range trees(x) {
		blocks := blocksOf(t, trA, tree)
		if want := blocksOf(t, trB, treesB[name]); !slices.Equal(blocks, want) {
			t.Errorf("%s of AG %d: blocks %v, want %v", name, agno, blocks, want)
			continue
		}
		for _, at := range blocks {
			sameBlock(t, trA, trB, tree, treesB[name], at)
		}
	}
	for _, tr := range []*live.Trans{trA, trB} {
		if err := tr.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// sameBlock compares what is in use of a block of a tree.
func sameBlock(t tb, trA, trB *live.Trans, a, b *btree.Tree, at geometry.AGBlock) {
	t.Helper()
	x, h := treeBlock(t, trA, a, at)
	y, want := treeBlock(t, trB, b, at)
	h.LSN, want.LSN, h.CRC, want.CRC = 0, 0, 0, 0
	if h != want {
		t.Errorf("%s of AG %d, block %d: header %+v, want %+v", a.Name, a.AG, at, h, want)
		return
	}
	x, y = x[headerSize(trA):], y[headerSize(trB):]
	n := int(h.Records) * a.Record
	if h.Level > 0 {
		n = int(h.Records) * a.Key
		keys, ptrs := ondisk.BtreeNode(x, a.Key, 4)
		keysB, ptrsB := ondisk.BtreeNode(y, a.Key, 4)
		if !slices.Equal(ptrs[:4*h.Records], ptrsB[:4*h.Records]) {
			t.Errorf("%s of AG %d, block %d: pointers", a.Name, a.AG, at)
		}
		x, y = keys, keysB
	}
	for i := range n {
		if x[i] != y[i] {
			t.Errorf("%s of AG %d, block %d of level %d: byte %d of %d is %#x, want %#x", a.Name, a.AG, at, h.Level, i, n,
				x[i], y[i])
			return
		}
	}
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
	grown := len(blocksOf(t, tr, &g.bno)) + len(blocksOf(t, tr, &g.cnt)) - 2
	if fs.G.Features.Rmapbt {
		tree := ownerTree(g.AGF)
		blocks := len(blocksOf(t, tr, tree))
		grown += blocks - 1
		if n := g.Get(ondisk.AGFRmapBlocks); int(n) != blocks {
			t.Errorf("%d blocks of the rmapbt, AGF says %d", blocks, n)
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
