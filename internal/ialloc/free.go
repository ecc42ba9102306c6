package ialloc

import (
	"math/bits"

	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Free gives an inode back that has no contents any more, and takes it off its list of
// unlinked inodes, if it is on it. If its chunk is empty then, the blocks of that are freed
// at the end of the transaction; where a block has more than one record they are kept.
// (xfs_inode_uninit, xfs_difree.)
func Free(t *live.Trans, ip *inode.Inode) error {
	agno, agino := t.G.InodeAddress(ip.Ino)
	g, err := open(t, agno)
	if err != nil {
		return err
	}
	r, empty, err := g.give(agino)
	if err != nil {
		return err
	}
	if g.finobt() {
		if err := g.giveListed(&r, agino-r.Start, empty); err != nil {
			return err
		}
	}
	if _, err := g.unlist(ip); err != nil {
		return err
	}
	ip.Clear(t.FS)
	ip.Log(t)
	if empty {
		g.drop(&r)
		return g.freeChunk(&r)
	}
	return nil
}

// drop has the transaction put none of its inodes into a chunk that is freed.
func (g *group) drop(r *record) {
	for i := range g.t.Inodes() {
		if ip, ok := i.(*inode.Inode); ok {
			if agno, agino := g.t.G.InodeAddress(ip.Ino); agno == g.agno && r.has(agino) {
				ip.Drop()
			}
		}
	}
}

// give gives an inode back to its record in the inobt, and removes the record if no inode
// of it is in use then (xfs_difree_inobt).
func (g *group) give(agino uint32) (r record, empty bool, err error) {
	c := g.at(&g.cursor, &g.ino)
	ok, err := g.lookup(c, btree.LE, agino)
	if err == nil && ok {
		r, err = g.record(c)
	}
	if err != nil {
		return r, false, err
	}
	if !ok || !r.has(agino) {
		return r, false, g.errorf("inobt", "there is no record of inode %d", agino)
	}
	i := agino - r.Start
	if r.Free>>i&1 != 0 {
		return r, false, g.errorf("inobt", "inode %d is free already", agino)
	}
	r.give(i)
	counts := &g.t.Counts
	empty = r.Free == allFree && g.t.G.InodesPerBlock() <= chunk
	g.changed()
	if !empty {
		g.AddFreeCount(1)
		counts.FreeInodes++
		return r, false, g.put(c, &r)
	}
	n := int(r.FreeCount)
	g.AddCount(-n)
	g.AddFreeCount(-(n - 1))
	counts.Inodes -= uint64(n)
	counts.FreeInodes -= uint64(n - 1)
	return r, true, c.Delete()
}

// giveListed gives an inode, counted from the start of its record, back to the finobt,
// which had the record if another of its inodes was free (xfs_difree_finobt).
func (g *group) giveListed(ino *record, i uint32, empty bool) error {
	c := g.at(&g.cursor, &g.fino)
	there, err := g.lookup(c, btree.EQ, ino.Start)
	if err != nil {
		return err
	}
	if !there {
		if ino.FreeCount != 1 {
			return g.errorf("finobt", "there is no record of the inodes from %d on, of which some are free", ino.Start)
		}
		return g.insert(c, ino)
	}
	r, err := g.record(c)
	if err != nil {
		return err
	}
	r.give(i)
	switch {
	case r.Free != ino.Free || r.FreeCount != ino.FreeCount:
		return g.errorf("finobt", "the record of the inodes from %d on is not that of the inobt", r.Start)
	case empty:
		return c.Delete()
	}
	return g.put(c, &r)
}

// freeChunk frees the blocks of a chunk that is empty: of one with holes those that are
// there (xfs_difree_inode_chunk). What was changed in them is forgotten.
func (g *group) freeChunk(r *record) error {
	log := g.t.G.InodeBlockLog()
	start := geometry.AGBlock(r.Start >> log)
	free := func(first, n int) {
		at := start + geometry.AGBlock(first>>log)
		blocks := geometry.Blocks(n >> log)
		g.forget(at, blocks)
		alloc.FreeLater(g.t, g.t.G.FSBlock(g.agno, at), blocks, ownedByInodes, alloc.ReserveNone)
	}
	if r.HoleMask == 0 {
		free(0, chunk)
		return nil
	}
	there := r.there()
	for at := 0; at < chunk; {
		at += bits.TrailingZeros64(there >> at)
		if at >= chunk {
			break
		}
		n := bits.TrailingZeros64(^(there >> at))
		if part := int(g.t.InodeChunk().SparseBlocks) << log; at%part != 0 || n%part != 0 {
			return g.errorf("inobt", "the record of the inodes from %d on has holes that are no parts of a chunk", r.Start)
		}
		free(at, n)
		at += n
	}
	return nil
}

// forget drops the clusters of blocks that are freed.
func (g *group) forget(at geometry.AGBlock, n geometry.Blocks) {
	g.t.Cache.Forget(g.t.Offset(g.agno, at), int64(g.t.G.Bytes(n)))
}
