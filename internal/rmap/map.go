package rmap

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// enter enters a record, as one with those before and behind it if they go on in each
// other. (xfs_rmap_map in libxfs.)
func (c *cursor) enter(r record) error {
	before, err := c.before(r)
	if err != nil {
		return err
	}
	next, ok, err := c.step(true)
	if err != nil {
		return err
	}
	if ok && r.end() > next.start || before.owner == r.owner && before.end() > r.start {
		return c.errorf("of %d blocks at %d some have an owner already", r.blocks, r.start)
	}
	joins := ok && r.extends(next)
	switch {
	case before.extends(r):
		joined := before.longer(r.blocks)
		if joins {
			joined = joined.longer(next.blocks)
			if err := c.Delete(); err != nil {
				return err
			}
		}
		if err := c.back(); err != nil {
			return err
		}
		return c.update(joined)
	case joins:
		return c.update(r.longer(next.blocks))
	}
	return c.insert(r)
}

// before moves to the last record at or before another's place, which has no blocks if there is
// none.
func (c *cursor) before(r record) (before record, err error) {
	ok, err := c.lookup(btree.LE, r)
	if err == nil && ok {
		before, err = c.record()
	}
	return before, err
}

// remove removes blocks from the record that has them. What is left of it before and
// behind them become records of their own. (xfs_rmap_unmap in libxfs.)
func (c *cursor) remove(r record) error {
	held, err := c.before(r)
	if err != nil {
		return err
	}
	if r.owner == ondisk.OwnUnknown && held.end() <= r.start {
		if next, ok, err := c.step(true); err != nil || !ok || next.start >= r.end() {
			return err // nobody's
		}
	}
	if held.start > r.start || held.end() < r.end() {
		return c.errorf("%d blocks at %d are to be removed, and the record there is of %d at %d", r.blocks, r.start,
			held.blocks, held.start)
	}
	if err := c.checkOwner(held, r); err != nil {
		return err
	}
	front := geometry.Blocks(r.start - held.start)
	rest := held.behind(front + r.blocks)
	switch {
	case front == 0 && rest.blocks == 0:
		return c.Delete()
	case front == 0:
		return c.update(rest)
	}
	if err := c.update(held.first(front)); err != nil || rest.blocks == 0 {
		return err
	}
	if _, err := c.Next(); err != nil {
		return err
	}
	return c.insert(rest)
}

// checkOwner tells whether blocks are of who is said to own them.
// (xfs_rmap_free_check_owner in libxfs.)
func (c *cursor) checkOwner(held, r record) error {
	if r.owner == ondisk.OwnUnknown {
		return nil
	}
	part := held.behind(geometry.Blocks(r.start - held.start))
	if part.owner != r.owner || part.offset != r.offset {
		return c.errorf("%d blocks at %d are of owner %#x, offset %#x, and not %#x, %#x", r.blocks, r.start, part.owner,
			part.offset, r.owner, r.offset)
	}
	return nil
}
