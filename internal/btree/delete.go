package btree

import "mkfs/internal/ondisk"

// Delete removes the record at the cursor, which is then at the one behind it. If that
// is in the next leaf the cursor is at none, and Next moves to it. Prev moves to the one
// before the record that was removed. (xfs_btree_delete in libxfs.)
func (c *Cursor) Delete() error {
	if _, ok := c.Record(); !ok {
		return c.Tree.damagedBlock(c.path[0].ptr, errNoPlace)
	}
	c.Tree.changes++
	joined := false
	for level := 0; ; level++ {
		up, err := c.deleteAt(level)
		if err != nil {
			return err
		}
		if !up {
			break
		}
		joined = true
	}
	// Where blocks were joined, the levels above know the old ends of the records below.
	if joined && c.Tree.overlaps() {
		return c.raise(0, true)
	}
	return nil
}

// deleteAt removes the entry at the cursor from the block of a level, and tells whether
// a block is empty then and to be removed from the level above, where the
// cursor is at it. (xfs_btree_delrec in libxfs.)
func (c *Cursor) deleteAt(level int) (up bool, err error) {
	p, tr := &c.path[level], c.Tree
	at, n := p.at, p.live()
	if at < 0 || at >= n {
		return false, tr.damagedBlock(p.ptr, errBeside)
	}
	gone := tr.endOf(tr.room.gone[:], p.entry(at), level)
	p.closed(at, n-1-at)
	p.setLive(n - 1)
	c.dirty(&p.block)
	if level == c.levels-1 {
		return false, c.shrinkRoot(level)
	}
	if err := c.changed(level, at, gone, nil); err != nil {
		return false, err
	}
	if n-1 >= p.lay.min {
		return false, c.back(level)
	}
	left, right := p.left(), p.right()
	if left == ondisk.NullPointer && right == ondisk.NullPointer {
		return false, c.onlyChild(level)
	}
	return c.refill(level, left, right)
}

// back moves a level above leaves back to the entry before the deleted one, which is
// the block that the cursor is in below, unless that level is no more.
func (c *Cursor) back(level int) error {
	if level == 0 || level >= c.levels {
		return nil
	}
	_, err := c.step(level, -1)
	return err
}

// onlyChild ends a delete in a block that has no neighbours and too few entries: that
// is so only right below a root in a fork, which takes them in if it has room.
func (c *Cursor) onlyChild(level int) error {
	if c.Tree.Fork == nil || level != c.levels-2 {
		return c.Tree.damagedBlock(c.path[level].ptr, errBeside)
	}
	if err := c.pullUp(); err != nil {
		return err
	}
	return c.back(level)
}

// shrinkRoot ends a delete in the root: a node of one pointer gives way to what is
// below it. (xfs_btree_kill_root in libxfs.)
func (c *Cursor) shrinkRoot(level int) error {
	tr, p := c.Tree, &c.path[level]
	switch {
	case tr.Fork != nil:
		if err := c.pullUp(); err != nil {
			return err
		}
		return c.back(level)
	case level == 0:
		return nil
	case p.live() > 1:
		return c.back(level)
	}
	if err := tr.Root.SetRoot(c.t, p.below(0), level); err != nil {
		return err
	}
	old := p.block
	*p = place{}
	c.levels--
	return tr.free(c.t, &old)
}

// refill brings a level's block that has too few entries to the least number again: one
// comes from the right, or else from the left, or else it is joined with the
// left, or else the right neighbour.
func (c *Cursor) refill(level int, left, right uint64) (up bool, err error) {
	tr, p := c.Tree, &c.path[level]
	var l, r block
	if right != ondisk.NullPointer {
		other := *c
		if err := other.neighbour(level, 1, right); err != nil {
			return false, err
		}
		if r = other.path[level].block; r.live()-1 >= r.lay.min {
			other.path[level].at = r.live() - 1
			if ok, err := other.shiftLeft(level); err != nil || ok {
				return false, first(err, c.back(level))
			}
		}
	}
	if left != ondisk.NullPointer {
		other := *c
		if err := other.neighbour(level, -1, left); err != nil {
			return false, err
		}
		if l = other.path[level].block; l.live()-1 >= l.lay.min {
			other.path[level].at = 0
			if ok, err := other.shiftRight(level); err != nil || ok {
				if level == 0 {
					p.at++
				}
				return false, err
			}
		}
	}
	n := p.live()
	switch {
	case l.there() && l.live()+n <= p.lay.max:
		at := l.live() + p.at
		if err := c.join(level, &l, &p.block); err != nil {
			return false, err
		}
		p.block, p.at = l, at
	case r.there() && n+r.live() <= p.lay.max:
		if err := c.join(level, &p.block, &r); err != nil {
			return false, err
		}
		if ok, err := c.step(level+1, 1); err != nil || !ok {
			return false, first(err, tr.damagedBlock(p.ptr, errBeside))
		}
	default: // neighbours are fuller than they can be; the kernel leaves it so, too
		return false, c.back(level)
	}
	if level > 0 {
		p.at--
	}
	return true, nil
}

// join moves all entries of a block to its left neighbour, and frees it.
func (c *Cursor) join(level int, left, right *block) error {
	tr := c.Tree
	n, m := left.live(), right.live()
	form := left.lay.form
	beyond := right.right()
	if beyond != ondisk.NullPointer {
		b, err := tr.read(c.t, beyond, level)
		if err != nil {
			return err
		}
		form.SetLeft(b.data, left.ptr)
		c.dirty(&b)
	}
	left.copyFrom(n, right, 0, m)
	left.setLive(n + m)
	form.SetRight(left.data, beyond)
	c.dirty(left)
	return tr.free(c.t, right)
}

// first is the first error of two.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
