package btree

import "mkfs/internal/ondisk"

// Insert puts a record at the cursor, where a lookup for it by EQ or GE has
// ended, and the cursor is then at it. It returns false, and the tree is as it was, if a
// block was needed and there was none. If there is one and not all that are needed it
// is an error, and the tree is not sound any more: who inserts sees to it before that
// there are enough.
//
// (xfs_btree_insert in libxfs. There the cursor may be stale afterwards; here it is not.)
func (c *Cursor) Insert(record []byte) (bool, error) {
	if err := c.placed(0); err != nil {
		return false, err
	}
	c.Tree.changes++
	entry, ptr := record, uint64(0)
	var stayed uint32 // the levels that were split while the cursor stayed in the left half
	level := 0
	for {
		s, ok, err := c.insertAt(level, entry, ptr)
		if err != nil || !ok && level == 0 {
			return false, err
		}
		if !ok {
			return false, c.Tree.damaged("a level has no block for its other half")
		}
		if !s.split {
			break
		}
		entry, ptr = c.Tree.room.up[level&1][:c.Tree.Key], s.right.ptr
		if level++; level == c.levels {
			if err := c.newRoot(&s); err != nil {
				return false, err
			}
			break
		}
		if c.path[level-1].ptr != ptr {
			stayed |= 1 << level
		}
		c.path[level].at++
	}
	return true, c.stepBack(stayed)
}

// placed is an error if a level's place is none where an entry can go in. That is so in a damaged
// filesystem, too, if the block was given to another structure since the cursor came here.
func (c *Cursor) placed(level int) error {
	p := &c.path[level]
	if !p.there() {
		panic("btree: a cursor that is nowhere")
	}
	if p.at < 0 || p.at > p.live() {
		return c.Tree.damagedBlock(p.ptr, errNoPlace)
	}
	return nil
}

// stepBack lets the levels above those in whose left half the cursor has stayed point
// to that half: they are at the right one.
func (c *Cursor) stepBack(stayed uint32) error {
	for level := c.levels - 1; stayed != 0 && level > 0; level-- {
		if stayed&(1<<level) == 0 {
			continue
		}
		stayed &^= 1 << level
		if ok, err := c.step(level, -1); err != nil {
			return err
		} else if !ok {
			return c.Tree.damagedBlock(c.path[level].ptr, errBeside)
		}
	}
	return nil
}

// halves are the two blocks that one was split into.
type halves struct {
	split       bool
	left, right block
}

// insertAt puts an entry into the block of a level. If that was split, the keys of the
// right half are in c.Tree.room.up[level&1]. (xfs_btree_insrec in libxfs.)
func (c *Cursor) insertAt(level int, entry []byte, ptr uint64) (s halves, ok bool, err error) {
	p := &c.path[level]
	at := p.at
	if p.live() == p.lay.max {
		if s, ok, err = c.makeRoom(level); !ok || err != nil {
			return s, ok, err
		}
		if !s.split {
			at = p.at
		}
	}
	n := p.live()
	if err := c.placed(level); err != nil {
		return s, false, err
	}
	p.open(p.at, n-p.at)
	p.put(p.at, entry, ptr)
	p.setLive(n + 1)
	c.dirty(&p.block)
	if s.split && p.ptr == s.right.ptr {
		c.Tree.keysOf(c.Tree.room.up[level&1][:], &p.block)
	} else {
		err = c.changed(level, at, nil, c.Tree.endOf(c.Tree.room.come[:], entry, level))
	}
	return s, err == nil, err
}

// makeRoom makes room in the full block of a level: one entry goes to the right
// neighbour, or else to the left one, or else half of them go to a new block.
// (xfs_btree_make_block_unfull in libxfs.)
func (c *Cursor) makeRoom(level int) (s halves, ok bool, err error) {
	if c.path[level].inFork() {
		ok, err = c.PushDown()
		return s, ok, err
	}
	if ok, err = c.shiftRight(level); ok || err != nil {
		return s, ok, err
	}
	if ok, err = c.shiftLeft(level); ok || err != nil {
		return s, ok, err
	}
	return c.split(level)
}

// shiftRight moves the last entry of a level's block to its right neighbour, if that
// has room and the cursor is not at that entry or behind it. (xfs_btree_rshift in libxfs.)
func (c *Cursor) shiftRight(level int) (bool, error) {
	p := &c.path[level]
	beside, n := p.right(), p.live()
	if p.inFork() || beside == ondisk.NullPointer || p.at >= n-1 {
		return false, nil
	}
	right, err := c.Tree.read(c.t, beside, level)
	if err != nil {
		return false, err
	}
	m := right.live()
	if m == right.lay.max {
		return false, nil
	}
	other := *c
	if err := other.neighbour(level, 1, right.ptr); err != nil {
		return false, err
	}
	right.open(0, m)
	right.copyFrom(0, &p.block, n-1, 1)
	p.setLive(n - 1)
	right.setLive(m + 1)
	c.dirty(&p.block)
	c.dirty(&right)
	if c.Tree.overlaps() {
		if err := c.raiseKeys(level); err != nil {
			return false, err
		}
	}
	return true, other.raiseKeys(level)
}

