package btree

// Update changes the record at the cursor to one that keeps its place.
// (xfs_btree_update in libxfs.)
func (c *Cursor) Update(record []byte) error {
	if _, ok := c.Record(); !ok {
		return c.Tree.damagedBlock(c.path[0].ptr, errNoPlace)
	}
	p, tr := &c.path[0], c.Tree
	at := p.entry(p.at)
	gone := tr.endOf(tr.room.gone[:], at, 0)
	copy(at, record)
	c.dirty(&p.block)
	return c.changed(0, p.at, gone, tr.endOf(tr.room.come[:], at, 0))
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
	tr.firstKey(key, b)
	if tr.overlaps() {
		tr.lastEnd(tr.high(key), b)
	}
}

// firstKey is the first key of a block.
func (tr *Tree) firstKey(key []byte, b *block) {
	if b.leaf() {
		tr.putKey(key, b.entry(0))
	} else {
		copy(key, b.entry(0))
	}
}

// changed makes known above that the entry in a slot of a level's block is new, another, or
// gone. In trees whose records may overlap it is told the end that has gone, and the one that has
// come, each nil if there is none.
func (c *Cursor) changed(level, slot int, gone, come []byte) error {
	switch {
	case c.Tree.overlaps():
		return c.raiseEnds(level, gone, come)
	case slot == 0:
		return c.raiseKeys(level)
	}
	return nil
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
