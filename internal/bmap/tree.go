package bmap

import (
	"bytes"

	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/rmap"
)

// changeTree makes a change in the btree, step by step.
func (o *op) changeTree(c *change) error {
	list := steps[c.kind][c.edges]
	if list == nil {
		panic("bmap: a change that cannot be")
	}
	cur := o.cursor()
	for _, s := range list {
		e := c.extents[s.what]
		switch s.verb {
		case find, absent:
			if err := o.seek(e, s.verb == find); err != nil {
				return err
			}
		case update:
			if err := cur.Update(o.encode(e)); err != nil {
				return o.fail("%w", err)
			}
		case drop:
			if err := cur.Delete(); err != nil {
				return o.fail("%w", err)
			}
		case insert:
			if ok, err := cur.Insert(o.encode(e)); err != nil {
				return o.fail("%w", err)
			} else if !ok {
				return o.undo(c)
			}
		case next, prev:
			if err := o.step(s.verb, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// encode is the record of an extent, good until the next one.
func (o *op) encode(e inode.Extent) []byte {
	e.Put(o.record[:])
	return o.record[:]
}

// seek moves the cursor to the record of an extent, which is to be there or not.
func (o *op) seek(e inode.Extent, there bool) error {
	record := o.encode(e)
	ok, err := o.cursor().Lookup(btree.EQ, record)
	switch {
	case err != nil:
		return o.fail("%w", err)
	case ok != there && there:
		return o.fail("the btree has no extent at %d", e.Offset)
	case ok != there:
		return o.fail("the btree has another extent at %d", e.Offset)
	}
	if found, _ := o.cur.Record(); there && !bytes.Equal(found, record) {
		return o.fail("the extent at %d is another in the btree", e.Offset)
	}
	return nil
}

// step moves the cursor by one. The end of the btree is a place for an insertion.
func (o *op) step(v verb, c *change) error {
	move := o.cur.Next
	if v == prev {
		move = o.cur.Prev
	}
	if ok, err := move(); err != nil {
		return o.fail("%w", err)
	} else if !ok && c.kind != remove {
		return o.fail("the btree ends beside the extent at %d", c.extents[whole].Offset)
	}
	return nil
}

// undo makes the btree what it was before an insertion for which there was no block, if that can be.
func (o *op) undo(c *change) error {
	if c.kind == remove {
		if err := o.seek(c.extents[head], true); err != nil {
			return err
		}
		if err := o.cur.Update(o.encode(c.extents[old])); err != nil {
			return o.fail("%w", err)
		}
	}
	return o.fail("%w", ErrNoRoom)
}

// owner owns the blocks of the btree.
func (o *op) owner() rmap.Owner {
	return rmap.Owner{Owner: uint64(o.ip.Ino), Attr: o.id == Attr, Bmbt: true}
}

// blocks are where a fork's btree has its blocks from.
type blocks struct{ *op }

// Root is of btree.Root. The root is in the fork.
func (b blocks) Root() (uint64, int) { panic("bmap: the root is in the fork") }

// SetRoot is of btree.Root.
func (b blocks) SetRoot(*live.Trans, uint64, int) error { panic("bmap: the root is in the fork") }

// Alloc is of btree.Root. (xfs_bmbt_alloc_block in libxfs.)
func (b blocks) Alloc(t *live.Trans, near uint64) (uint64, bool, error) {
	if t.Reserve == 0 {
		return 0, false, nil
	}
	r := alloc.Request{Min: 1, Max: 1, Owner: b.owner()}
	if !t.Allocated {
		r.MinLeft = b.minLeft()
	}
	at, _, ok, err := alloc.StartAG(t, geometry.FSBlock(near), r)
	if err == nil && !ok && r.MinLeft > 0 {
		r.MinLeft = 0
		at, _, ok, err = alloc.StartAG(t, 0, r)
		t.LowSpace = true
	}
	if err != nil || !ok {
		return 0, false, err
	}
	b.ip.Core.Blocks++
	b.ip.Log(t)
	return uint64(at), true, nil
}

// Free is of btree.Root. (xfs_bmbt_free_block in libxfs.)
func (b blocks) Free(t *live.Trans, ptr uint64) error {
	if b.ip.Core.Blocks == 0 {
		return b.fail("it has a btree, and no blocks")
	}
	alloc.FreeLater(t, geometry.FSBlock(ptr), 1, b.owner(), alloc.ReserveNone)
	b.ip.Core.Blocks--
	b.ip.Log(t)
	return nil
}

// takeOne allocates a block that is near the inode, and the fork's at once.
func (o *op) takeOne(total geometry.Blocks) (geometry.FSBlock, bool, error) {
	at, _, ok, err := alloc.StartAG(o.t, o.home(), alloc.Request{
		Min: 1, Max: 1, Total: total, Owner: rmap.Owner{Owner: uint64(o.ip.Ino), Attr: o.id == Attr},
	})
	return at, ok, err
}