// shiftLeft moves the first entry of a level's block to its left neighbour, if that
// has room and the cursor is not at that entry. (xfs_btree_lshift in libxfs.)
func (c *Cursor) shiftLeft(level int) (bool, error) {
	p := &c.path[level]
	beside, n := p.left(), p.live()
	if p.inFork() || beside == ondisk.NullPointer || p.at <= 0 {
		return false, nil
	}
	left, err := c.Tree.read(c.t, beside, level)
	if err != nil {
		return false, err
	}
	m := left.live()
	if m == left.lay.max {
		return false, nil
	}
	other := *c
	if err := other.neighbour(level, -1, left.ptr); err != nil {
		return false, err
	}
	left.copyFrom(m, &p.block, 0, 1)
	p.closed(0, n-1)
	left.setLive(m + 1)
	p.setLive(n - 1)
	c.dirty(&left)
	c.dirty(&p.block)
	if c.Tree.overlaps() {
		if err := other.raiseKeys(level); err != nil {
			return false, err
		}
	}
	p.at--
	return true, c.raiseKeys(level)
}

// neighbour moves to the block on the right (1) or on the left (-1) of a level's, which
// is to be the one that its sibling pointer tells.
func (c *Cursor) neighbour(level, by int, ptr uint64) error {
	p := &c.path[level]
	if p.at = 0; by > 0 {
		p.at = p.live() - 1
	}
	from := p.ptr
	ok, err := c.step(level, by)
	if err == nil && (!ok || p.ptr != ptr) {
		err = c.Tree.damagedBlock(from, errBeside)
	}
	return err
}

// split moves half of the entries of a level's block to a new one on its right, and
// the cursor with them if it is behind the place at the end of the left half. Of an
// odd number the right half gets one more, unless the cursor is behind the middle.
// (__xfs_btree_split in libxfs.)
func (c *Cursor) split(level int) (s halves, ok bool, err error) {
	p, tr := &c.path[level], c.Tree
	beyond, hasBeyond := block{}, p.right() != ondisk.NullPointer
	if hasBeyond {
		if beyond, err = tr.read(c.t, p.right(), level); err != nil {
			return s, false, err
		}
	}
	ptr, ok, err := tr.Root.Alloc(c.t, p.ptr)
	if !ok || err != nil {
		return s, false, err
	}
	n := p.live()
	m := n / 2
	if n%2 == 1 && p.at <= m {
		m++
	}
	right, err := tr.fresh(c.t, ptr, level, m)
	if err != nil {
		return s, false, err
	}
	right.copyFrom(0, &p.block, n-m, m)
	p.setLive(n - m)
	form := p.lay.form
	form.SetRight(right.data, p.right())
	form.SetLeft(right.data, p.ptr)
	form.SetRight(p.data, ptr)
	if hasBeyond {
		form.SetLeft(beyond.data, ptr)
		c.dirty(&beyond)
	}
	c.dirty(&p.block)
	tr.keysOf(tr.room.up[level&1][:], &right)
	s = halves{split: true, left: p.block, right: right}
	if tr.overlaps() {
		if err := c.raiseKeys(level); err != nil {
			return s, false, err
		}
	}
	if p.at > n-m {
		p.block, p.at = right, p.at-(n-m)
	}
	return s, true, nil
}

// newRoot puts a block above the two halves of the old root. (xfs_btree_new_root
// in libxfs.)
func (c *Cursor) newRoot(s *halves) error {
	tr, level := c.Tree, c.levels
	if level == MaxLevels {
		return tr.damaged("it would have more than %d levels", MaxLevels)
	}
	ptr, ok, err := tr.Root.Alloc(c.t, s.left.ptr)
	if err != nil {
		return err
	}
	if !ok {
		return tr.damaged("there is no block for the new root")
	}
	root, err := tr.fresh(c.t, ptr, level, 2)
	if err != nil {
		return err
	}
	if err := tr.Root.SetRoot(c.t, ptr, level+1); err != nil {
		return err
	}
	for i, half := range [...]*block{&s.left, &s.right} {
		tr.keysOf(root.entry(i), half)
		root.setBelow(i, half.ptr)
	}
	p := &c.path[level]
	p.block, p.at = root, 0
	if c.path[level-1].ptr == s.right.ptr {
		p.at = 1
	}
	c.levels++
	return nil
}
