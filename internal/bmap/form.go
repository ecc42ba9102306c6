package bmap

import (
	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// cursor is a cursor of the fork's btree.
func (o *op) cursor() *btree.Cursor {
	if !o.open {
		o.bind()
		o.cur.Init(&o.tree, o.t)
	}
	return &o.cur
}

// bind makes the tree that of the fork.
func (o *op) bind() {
	o.tree.Kind, o.tree.Owner, o.tree.Root, o.tree.Fork = btree.Bmbt, uint64(o.ip.Ino), blocks{o}, &o.f.Root
	o.open = true
}

// close lets go of the tree.
func (o *op) close() {
	o.tree.Root, o.tree.Fork, o.open = nil, nil, false
}

// toBtree gives a fork of extents a btree of one leaf. (xfs_bmap_extents_to_btree in libxfs.)
func (o *op) toBtree() error {
	at, _, ok, err := alloc.StartAG(o.t, o.home(), alloc.Request{Min: 1, Max: 1, Owner: o.owner()})
	if err != nil {
		return o.fail("%w", err)
	} else if !ok {
		return o.fail("%w", ErrNoRoom)
	}
	o.ip.Core.Blocks++
	o.ip.Log(o.t)
	o.bind()
	list := o.f.Extents
	err = o.tree.Plant(o.t, o.room(), uint64(at), len(list), func(i int, record []byte) { list[i].Put(record) })
	if err != nil {
		return o.fail("%w", err)
	}
	o.cur.Init(&o.tree, o.t)
	o.f.Format = ondisk.FormatBtree
	return nil
}

// toExtents takes the btree of a fork away. What it had is in memory.
// (xfs_bmap_btree_to_extents in libxfs.)
func (o *op) toExtents() error {
	root := &o.f.Root
	if root.Level() != 1 || root.Live() != 1 {
		return o.fail("%d extents are in a btree of level %d with %d blocks below its root", len(o.f.Extents), root.Level(),
			root.Live())
	}
	leaf := root.Below(0)
	if err := (blocks{o}).Free(o.t, leaf); err != nil {
		return err
	}
	agno, agbno := o.t.G.BlockAddress(geometry.FSBlock(leaf))
	o.t.Cache.Forget(o.t.Offset(agno, agbno), int64(o.t.G.BlockSize))
	root.Reset()
	o.f.Format = ondisk.FormatExtents
	o.close()
	return nil
}

// resize makes the root of the fork's btree fit the room that the fork has, and moves what it holds to a block if it
// does not. (xfs_bmap_add_attrfork_btree in libxfs.)
func (o *op) resize() error {
	if o.f.Root.Needs() > o.room() {
		cur := o.cursor()
		if err := o.seek(o.f.Extents[0], true); err != nil {
			return err
		}
		if ok, err := cur.PushDown(); err != nil {
			return o.fail("%w", err)
		} else if !ok {
			return o.fail("%w", ErrNoRoom)
		}
	}
	if !o.f.Root.Resize(o.room()) {
		return o.fail("the root of its btree needs %d bytes, and has %d", o.f.Root.Needs(), o.room())
	}
	return nil
}
