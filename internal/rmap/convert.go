package rmap

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// conversion makes blocks of a file unwritten, or written.
type conversion struct {
	*cursor
	old, new record // of the blocks
	held     record // the old record that has them
	// The records before and behind them, of no blocks if they do not go on in them
	// once they are converted.
	left, right record
}

// convert makes the blocks of a record what its flag says. It is one with records before
// and behind then, if they go on in each other. The order of changes, and where the
// cursor is at each, are those of libxfs. (xfs_rmap_convert.)
func (c *cursor) convert(r record) error {
	v := conversion{cursor: c, old: r, new: r}
	v.old.offset ^= ondisk.RmapUnwritten
	if err := v.find(); err != nil {
		return err
	}
	if _, err := c.lookup(btree.LE, v.old); err != nil { // back to the record that has them
		return err
	}
	starts, ends := v.held.start == r.start, v.held.end() == r.end()
	switch {
	case starts && ends:
		return v.whole()
	case starts:
		return v.head()
	case ends:
		return v.tail()
	}
	return v.middle()
}

// find reads the record that has the blocks, and its neighbours.
func (v *conversion) find() (err error) {
	if v.held, err = v.before(v.old); err != nil {
		return err
	}
	if v.held.start > v.old.start || v.held.end() < v.old.end() {
		return v.errorf("%d blocks at %d are to be converted, and the record there is of %d at %d", v.old.blocks,
			v.old.start, v.held.blocks, v.held.start)
	}
	if err := v.checkOwner(v.held, v.old); err != nil {
		return err
	}
	left, ok, err := v.step(false)
	if err != nil {
		return err
	}
	if ok && left.end() > v.old.start {
		return v.errorf("the record of %d blocks at %d reaches into that at %d", left.blocks, left.start, v.held.start)
	}
	if left.extends(v.new) {
		v.left = left
	}
	if err := v.forward(); err != nil {
		return err
	}
	right, ok, err := v.step(true)
	if err != nil {
		return err
	}
	if ok && right.start < v.old.end() {
		return v.errorf("the record of %d blocks at %d reaches into that at %d", v.held.blocks, v.held.start, right.start)
	}
	if ok && v.new.extends(right) {
		v.right = right
	}
	return nil
}

// whole converts all of a record.
func (v *conversion) whole() error {
	if v.right.blocks > 0 { // it becomes part of the record before it
		if err := v.forward(); err != nil {
			return err
		}
		if err := v.dropped(); err != nil {
			return err
		}
	}
	joined := v.new
	if v.left.blocks > 0 {
		if err := v.dropped(); err != nil {
			return err
		}
		joined = v.left.longer(v.new.blocks)
	}
	return v.update(joined.longer(v.right.blocks))
}

// dropped deletes the record at the cursor, and moves to the one before.
func (v *conversion) dropped() error {
	if err := v.Delete(); err != nil {
		return err
	}
	return v.back()
}

// head converts the first blocks of a record.
func (v *conversion) head() error {
	if err := v.update(v.held.behind(v.new.blocks)); err != nil {
		return err
	}
	if v.left.blocks == 0 {
		return v.insert(v.new)
	}
	if err := v.back(); err != nil {
		return err
	}
	return v.update(v.left.longer(v.new.blocks))
}

// tail converts the last blocks of a record.
func (v *conversion) tail() error {
	if err := v.update(v.held.first(v.held.blocks - v.new.blocks)); err != nil {
		return err
	}
	if v.right.blocks == 0 {
		return v.put(v.new)
	}
	if err := v.forward(); err != nil {
		return err
	}
	return v.update(v.new.longer(v.right.blocks))
}

// middle converts blocks within a record, which becomes three.
func (v *conversion) middle() error {
	front := geometry.Blocks(v.new.start - v.held.start)
	if err := v.update(v.held.behind(front + v.new.blocks)); err != nil {
		return err
	}
	if err := v.insert(v.held.first(front)); err != nil {
		return err
	}
	return v.put(v.new)
}
