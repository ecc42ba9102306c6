package ialloc

import (
	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// makeChunk allocates a chunk of inodes, or a part of one, and enters it in both trees
// (xfs_ialloc_ag_alloc). The result is none if there is no room for it.
func (g *group) makeChunk() (result, error) {
	t, c := g.t, g.t.InodeChunk()
	if c.MaxInodes > 0 && t.Counts.Inodes+uint64(t.G.ChunkInodes()) > c.MaxInodes {
		return full, nil
	}
	at, n, ok, err := g.chunkSpace(c)
	if err != nil || !ok {
		return none, err
	}
	if err := g.writeFree(at, n); err != nil {
		return none, err
	}
	start, err := g.enterChunk(at, n, c)
	if err != nil {
		return none, err
	}
	inodes := int(n) << t.G.InodeBlockLog()
	g.AddCount(inodes)
	g.AddFreeCount(inodes)
	g.SetNewInode(start)
	g.changed()
	t.Counts.Inodes += uint64(inodes)
	t.Counts.FreeInodes += uint64(inodes)
	return found, nil
}

// chunkSpace allocates the blocks of a chunk, or of a part of one.
func (g *group) chunkSpace(c *geometry.InodeChunk) (geometry.AGBlock, geometry.Blocks, bool, error) {
	geo := g.t.G
	r := alloc.Request{
		Min: c.Blocks, Max: c.Blocks, MinLeft: geometry.Blocks(g.t.Heights().Inode), Owner: ownedByInodes,
	}
	behind := uint64(g.NewInode()>>geo.InodeBlockLog()) + uint64(c.Blocks)
	if g.NewInode() != geometry.NullAGInode && behind < uint64(g.Length()) {
		exact := r
		exact.AlignSlop = c.Align - 1 // what another place would take
		at := geo.FSBlock(g.agno, geometry.AGBlock(behind))
		if at, n, ok, err := g.got(alloc.Exact(g.t, at, exact)); ok || err != nil {
			return at, n, ok, err
		}
	}
	root, _ := g.Root()
	near := geo.FSBlock(g.agno, geometry.AGBlock(root))
	for _, align := range []geometry.Blocks{c.Stripe, c.Align} {
		if align == 0 {
			continue
		}
		r.Align = align
		if at, n, ok, err := g.got(alloc.Near(g.t, near, r)); ok || err != nil {
			return at, n, ok, err
		}
	}
	if !g.sparse || c.SparseBlocks >= c.Blocks || geo.InodeAlign == 0 || geo.AGLength(g.agno) < geo.InodeAlign {
		return 0, 0, false, nil
	}
	// The record is that of a whole chunk, which must be within the AG and not begin with it.
	r.Min, r.Max, r.Align = c.SparseBlocks, c.SparseBlocks, geo.SparseAlign
	r.From = geometry.AGBlock(geo.InodeAlign)
	r.To = geometry.AGBlock(geo.AGLength(g.agno)/geo.InodeAlign*geo.InodeAlign - 1)
	return g.got(alloc.Near(g.t, near, r))
}

// got takes the AG off the address of what was allocated.
func (g *group) got(at geometry.FSBlock, n geometry.Blocks, ok bool, err error) (
	geometry.AGBlock, geometry.Blocks, bool, error) {
	_, agbno := g.t.G.BlockAddress(at)
	return agbno, n, ok, err
}

// enterChunk enters a chunk, or a part of one, in both trees. It returns the first inode
// of its record.
func (g *group) enterChunk(at geometry.AGBlock, n geometry.Blocks, c *geometry.InodeChunk) (start uint32, err error) {
	start = uint32(at) << g.t.G.InodeBlockLog()
	if n == c.Blocks {
		return start, g.enterWhole(start, uint32(n)<<g.t.G.InodeBlockLog())
	}
	r := g.partRecord(at, n)
	if err := g.enterPart(&g.ino, &r, true); err != nil {
		return 0, err
	}
	if g.finobt() { // which has what the inobt has, if it has any of it
		err = g.enterPart(&g.fino, &r, false)
	}
	return r.Start, err
}

// enterWhole enters records of a whole chunk, all of whose inodes are free
// (xfs_inobt_insert).
func (g *group) enterWhole(start, inodes uint32) error {
	for _, tr := range []*btree.Tree{&g.ino, &g.fino} {
		if tr == &g.fino && !g.finobt() {
			break
		}
		c := g.at(&g.cursor, tr)
		for i := uint32(0); i < inodes; i += chunk {
			there, err := g.lookup(c, btree.EQ, start+i)
			if err != nil {
				return err
			}
			if there {
				return g.errorf(tr.Name, "it has a record of inodes from %d on, in what was free space", start+i)
			}
			r := g.newRecord(start + i)
			if err := g.insert(c, &r); err != nil {
				return err
			}
		}
	}
	return nil
}

// partRecord is the record of a part of a chunk, with holes for the rest
// (xfs_align_sparse_ino).
func (g *group) partRecord(at geometry.AGBlock, n geometry.Blocks) record {
	log := g.t.G.InodeBlockLog()
	before := at % geometry.AGBlock(g.t.G.InodeAlign)
	inodes := uint32(n) << log
	there := (uint16(1)<<(inodes/ondisk.InodesPerHole) - 1) << (uint32(before) << log / ondisk.InodesPerHole)
	return record{ondisk.InodeRecord{
		Start: uint32(at-before) << log, Sparse: true, HoleMask: ^there,
		Count: uint8(inodes), FreeCount: inodes, Free: allFree,
	}}
}

// enterPart enters the record of a part of a chunk in a tree. If that has a record of the
// chunk r takes its place, and has the inodes of both if they are merged
// (xfs_inobt_insert_sprec).
func (g *group) enterPart(tr *btree.Tree, r *record, merge bool) error {
	c := g.at(&g.cursor, tr)
	there, err := g.lookup(c, btree.EQ, r.Start)
	if err != nil {
		return err
	}
	if !there {
		return g.insert(c, r)
	}
	if merge {
		has, err := g.record(c)
		if err != nil {
			return err
		}
		if has.HoleMask == 0 || has.there()&r.there() != 0 {
			return g.errorf(tr.Name, "the record of inodes from %d on has some in what was free space", r.Start)
		}
		r.Count += has.Count
		r.FreeCount += has.FreeCount
		r.HoleMask &= has.HoleMask
		r.Free &= has.Free
	}
	return g.put(c, r)
}
