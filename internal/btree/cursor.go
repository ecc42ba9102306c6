package btree

import (
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Order says which record a lookup is for.
type Order int

// The orders.
const (
	LE Order = iota // the last at or before
	EQ
	GE // the first at or behind
)

// Cursor is a place in a tree: a block and a slot for each level. It is good within
// its transaction, until the tree is changed by another. It may be kept and used
// again after Init; a copy of it is another at the same place.
type Cursor struct {
	Tree *Tree

	t      *live.Trans
	levels int
	path   [MaxLevels]place
}

// place is a slot of a block. It may be -1, before the first, or behind the last.
type place struct {
	block
	at int
}

// Init makes it a cursor of a tree that is nowhere yet.
func (c *Cursor) Init(tr *Tree, t *live.Trans) {
	clear(c.path[:c.levels])
	tr.bind(t.FS)
	c.Tree, c.t, c.levels = tr, t, 0
}

// Lookup moves to a record by another's key, and tells whether there is one. If
// there is none the cursor is where it would be after EQ and GE, so that Insert may
// follow, and before the first record after LE. (xfs_btree_lookup in libxfs.)
func (c *Cursor) Lookup(o Order, record []byte) (bool, error) {
	ptr, err := c.begin()
	if err != nil {
		return false, err
	}
	k := c.Tree.Kind
	key := c.Tree.room.sought[:]
	k.putKey(key, record)
	sign, i := 1, 0
	for level := c.levels - 1; ; level-- {
		if err := c.load(level, ptr); err != nil {
			return false, err
		}
		p := &c.path[level]
		switch n := p.live(); {
		case n == 0 && c.levels > 1:
			return false, c.Tree.damagedBlock(ptr, errEmpty)
		case n == 0:
			i, sign = 0, 1
		case sign == 0: // a key above was equal: it is the first record below
			i = 0
		case level > 0:
			i, sign = k.keys(p.data[p.lay.first:], n, p.lay.size, key)
		default:
			i, sign = k.records(p.data[p.lay.first:], n, p.lay.size, key)
		}
		if level == 0 {
			break
		}
		if sign > 0 && i > 0 {
			i--
		}
		p.at = i
		ptr = p.below(i)
	}
	return c.settle(o, i, sign)
}

// begin finds the root.
func (c *Cursor) begin() (ptr uint64, err error) {
	tr := c.Tree
	if tr.Fork != nil {
		c.levels = tr.Fork.Level() + 1
	} else {
		ptr, c.levels = tr.Root.Root()
	}
	if c.levels < 1 || c.levels > MaxLevels {
		return 0, tr.damaged("it cannot have %d levels", c.levels)
	}
	return ptr, nil
}

// load puts the block at a pointer into the path.
func (c *Cursor) load(level int, ptr uint64) error {
	p := &c.path[level]
	if level == c.levels-1 && c.Tree.Fork != nil {
		p.block = c.Tree.Fork.block()
		return nil
	}
	if p.buf != nil && p.ptr == ptr && p.lay == c.Tree.blocks.of(level) && !p.buf.Gone() {
		if err := c.Tree.check(&p.block, level); err != nil {
			return c.Tree.damagedBlock(ptr, err)
		}
		return nil
	}
	b, err := c.Tree.read(c.t, ptr, level)
	if err == nil {
		p.block = b
	}
	return err
}

// settle ends a lookup that has found slot i of a leaf, whose record compares so
// with what was looked for.
func (c *Cursor) settle(o Order, i, sign int) (bool, error) {
	p := &c.path[0]
	n := p.live()
	switch {
	case o == LE && sign > 0:
		i--
	case o != LE && sign < 0:
		i++
		if o == GE && i == n && p.right() != ondisk.NullPointer {
			p.at = n - 1
			ok, err := c.Next()
			if err == nil && !ok {
				err = c.Tree.damagedBlock(p.ptr, errBeside)
			}
			return ok, err
		}
	}
	p.at = i
	return i >= 0 && i < n && (o != EQ || sign == 0), nil
}

// Record is the record at the cursor, in its block; false if there is none. It is
// not to be changed.
func (c *Cursor) Record() ([]byte, bool) {
	p := &c.path[0]
	if !p.there() || p.at < 0 || p.at >= p.live() {
		return nil, false
	}
	return p.entry(p.at), true
}

// First moves to the first record of the leaf that the cursor is in.
func (c *Cursor) First() { c.path[0].at = 0 }

// Last tells whether the cursor is in the last leaf.
func (c *Cursor) Last() bool { return c.path[0].right() == ondisk.NullPointer }

// Next moves to the next record, and Prev to the one before. If there is none the
// cursor is behind the last, or before the first.
func (c *Cursor) Next() (bool, error) {
	p := &c.path[0]
	if p.at++; p.at < p.live() {
		return true, nil
	}
	from := p.block
	ok, err := c.cross(0, 1)
	if !ok || err != nil {
		p.at = p.live()
		return false, err
	}
	return true, c.follows(&from, &p.block)
}

// Prev: see Next.
func (c *Cursor) Prev() (bool, error) {
	p := &c.path[0]
	if p.at--; p.at >= 0 {
		return true, nil
	}
	from := p.block
	ok, err := c.cross(0, -1)
	if !ok || err != nil {
		p.at = -1
		return false, err
	}
	return true, c.follows(&p.block, &from)
}

// follows checks that leaves are neighbours and their records in order, so that no
// walk through a damaged tree goes in circles.
func (c *Cursor) follows(a, b *block) error {
	tr := c.Tree
	if a.right() != b.ptr || b.left() != a.ptr {
		return tr.damagedBlock(b.ptr, errBeside)
	}
	n := a.live()
	if n == 0 || b.live() == 0 {
		return nil
	}
	key := tr.room.sought[:]
	tr.putKey(key, b.entry(0))
	if tr.compare(a.entry(n-1), key) >= 0 {
		return tr.damagedBlock(b.ptr, errOrder)
	}
	return nil
}

// step moves one slot on (1) or back (-1) at a level, in the next block if it
// has to. Levels below stay where they are. (xfs_btree_increment and
// xfs_btree_decrement in libxfs.)
func (c *Cursor) step(level, by int) (bool, error) {
	p := &c.path[level]
	p.at += by
	if p.at >= 0 && p.at < p.live() {
		return true, nil
	}
	return c.cross(level, by)
}

// cross moves from an end of a block to the next one, if there is one.
func (c *Cursor) cross(level, by int) (bool, error) {
	p := &c.path[level]
	beside := p.right()
	if by < 0 {
		beside = p.left()
	}
	if beside == ondisk.NullPointer {
		return false, nil
	}
	up := level + 1
	for ; up < c.levels; up++ {
		q := &c.path[up]
		if q.at += by; q.at >= 0 && q.at < q.live() {
			break
		}
	}
	if up >= c.levels {
		return false, c.Tree.damagedBlock(p.ptr, errBeside)
	}
	for ; up > level; up-- {
		if err := c.load(up-1, c.path[up].below(c.path[up].at)); err != nil {
			return false, err
		}
		q := &c.path[up-1]
		if q.at = 0; by < 0 {
			q.at = q.live() - 1
		}
	}
	return true, nil
}
