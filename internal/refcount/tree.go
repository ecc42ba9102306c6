package refcount

import (
	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// keeper is what is kept of a filesystem, so that it need not be made again for each change.
type keeper struct {
	// cursors are those of AGs that were used last, each in the place of its AG's number modulo theirs.
	cursors [16]cursor
	budget  budget
}

// of is the keeper of a filesystem.
func of(fs *live.FS) *keeper {
	k, ok := fs.Shared.(*keeper)
	if !ok {
		k = &keeper{budget: newBudget(fs)}
		fs.Shared = k
	}
	return k
}

// cursor is a place in the refcountbt of an AG. open makes it one of a transaction.
type cursor struct {
	live.AGF
	btree.Cursor
	*keeper
	t    *live.Trans
	tree btree.Tree
	buf  [ondisk.RefcountRecordSize]byte
}

// open gets the refcountbt of an AG.
func open(t *live.Trans, agno geometry.AGNumber) (*cursor, error) {
	agf, err := t.AGF(agno)
	if err != nil {
		return nil, err
	}
	k := of(t.FS)
	c := &k.cursors[int(agno)%len(k.cursors)]
	if c.keeper == nil || c.AG != agno {
		*c = cursor{keeper: k}
		c.tree = btree.Tree{Kind: btree.Refcountbt, AG: agno, Root: (*root)(c)}
	}
	c.AGF, c.t = agf, t
	c.Init(&c.tree, t)
	return c, nil
}

// root is the root of the refcountbt. It takes free blocks, which are set aside for it.
type root cursor

// ownedByTree owns the blocks of the refcountbt.
var ownedByTree = rmap.Owner{Owner: ondisk.OwnRefcount}

// Root is of btree.Root.
func (r *root) Root() (ptr uint64, levels int) {
	return uint64(r.Get(ondisk.AGFRefcountRoot)), int(r.Get(ondisk.AGFRefcountLevel))
}

// SetRoot is of btree.Root.
func (r *root) SetRoot(_ *live.Trans, ptr uint64, levels int) error {
	r.Set(ondisk.AGFRefcountRoot, uint32(ptr))
	r.Set(ondisk.AGFRefcountLevel, uint32(levels))
	return nil
}

// Alloc is of btree.Root: blocks are near the place of the first root. (xfs_refcountbt_alloc_block in libxfs.)
func (r *root) Alloc(t *live.Trans, _ uint64) (ptr uint64, ok bool, err error) {
	near := t.G.FSBlock(r.AG, t.G.Roots().Refcount)
	at, _, ok, err := alloc.Near(t, near, alloc.Request{
		Min: 1, Max: 1, Owner: ownedByTree, Reserve: alloc.ReserveMetadata,
	})
	if err != nil || !ok {
		return 0, false, err
	}
	r.Add(ondisk.AGFRefcountBlocks, 1)
	_, agbno := t.G.BlockAddress(at)
	return uint64(agbno), true, nil
}

// Free is of btree.Root. (xfs_refcountbt_free_block in libxfs.)
func (r *root) Free(t *live.Trans, ptr uint64) error {
	r.Add(ondisk.AGFRefcountBlocks, -1)
	alloc.FreeLater(t, t.G.FSBlock(r.AG, geometry.AGBlock(ptr)), 1, ownedByTree, alloc.ReserveMetadata)
	return nil
}

// lookup moves to the record of a domain at or before a block, or at or behind it.
func (c *cursor) lookup(o btree.Order, staged bool, at geometry.AGBlock) (bool, error) {
	return c.Lookup(o, c.encode(record{start: at, staged: staged}))
}

// record is the record at the cursor; ok is false if that is at none.
func (c *cursor) record() (r record, ok bool, err error) {
	b, ok := c.Record()
	if !ok {
		return r, false, nil
	}
	r = decode(b)
	fault := r.fault()
	if !c.Has(r.start, r.blocks) {
		fault = "is not within the AG"
	}
	if fault != "" {
		return r, false, c.errorf("the record of %d blocks at %d, count %d, %s", r.blocks, r.start, r.count, fault)
	}
	return r, true, nil
}

// find looks a record of a domain up; ok is false if there is none in that.
func (c *cursor) find(o btree.Order, staged bool, at geometry.AGBlock) (r record, ok bool, err error) {
	if ok, err = c.lookup(o, staged, at); err != nil || !ok {
		return r, false, err
	}
	return c.in(staged)
}

// in is record for those of a domain.
func (c *cursor) in(staged bool) (r record, ok bool, err error) {
	r, ok, err = c.record()
	return r, ok && r.staged == staged, err
}

// step moves to the next record (1) or to the one before (-1); ok is false if there is none of that domain.
func (c *cursor) step(by int, staged bool) (r record, ok bool, err error) {
	if by > 0 {
		ok, err = c.Next()
	} else {
		ok, err = c.Prev()
	}
	if err != nil || !ok {
		return r, false, err
	}
	return c.in(staged)
}

func (c *cursor) update(r record) error { return c.Update(c.encode(r)) }

func (c *cursor) insert(r record) error {
	ok, err := c.Insert(c.encode(r))
	if err == nil && !ok {
		err = c.errorf("no block is free for it to grow by")
	}
	return err
}

// remove deletes the record at the cursor, and moves to where it would be. (xfs_refcount_delete in libxfs.)
func (c *cursor) remove() error {
	r, ok, err := c.record()
	switch {
	case err != nil:
		return err
	case !ok:
		return c.errorf("no record where there is to be one")
	}
	if err := c.Delete(); err != nil {
		return err
	}
	_, err = c.lookup(btree.GE, r.staged, r.start)
	return err
}

// change looks up the record that begins where another does, which is to be there, and makes it a new one.
func (c *cursor) change(held, r record) error {
	if err := c.seek(held); err != nil {
		return err
	}
	return c.update(r)
}

// seek moves to a record, which is to be there.
func (c *cursor) seek(held record) error {
	found, ok, err := c.find(btree.LE, held.staged, held.start)
	if err == nil && (!ok || found.start != held.start) {
		err = c.errorf("the record of %d blocks at %d is gone", held.blocks, held.start)
	}
	return err
}

func (c *cursor) encode(r record) []byte {
	r.put(c.buf[:])
	return c.buf[:]
}

func (c *cursor) errorf(format string, args ...any) error {
	return c.Errorf("refcountbt", format, args...)
}
