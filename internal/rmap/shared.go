package rmap

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// leftOf is the record that goes on in another; ok is false if there is none.
// (xfs_rmap_find_left_neighbor in libxfs.)
func (c *cursor) leftOf(r record) (left record, ok bool, err error) {
	if !r.plain() && r.block() == 0 || r.start == 0 {
		return left, false, nil
	}
	key := r
	key.start--
	if !r.plain() {
		key.offset--
	}
	return c.match(r, key, func(held record) bool { return held.extends(r) })
}

// holderOf is the record of the same owner and offset that has all blocks of another; ok is false if there is none.
// (xfs_rmap_lookup_le_range in libxfs.)
func (c *cursor) holderOf(r record) (held record, ok bool, err error) {
	return c.match(r, r, func(held record) bool { return held.holds(r) })
}

// match looks for a record: the last at or before r, or else one of those that have the block of key.
func (c *cursor) match(r, key record, fits func(record) bool) (held record, ok bool, err error) {
	if held, err = c.before(r); err != nil || held.blocks > 0 && fits(held) {
		return held, err == nil, err
	}
	b := c.encode(key)
	queryErr := c.Query(b, b, func([]byte) bool {
		held, err = c.record()
		ok = err == nil && fits(held)
		return !ok && err == nil
	})
	if err == nil {
		err = queryErr
	}
	return held, ok && err == nil, err
}

// rightOf is the record that goes on from another; ok is false if there is none.
func (c *cursor) rightOf(r record) (right record, ok bool, err error) {
	ok, err = c.lookup(btree.EQ, record{start: r.end(), owner: r.owner, offset: r.endOffset()})
	if err == nil && ok {
		right, err = c.record()
	}
	return right, err == nil && ok && r.extends(right), err
}

// enterShared is enter where records overlap.
func (c *cursor) enterShared(r record) error {
	left, joinsLeft, err := c.leftOf(r)
	if err != nil {
		return err
	}
	right, joinsRight, err := c.rightOf(r)
	if err != nil {
		return err
	}
	joined := r
	if joinsRight {
		joined = r.longer(right.blocks)
		if err := c.drop(right); err != nil {
			return err
		}
	}
	if joinsLeft {
		return c.replace(left, left.longer(joined.blocks))
	}
	return c.put(joined)
}

// removeShared is remove where records overlap.
func (c *cursor) removeShared(r record) error {
	held, err := c.holder(r)
	if err != nil {
		return err
	}
	front := geometry.Blocks(r.start - held.start)
	rest := held.behind(front + r.blocks)
	if front > 0 {
		err = c.replace(held, held.first(front))
	} else {
		err = c.drop(held)
	}
	if err != nil || rest.blocks == 0 {
		return err
	}
	return c.put(rest)
}

// convertShared is convert where records overlap.
func (c *cursor) convertShared(r record) error {
	old := r
	old.offset ^= ondisk.RmapUnwritten
	held, err := c.holder(old)
	if err != nil {
		return err
	}
	v := conversion{cursor: c, old: old, new: r, held: held}
	starts, ends := held.start == r.start, held.end() == r.end()
	if starts {
		if left, ok, err := c.leftOf(r); err != nil {
			return err
		} else if ok {
			v.left = left
		}
	}
	if ends {
		if right, ok, err := c.rightOf(r); err != nil {
			return err
		} else if ok {
			v.right = right
		}
	}
	switch {
	case starts && ends:
		return v.wholeShared()
	case starts:
		return v.headShared()
	case ends:
		return v.tailShared()
	}
	front := geometry.Blocks(r.start - held.start)
	if err := c.put(held.behind(front + r.blocks)); err != nil {
		return err
	}
	if err := c.replace(held, held.first(front)); err != nil {
		return err
	}
	return c.put(r)
}

// wholeShared, headShared and tailShared are whole, head and tail where records overlap.
func (v *conversion) wholeShared() error {
	if v.right.blocks > 0 {
		if err := v.drop(v.right); err != nil {
			return err
		}
	}
	if v.left.blocks == 0 {
		return v.replace(v.held, v.new.longer(v.right.blocks))
	}
	if err := v.drop(v.held); err != nil {
		return err
	}
	return v.replace(v.left, v.left.longer(v.new.blocks+v.right.blocks))
}

func (v *conversion) headShared() error {
	if err := v.drop(v.held); err != nil {
		return err
	}
	if err := v.put(v.held.behind(v.new.blocks)); err != nil {
		return err
	}
	if v.left.blocks > 0 {
		return v.replace(v.left, v.left.longer(v.new.blocks))
	}
	return v.put(v.new)
}

func (v *conversion) tailShared() error {
	if err := v.replace(v.held, v.held.first(v.held.blocks-v.new.blocks)); err != nil {
		return err
	}
	if v.right.blocks > 0 {
		if err := v.drop(v.right); err != nil {
			return err
		}
	}
	return v.put(v.new.longer(v.right.blocks))
}

// holder is holderOf for a record that is to be there.
func (c *cursor) holder(r record) (record, error) {
	held, ok, err := c.holderOf(r)
	if err == nil && !ok {
		err = c.errorf("%d blocks at %d of owner %#x, offset %#x, have no record", r.blocks, r.start, r.owner, r.offset)
	}
	return held, err
}

// seek moves to a record, which is to be there.
func (c *cursor) seek(r record) error {
	ok, err := c.lookup(btree.EQ, r)
	if err == nil && !ok {
		err = c.errorf("the record of %d blocks at %d of owner %#x, offset %#x, is gone", r.blocks, r.start, r.owner, r.offset)
	}
	return err
}

// drop deletes a record, and replace puts another in its place, which has the same key.
func (c *cursor) drop(r record) error {
	if err := c.seek(r); err != nil {
		return err
	}
	return c.Delete()
}

func (c *cursor) replace(held, r record) error {
	if err := c.seek(held); err != nil {
		return err
	}
	return c.update(r)
}
