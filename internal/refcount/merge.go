package refcount

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
)

// shoulders are the records before and behind a range, with what is in the range beside each of them. What has no
// record there counts as one of count 1. There is nothing beside a record that is not there.
type shoulders struct {
	left, afterLeft    record
	beforeRight, right record
}

// merge makes what is at the ends of the range one with the records beyond, if both have the same count once it is
// changed, and takes it out of the range. It tells whether it did. (xfs_refcount_merge_extents in libxfs.)
func (a *adjustment) merge() (bool, error) {
	s, err := a.shoulders()
	if err != nil {
		return false, err
	}
	for _, r := range [...]*record{&s.afterLeft, &s.beforeRight} {
		switch {
		case r.blocks > a.n:
			return false, a.errorf("the record of %d blocks at %d reaches across an end of %d at %d", r.blocks, r.start, a.n,
				a.at)
		case a.staged && a.by == 0 && r.stored():
			return false, a.errorf("of %d blocks at %d some are a staging extent already", a.n, a.at)
		}
	}
	one := s.afterLeft.there() && s.afterLeft == s.beforeRight // it is all of the range
	switch {
	case one && a.joins(s.left, s.afterLeft, s.right):
		return true, a.joinAll(&s)
	case a.joins(s.left, s.afterLeft):
		if err := a.joinLeft(&s); err != nil || one {
			return true, err
		}
		if a.joins(s.right, s.beforeRight) {
			return true, a.joinRight(&s)
		}
		return true, nil
	case a.joins(s.right, s.beforeRight):
		return true, a.joinRight(&s)
	}
	return false, nil
}

// joins tells whether a record beyond the range can be one with what is beside it, and with the record beyond
// the other end.
func (a *adjustment) joins(beyond, inside record, other ...record) bool {
	if !beyond.there() || !inside.there() || beyond.count != inside.changed(a.by) {
		return false
	}
	n := beyond.blocks + inside.blocks
	for _, r := range other {
		if !r.there() || r.count != beyond.count {
			return false
		}
		n += r.blocks
	}
	return n < tooLong
}

// shoulders finds them. (xfs_refcount_find_left_extents and xfs_refcount_find_right_extents in libxfs.)
func (a *adjustment) shoulders() (s shoulders, err error) {
	left, ok, err := a.find(btree.LE, a.staged, a.at-1)
	if err != nil {
		return s, err
	}
	if ok && left.end() == a.at {
		s.left, s.afterLeft = left, a.gapAt(a.at, a.n)
		next, ok, err := a.step(1, a.staged)
		switch {
		case err != nil:
			return s, err
		case ok && next.start == a.at:
			s.afterLeft = next
		case ok && next.start > a.at:
			s.afterLeft.blocks = min(a.n, geometry.Blocks(next.start-a.at))
		case ok:
			return s, a.errorf("the record at %d is behind that at %d", next.start, left.start)
		}
	}
	right, ok, err := a.find(btree.GE, a.staged, a.end())
	if err != nil {
		return s, err
	}
	if ok && right.start == a.end() {
		s.right, s.beforeRight = right, a.gapAt(a.at, a.n)
		before, ok, err := a.step(-1, a.staged)
		switch {
		case err != nil:
			return s, err
		case ok && before.end() == a.end():
			s.beforeRight = before
		case ok && before.end() > a.end():
			return s, a.errorf("the record of %d blocks at %d reaches into that at %d", before.blocks, before.start, right.start)
		case ok:
			from := max(a.at, before.end())
			s.beforeRight = a.gapAt(from, geometry.Blocks(a.end()-from))
		}
	}
	return s, nil
}

// gapAt is what stands for blocks without a record. Those are no staging extent, or not yet one.
func (a *adjustment) gapAt(at geometry.AGBlock, n geometry.Blocks) record {
	return record{start: at, blocks: n, count: 1}
}

// joinAll makes the records before and behind the range one with it. (xfs_refcount_merge_center_extents in
// libxfs.)
func (a *adjustment) joinAll(s *shoulders) error {
	if _, err := a.lookup(btree.GE, a.staged, a.at); err != nil {
		return err
	}
	if s.afterLeft.stored() {
		if err := a.remove(); err != nil {
			return err
		}
	}
	if err := a.remove(); err != nil {
		return err
	}
	joined := s.left
	joined.blocks += s.afterLeft.blocks + s.right.blocks
	a.done(a.n)
	return a.change(s.left, joined)
}

// joinLeft makes the first blocks of the range part of the record before it. (xfs_refcount_merge_left_extent in
// libxfs.)
func (a *adjustment) joinLeft(s *shoulders) error {
	if err := a.take(s.afterLeft); err != nil {
		return err
	}
	joined := s.left
	joined.blocks += s.afterLeft.blocks
	a.done(s.afterLeft.blocks)
	return a.change(s.left, joined)
}

// joinRight makes the last blocks of the range part of the record behind it. (xfs_refcount_merge_right_extent in
// libxfs.)
func (a *adjustment) joinRight(s *shoulders) error {
	if err := a.take(s.beforeRight); err != nil {
		return err
	}
	joined := s.right
	joined.start -= geometry.AGBlock(s.beforeRight.blocks)
	joined.blocks += s.beforeRight.blocks
	a.n -= s.beforeRight.blocks
	return a.change(s.right, joined)
}

// take removes what is inside the range, if it has a record.
func (a *adjustment) take(r record) error {
	if !r.stored() {
		return nil
	}
	if err := a.seek(r); err != nil {
		return err
	}
	return a.remove()
}
