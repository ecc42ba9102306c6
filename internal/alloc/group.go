package alloc

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// allocator is what is kept of a filesystem, so that it need not be made again for each
// allocation.
type allocator struct {
	// groups are AGs that were used last, each in the place of its number modulo theirs.
	groups [16]group
	// Places in trees, which a search uses at once.
	inCnt, inBno, inBno2 cursor
	search               locality
}

// of is the allocator of a filesystem.
func of(fs *live.FS) *allocator {
	a, ok := fs.Space.(*allocator)
	if !ok {
		a = &allocator{}
		fs.Space = a
	}
	return a
}

// group is an AG with its trees of free space. open makes it one of a transaction.
type group struct {
	live.AGF
	*allocator
	t        *live.Trans
	bno, cnt btree.Tree
	roots    [2]root
	request  Request // that a search is for
}

// open gets an AG.
func open(t *live.Trans, agno geometry.AGNumber) (*group, error) {
	agf, err := t.AGF(agno)
	if err != nil {
		return nil, err
	}
	a := of(t.FS)
	g := &a.groups[int(agno)%len(a.groups)]
	if g.allocator == nil || g.AG != agno {
		*g = group{allocator: a}
		g.roots = [2]root{
			{block: ondisk.AGFBnoRoot, level: ondisk.AGFBnoLevel}, {block: ondisk.AGFCntRoot, level: ondisk.AGFCntLevel},
		}
		g.bno = btree.Tree{Kind: btree.Bnobt, AG: agno, Root: &g.roots[0]}
		g.cnt = btree.Tree{Kind: btree.Cntbt, AG: agno, Root: &g.roots[1]}
	}
	g.AGF, g.t = agf, t
	g.roots[0].AGF, g.roots[1].AGF = agf, agf
	return g, nil
}

// root is the root of a tree of free space, which takes its blocks from the free list.
type root struct {
	live.AGF
	block, level ondisk.Field32
}

func (r *root) Root() (ptr uint64, levels int) { return uint64(r.Get(r.block)), int(r.Get(r.level)) }

func (r *root) SetRoot(_ *live.Trans, ptr uint64, levels int) error {
	r.Set(r.block, uint32(ptr))
	r.Set(r.level, uint32(levels))
	return nil
}

func (r *root) Alloc(*live.Trans, uint64) (ptr uint64, ok bool, err error) {
	at, ok, err := r.TakeListed(true)
	return uint64(at), ok, err
}

func (r *root) Free(_ *live.Trans, ptr uint64) error { return r.PutListed(geometry.AGBlock(ptr), true) }

// cursor is a place in a tree of free space.
type cursor struct {
	btree.Cursor
	g *group
	// active: the cursor is at a record, and a search goes on from there. A lookup
	// sets it; Next and Prev leave it to the search.
	active bool
	buf    [ondisk.AllocRecordSize]byte
}

// byPlace and byLength are cursors in the bnobt and in the cntbt, and another is a second
// one in the bnobt. There is one of each at a time.
func (g *group) byPlace() *cursor  { return g.at(&g.inBno, &g.bno) }
func (g *group) another() *cursor  { return g.at(&g.inBno2, &g.bno) }
func (g *group) byLength() *cursor { return g.at(&g.inCnt, &g.cnt) }

func (g *group) at(c *cursor, tree *btree.Tree) *cursor {
	c.Init(tree, g.t)
	c.g, c.active = g, false
	return c
}

// lookup moves to the record of an extent, or to that before or behind where it would be.
func (c *cursor) lookup(o btree.Order, at geometry.AGBlock, n geometry.Blocks) (bool, error) {
	var err error
	c.active, err = c.Lookup(o, c.encode(geometry.Extent{Start: at, Blocks: n}))
	return c.active, err
}

// find moves to the record of an extent, which is to be there.
func (c *cursor) find(e geometry.Extent) error {
	ok, err := c.lookup(btree.EQ, e.Start, e.Blocks)
	if err == nil && !ok {
		err = c.errorf("no record of the free extent of %d blocks at %d", e.Blocks, e.Start)
	}
	return err
}

// extent is the free extent at the cursor, which is to be at one.
func (c *cursor) extent() (e geometry.Extent, err error) {
	rec, ok := c.Record()
	if !ok {
		return e, c.errorf("no record where there is to be one")
	}
	r := ondisk.DecodeAllocRecord(rec)
	e = geometry.Extent{Start: geometry.AGBlock(r.Start), Blocks: geometry.Blocks(r.Blocks)}
	if !c.g.Has(e.Start, e.Blocks) {
		return e, c.errorf("a free extent of %d blocks at %d, in an AG of %d", e.Blocks, e.Start, c.g.Length())
	}
	return e, nil
}

// put enters an extent where it belongs.
func (c *cursor) put(e geometry.Extent) error {
	there, err := c.lookup(btree.EQ, e.Start, e.Blocks)
	if err != nil {
		return err
	}
	if there {
		return c.errorf("the extent of %d blocks at %d is free already", e.Blocks, e.Start)
	}
	return c.insert(e)
}

// insert enters an extent at the cursor.
func (c *cursor) insert(e geometry.Extent) error {
	ok, err := c.Insert(c.encode(e))
	if err == nil && !ok {
		err = c.errorf("no block on the free list is left for it to grow by")
	}
	return err
}

// remove removes the record of an extent.
func (c *cursor) remove(e geometry.Extent) error {
	if err := c.find(e); err != nil {
		return err
	}
	return c.Delete()
}

func (c *cursor) update(e geometry.Extent) error { return c.Update(c.encode(e)) }

// step moves to the next record, or to the one before.
func (c *cursor) step(forward bool) (bool, error) {
	if forward {
		return c.Next()
	}
	return c.Prev()
}

func (c *cursor) encode(e geometry.Extent) []byte {
	ondisk.AllocRecord{Start: uint32(e.Start), Blocks: uint32(e.Blocks)}.Put(c.buf[:])
	return c.buf[:]
}

func (c *cursor) errorf(format string, args ...any) error {
	return c.g.Errorf(c.Tree.Name, format, args...)
}
