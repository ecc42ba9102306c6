package btree

import (
	"bytes"

	"mkfs/internal/ondisk"
)

// Update changes the record at the cursor to one that keeps its place.
// (xfs_btree_update in libxfs.)
func (c *Cursor) Update(record []byte) error {
	if _, ok := c.Record(); !ok {
		panic("btree: there is no record at the cursor to be updated")
	}
	p := &c.path[0]
	copy(p.entry(p.at), record)
	c.dirty(&p.block)
	if !c.Tree.overlaps() && p.at > 0 {
		return nil
	}
	return c.raiseKeys(0)
}

// dirty says that a block was changed. The root in a fork is the caller's to log.
func (c *Cursor) dirty(b *block) {
	if b.buf != nil {
		c.t.Dirty(b.buf)
	}
}

// keysOf are the keys of a block as those above it know it: the first, and in trees
// whose records may overlap the last end of all. (xfs_btree_get_keys in libxfs.)
func (tr *Tree) keysOf(key []byte, b *block) {
	if b.lay.ptr > 0 {
		copy(key, b.entry(0))
	} else {
		tr.putKey(key, b.entry(0))
	}
	if !tr.overlaps() {
		return
	}
	level := min(ondisk.BtreeLevel(b.data), node)
	last := b.entry(tr.highest[level](b.data[b.lay.first:], b.live()))
	if level == leaf {
		tr.putHigh(tr.high(key), last)
	} else {
		copy(tr.high(key), tr.high(last))
	}
}

// raiseKeys makes the keys of the block of a level known to those above it. It
// ends where nothing follows for those further up. (xfs_btree_update_keys in libxfs.)
func (c *Cursor) raiseKeys(level int) error { return c.raise(level, false) }

// raise is raiseKeys, which may go on to the root whatever it finds.
func (c *Cursor) raise(level int, all bool) error {
	tr := c.Tree
	key := tr.room.raised[:tr.Key]
	if level+1 < c.levels {
		tr.keysOf(key, &c.path[level].block)
	}
	for level++; level < c.levels; level++ {
		p := &c.path[level]
		if p.at < 0 || p.at >= p.live() {
			return tr.damagedBlock(p.ptr, errBeside)
		}
		at := p.entry(p.at)
		if tr.overlaps() && !all && tr.sameKeys(at, key) {
			return nil
		}
		copy(at, key)
		c.dirty(&p.block)
		switch {
		case tr.overlaps() && level+1 < c.levels:
			tr.keysOf(key, &p.block)
		case !tr.overlaps() && p.at > 0:
			return nil
		}
	}
	return nil
}

// sameKeys tells whether two pairs of keys are equal.
func (tr *Tree) sameKeys(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	same := func(a, b []byte) bool {
		_, sign := tr.Kind.keys(a, 1, tr.Key, b)
		return sign == 0
	}
	return same(a, b) && same(tr.high(a), tr.high(b))
}
