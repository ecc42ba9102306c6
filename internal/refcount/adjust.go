package refcount

import (
	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/rmap"
)

// adjustment is a change of the counts of a range, of which at and n are what is left to do.
type adjustment struct {
	*cursor
	at     geometry.AGBlock
	n      geometry.Blocks
	by     int  // what is added to the counts
	staged bool // it is of the staging extents
}

// end is the first block behind the range.
func (a *adjustment) end() geometry.AGBlock { return a.at + geometry.AGBlock(a.n) }

// done moves on by n blocks.
func (a *adjustment) done(n geometry.Blocks) {
	a.at += geometry.AGBlock(n)
	a.n -= n
}

// share changes how many files have the blocks. (xfs_refcount_adjust in libxfs.)
func (a *adjustment) share(by int) error {
	a.by = by
	changed, err := a.ends()
	if err != nil {
		return err
	}
	if changed {
		a.budget.shapes++
	}
	return a.middle()
}

// ends splits records that reach across the ends of the range, and makes what is at the ends one with the neighbours
// beyond. It tells whether records were split or made one.
func (a *adjustment) ends() (changed bool, err error) {
	for _, at := range [...]geometry.AGBlock{a.at, a.end()} {
		split, err := a.split(at)
		if err != nil {
			return false, err
		}
		changed = changed || split
	}
	merged, err := a.merge()
	return changed || merged, err
}

// split makes the record that reaches across a block's beginning two. (xfs_refcount_split_extent in libxfs.)
func (a *adjustment) split(at geometry.AGBlock) (bool, error) {
	r, ok, err := a.find(btree.LE, a.staged, at)
	if err != nil || !ok || r.start == at || r.end() <= at {
		return false, err
	}
	left, right := r, r
	left.blocks = geometry.Blocks(at - r.start)
	right.start, right.blocks = at, r.blocks-left.blocks
	if err := a.update(right); err != nil {
		return false, err
	}
	return true, a.insert(left)
}

// middle changes what is left of the range, record by record, as far as the transaction goes. No record reaches across
// its ends. (xfs_refcount_adjust_extents in libxfs.)
func (a *adjustment) middle() error {
	if a.n == 0 {
		return nil
	}
	if _, err := a.lookup(btree.GE, false, a.at); err != nil {
		return err
	}
	for a.n > 0 && a.budget.left() {
		r, ok, err := a.in(false)
		switch {
		case err != nil:
			return err
		case !ok || r.start >= a.end():
			err = a.gap(a.n)
		case r.start > a.at:
			err = a.gap(geometry.Blocks(r.start - a.at))
		case r.start < a.at || r.blocks > a.n:
			err = a.errorf("the record of %d blocks at %d reaches across an end of %d at %d", r.blocks, r.start, a.n, a.at)
		default:
			err = a.whole(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gap changes blocks that have no record, and one owner.
func (a *adjustment) gap(n geometry.Blocks) error {
	a.budget.ops++
	r := record{start: a.at, blocks: n, count: 1}
	r.count = r.changed(a.by)
	if r.count == 0 {
		a.free(r)
	} else if err := a.insert(r); err != nil {
		return err
	}
	if a.done(n); a.n == 0 {
		return nil
	}
	_, err := a.lookup(btree.GE, false, a.at)
	return err
}

// whole changes the record at the cursor, and moves to the next.
func (a *adjustment) whole(r record) error {
	a.done(r.blocks)
	if r.count == pinned {
		_, err := a.Next()
		return err
	}
	a.budget.ops++
	if r.count = r.changed(a.by); r.count == 1 {
		return a.remove()
	}
	if err := a.update(r); err != nil {
		return err
	}
	_, err := a.Next()
	return err
}

// free frees blocks that nobody has any more.
func (a *adjustment) free(r record) {
	alloc.FreeLater(a.t, a.t.G.FSBlock(a.AG, r.start), r.blocks, rmap.Owner{}, alloc.ReserveNone)
}

// stage makes the range a staging extent, as one with its neighbours. (xfs_refcount_adjust_cow in libxfs.)
func (a *adjustment) stage() error {
	a.staged = true
	if _, err := a.ends(); err != nil || a.n == 0 {
		return err
	}
	next, ok, err := a.find(btree.GE, true, a.at)
	if err != nil {
		return err
	}
	if ok && next.start < a.end() {
		return a.errorf("of %d blocks at %d some are a staging extent already", a.n, a.at)
	}
	r := record{start: a.at, blocks: a.n, count: 1, staged: true}
	a.done(a.n)
	return a.insert(r)
}

// unstage makes the range a staging extent no more. Likewise.
func (a *adjustment) unstage() error {
	a.staged, a.by = true, -1
	if _, err := a.ends(); err != nil {
		return err
	}
	r, ok, err := a.find(btree.GE, true, a.at)
	if err != nil {
		return err
	}
	if !ok || r.start != a.at || r.blocks != a.n {
		return a.errorf("%d blocks at %d are no staging extent", a.n, a.at)
	}
	a.done(a.n)
	return a.remove()
}
