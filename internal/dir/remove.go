package dir

import (
	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/ondisk"
)

// free makes the space of the entry that was located free.
func (o *op) free(k block) error {
	if err := o.checkMatch(k); err != nil {
		return err
	}
	if k.release(o.match.at, k.sizeAt(o.match.at)) {
		k.scan()
	}
	o.t.Dirty(o.match.buf)
	return nil
}

// empty tells whether there is nothing in a block of entries whose longest free space is that long.
func (d *Dirs) empty(longest int) bool { return longest == d.bytes-d.header }

// removeBlock takes the entry out of a directory of one block, which becomes a shortform if it fits the
// inode (xfs_dir2_block_removename).
func (o *op) removeBlock() error {
	b := o.match.buf
	k := o.d.blockIn(b)
	if err := o.free(k); err != nil {
		return err
	}
	k.setStale(k.stale() + 1)
	k.index().SetValue(o.match.slot, 0)
	return o.blockToShort(b, k)
}

// removeLeaf takes the entry out of a directory whose index is one block, and its block if nothing else
// is in that (xfs_dir2_leaf_removename).
func (o *op) removeLeaf() error {
	d, m := o.d, &o.match
	lb, l, err := o.leafBlock()
	if err != nil {
		return err
	}
	k := d.blockIn(m.buf)
	if m.db >= l.bests() || l.best(m.db) != k.longest() {
		return d.damaged(o.dp, "the list of free space is wrong about block %d", m.db)
	}
	if err := o.free(k); err != nil {
		return err
	}
	l.v.SetLevel(l.v.Level() + 1)
	l.v.Entries().SetValue(m.slot, 0)
	l.setBest(m.db, k.longest())
	o.t.Dirty(lb)
	if d.empty(k.longest()) {
		ok, err := o.shrinkEntries(m.db, m.buf)
		if !ok || err != nil {
			return err
		}
		l.drop(m.db)
	}
	return o.leafToBlock(lb, l)
}

// drop takes a block that is gone off the list. At its end others that are gone go as well.
func (l leaf1) drop(db int) {
	n := l.bests()
	if db < n-1 {
		l.setBest(db, noBest)
		return
	}
	for db--; db > 0 && l.best(db) == noBest; {
		db--
	}
	l.cut(n - 1 - db)
}

// cut takes the last n blocks off the list. It begins that much farther behind then.
func (l leaf1) cut(n int) {
	from, left := l.bestAt(0), l.bests()-n
	copy(l.b[from+n*ondisk.DirBestSize:], l.b[from:from+left*ondisk.DirBestSize])
	l.setBests(left)
}

// leafToBlock makes the directory one block if all fits one. Empty blocks at the end, which there was no
// room to give back, go. (xfs_dir2_leaf_to_block.)
func (o *op) leafToBlock(lb *buffer.Buf, l leaf1) error {
	d := o.d
	for o.dp.Core.Size > uint64(d.bytes) {
		db := l.bests() - 1
		if db < 0 || !d.empty(l.best(db)) {
			return nil
		}
		if err := o.trim(db); err != nil {
			return err
		}
		l.cut(1)
	}
	b, k, err := o.get(0)
	if err != nil {
		return err
	}
	live := l.v.Count() - l.v.Level()
	size := blockTail + live*hashSize
	last := k.before(d.bytes)
	if !k.isFree(last) || k.freeLength(last) < size {
		return nil
	}
	b.Kind = &d.block.Kind
	be.PutUint32(b.Data, d.magicOf(blockMagic))
	scan := k.use(last, d.bytes-size, size)
	k.setIndexed(live)
	k.setStale(0)
	list, to := k.index(), 0
	for i := range l.v.Count() {
		if l.v.Entries().Value(i) != 0 {
			list.CopyFrom(to, l.v.Entries(), i, 1)
			to++
		}
	}
	if scan {
		k.scan()
	}
	o.t.Dirty(b)
	if ok, err := d.tree.Shrink(o.t, o.dp, d.leaf, lb); !ok || err != nil {
		return o.stays(d.leaf, err)
	}
	return o.blockToShort(b, k)
}

// trim gives back the last block of entries, which is empty (xfs_dir2_leaf_trim_data).
func (o *op) trim(db int) error {
	b, k, err := o.get(db)
	if err != nil {
		return err
	}
	if db == 0 || !o.d.empty(k.longest()) {
		return o.d.damaged(o.dp, "block %d is to be empty, and is not", db)
	}
	if ok, err := o.shrinkEntries(db, b); !ok || err != nil {
		return o.stays(o.d.place(db), err)
	}
	return nil
}

// stays is what an operation ends with that cannot give back a block: of those at an end of an extent
// that is an error.
func (o *op) stays(at da.Block, err error) error {
	if err == nil {
		err = o.d.damaged(o.dp, "block %d cannot be given back: %w", at, bmap.ErrNoRoom)
	}
	return err
}

// shrinkEntries gives back a block of entries. ok is false, and it is still there, if there is no room for
// that. (xfs_dir2_shrink_inode.)
func (o *op) shrinkEntries(db int, b *buffer.Buf) (ok bool, err error) {
	d, dp := o.d, o.dp
	at := d.place(db)
	if ok, err = d.tree.Shrink(o.t, dp, at, b); !ok || err != nil {
		return ok, err
	}
	if dp.Core.Size > uint64(db+1)<<d.g.DirBlockLog {
		return true, nil
	}
	end, err := bmap.LastOffset(o.t, dp, bmap.Data, uint64(at))
	if err != nil {
		return false, err
	}
	dp.Core.Size = end << d.g.BlockLog
	dp.Log(o.t)
	return true, nil
}
