package alloc

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// Free frees blocks of an AG at once. If the owner is zero the rmapbt is left alone.
// (__xfs_free_extent in libxfs.)
func Free(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o rmap.Owner,
	r Reserve) error {
	g, err := open(t, agno)
	if err != nil {
		return err
	}
	if _, err := g.fixFreeList(true); err != nil {
		return err
	}
	return g.free(geometry.Extent{Start: at, Blocks: n}, o, r)
}

// FreeLater frees blocks at the end of the transaction: see Free. The owner has no
// offset. (xfs_free_extent_later in libxfs.)
func FreeLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks, o rmap.Owner, r Reserve) {
	t.Defer(&freeExtents, live.Item{
		Op: uint8(r), Flags: flagsOf(o.Attr, o.Bmbt, false), Start: at, Blocks: n, Owner: o.Owner,
	})
}

// freeExtents are extents that are freed at the end of a transaction.
var freeExtents = live.Deferral{
	Name: "extent free",
	Finish: func(t *live.Trans, i *live.Item, _ bool) (bool, error) {
		agno, agbno := t.G.BlockAddress(i.Start)
		return true, Free(t, agno, agbno, i.Blocks, ownerOf(i), Reserve(i.Op))
	},
}

// freeListed are blocks that the free list had too many. Freeing one does not touch the
// list, which was made right just before. (xfs_agfl_free_finish_item in libxfs.)
var freeListed = live.Deferral{
	Name: "AGFL free",
	Finish: func(t *live.Trans, i *live.Item, _ bool) (bool, error) {
		agno, agbno := t.G.BlockAddress(i.Start)
		g, err := open(t, agno)
		if err != nil {
			return false, err
		}
		return true, g.free(geometry.Extent{Start: agbno, Blocks: 1}, listOwner, ReserveAGFL)
	},
}

// free puts an extent into both trees, as one with its neighbours.
// (xfs_free_ag_extent in libxfs.)
func (g *group) free(e geometry.Extent, o rmap.Owner, r Reserve) error {
	if !g.Has(e.Start, e.Blocks) {
		return g.Errorf("free space", "%d blocks at %d are to be freed, of %d", e.Blocks, e.Start, g.Length())
	}
	if o.Owner != 0 {
		if err := rmap.Unmap(g.t, g.AG, e.Start, e.Blocks, o); err != nil {
			return err
		}
	}
	bno := g.byPlace()
	left, right, err := bno.neighbours(e)
	if err != nil {
		return err
	}
	cnt := g.byLength()
	for _, n := range [...]geometry.Extent{left, right} {
		if n.Blocks > 0 {
			if err := cnt.remove(n); err != nil {
				return err
			}
		}
	}
	joined := e
	if left.Blocks > 0 {
		joined.Start = left.Start
	}
	joined.Blocks += left.Blocks + right.Blocks
	if err := bno.join(left, right, joined); err != nil {
		return err
	}
	if err := g.putByLength(cnt, joined); err != nil {
		return err
	}
	if g.FreeBlocks()+e.Blocks > g.Length() {
		return g.Errorf("AGF", "%d free blocks, and %d more, in an AG of %d", g.FreeBlocks(), e.Blocks, g.Length())
	}
	g.Add(ondisk.AGFFreeBlocks, int(e.Blocks))
	g.account(r, -int64(e.Blocks))
	return nil
}

// neighbours are the free extents that touch another, which is not free; of no blocks if
// there is none. The cursor is at the one behind it.
func (c *cursor) neighbours(e geometry.Extent) (left, right geometry.Extent, err error) {
	ok, err := c.lookup(btree.LE, e.Start, e.Blocks)
	if err == nil && ok {
		left, err = c.extent()
	}
	if err != nil {
		return left, right, err
	}
	if ok, err = c.Next(); err == nil && ok {
		right, err = c.extent()
	}
	if err != nil {
		return left, right, err
	}
	if left.Blocks > 0 && left.End() > e.Start || right.Blocks > 0 && right.Start < e.End() {
		return left, right, c.errorf("of %d blocks at %d some are free already", e.Blocks, e.Start)
	}
	if left.End() != e.Start {
		left = geometry.Extent{}
	}
	if right.Start != e.End() {
		right = geometry.Extent{}
	}
	return left, right, nil
}

// join makes records of neighbours into one. The cursor is behind the left one.
func (c *cursor) join(left, right, joined geometry.Extent) error {
	switch {
	case left.Blocks == 0 && right.Blocks == 0:
		return c.insert(joined)
	case left.Blocks == 0:
		return c.update(joined)
	case right.Blocks > 0:
		if err := c.Delete(); err != nil {
			return err
		}
	}
	if ok, err := c.Prev(); err != nil {
		return err
	} else if !ok {
		return c.errorf("the record before %d is gone", joined.End())
	}
	return c.update(joined)
}

// putByLength enters an extent in the cntbt.
func (g *group) putByLength(cnt *cursor, e geometry.Extent) error {
	there, err := cnt.lookup(btree.EQ, e.Start, e.Blocks)
	if err != nil {
		return err
	}
	if there {
		return cnt.errorf("the extent of %d blocks at %d is free already", e.Blocks, e.Start)
	}
	atEnd := cnt.Last()
	if err := cnt.insert(e); err != nil || !atEnd {
		return err
	}
	return g.fixLongest(cnt)
}
