package alloc

import (
	"math"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
)

// locality is a search for an extent near a place.
type locality struct {
	*group
	r      *Request
	target geometry.AGBlock
	cnt    *cursor
	before *cursor // in the bnobt, from the target downwards
	behind *cursor // and upwards
	length geometry.Blocks
	// The best extent so far, the free one that it is a part of, and how far it is
	// from the target.
	best, free geometry.Extent
	distance   geometry.Blocks
}

// near allocates the longest of what a request allows, as far as that is found, and of
// equals that nearest to the target. (xfs_alloc_ag_vextent_near in libxfs.)
//
// If the shortest extent that has all is in the last leaf of the cntbt, all from there
// on are looked at. Else, and if that finds nothing, bnobt and cntbt are searched in
// turns.
func (g *group) near(r *Request, target geometry.AGBlock) (x got, err error) {
	if r.From == 0 && r.To == 0 {
		r.To = geometry.AGBlock(g.t.G.AGBlocks - 1)
	}
	s := &g.search
	*s = locality{
		group: g, r: r, target: min(max(target, r.From), r.To), length: r.Max, distance: math.MaxUint64,
		cnt: g.byLength(),
	}
	all, err := s.cnt.lookup(btree.GE, 0, r.Max)
	if err != nil {
		return x, err
	}
	if !all {
		free, x, err := g.small(s.cnt, r)
		if err != nil || x.ok || free.Blocks == 0 {
			return x, err
		}
	}
	if s.cnt.Last() {
		if err := s.lastLeaf(all); err != nil {
			return x, err
		}
	}
	if s.best.Blocks == 0 {
		if err := s.both(); err != nil || s.best.Blocks == 0 {
			return x, err
		}
	}
	return got{Extent: s.best, ok: true}, s.finish()
}

// finish takes the best extent.
func (s *locality) finish() error {
	if s.before == nil {
		s.before = s.byPlace()
	}
	if err := s.cnt.find(s.free); err != nil {
		return err
	}
	if err := s.before.find(s.free); err != nil {
		return err
	}
	return s.take(s.cnt, s.before, s.free, s.best)
}

// lastLeaf looks at all extents from the cursor on; if they have to be aligned, at all in
// the leaf. If none has all that is wanted the cursor is not active, and nothing is found.
// (xfs_alloc_ag_vextent_lastblock in libxfs.)
func (s *locality) lastLeaf(all bool) error {
	if !all {
		return nil
	}
	if s.r.Align > 1 {
		if ok, err := s.firstLongEnough(); err != nil || !ok {
			return err
		}
	}
	_, err := s.walk(s.cnt, true, false, -1)
	return err
}

// firstLongEnough moves to the first record of the leaf in the cntbt that is long enough.
func (s *locality) firstLongEnough() (ok bool, err error) {
	s.cnt.First()
	for ok := true; ok; {
		e, err := s.cnt.extent()
		if err != nil || e.Blocks >= s.r.Min {
			return true, err
		}
		if ok, err = s.cnt.Next(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// both searches both trees in turns: one extent before the target, one behind it, and
// those of a length that are nearest to the target, for one length after the other. What
// the bnobt finds first ends that, but for the other direction. If there is nothing, the
// longest extent that will do is taken. (xfs_alloc_ag_vextent_locality in libxfs.)
func (s *locality) both() error {
	s.before, s.behind = s.byPlace(), s.another()
	if _, err := s.cnt.lookup(btree.GE, s.target, s.length); err != nil {
		return err
	}
	if _, err := s.before.lookup(btree.LE, s.target, 0); err != nil {
		return err
	}
	if _, err := s.behind.lookup(btree.GE, s.target, 0); err != nil {
		return err
	}
	last, forward, err := s.turns()
	if err != nil {
		return err
	}
	if !s.cnt.active && s.best.Blocks == 0 {
		ok, err := s.cnt.Prev()
		if err != nil {
			return err
		}
		if ok {
			s.cnt.active = true
			last, forward = s.cnt, false
		}
	}
	if last != nil {
		_, err = s.walk(last, forward, true, -1)
	}
	return err
}

// turns searches until one of the cursors in the bnobt finds something, or that in the
// cntbt is at its end. It returns the cursor that the search is to end with, if any, and
// its direction.
func (s *locality) turns() (last *cursor, forward bool, err error) {
	for s.before.active || s.behind.active || s.cnt.active {
		if found, err := s.walk(s.before, false, true, 1); err != nil || found {
			return s.behind, true, err
		}
		if found, err := s.walk(s.behind, true, true, 1); err != nil || found {
			return s.before, false, err
		}
		if err := s.nextLength(); err != nil || !s.cnt.active {
			return nil, false, err
		}
	}
	return nil, false, nil
}

// walk looks at up to n extents, all if n is -1, from a cursor on, as long as that is
// active. It tells whether one was better than those before; with one set it ends there.
// (xfs_alloc_walk_iter in libxfs.)
func (s *locality) walk(c *cursor, forward, one bool, n int) (found bool, err error) {
	for ; c.active && n != 0; n-- {
		better, err := s.consider(c)
		if err != nil {
			return false, err
		}
		if better {
			found = true
			if one {
				return true, nil
			}
		}
		if !c.active {
			break
		}
		if ok, err := c.step(forward); err != nil {
			return false, err
		} else if !ok {
			c.active = false
		}
	}
	return found, nil
}

// nextLength looks for the extent of a length, or of the next that there is, that is
// nearest to the target, and settles the length to look for then: the next one if nothing
// was found yet, else twice this. (xfs_alloc_cntbt_iter in libxfs.)
func (s *locality) nextLength() error {
	c := s.cnt
	if !c.active {
		return nil
	}
	wanted := s.length
	ok, err := c.lookup(btree.GE, s.target, wanted)
	if err != nil || !ok {
		return err
	}
	e, err := c.extent()
	if err != nil {
		return err
	}
	if _, err := s.consider(c); err != nil {
		return err
	}
	s.length = e.Blocks
	if e.Start > s.target { // the one before may be as long, and nearer
		if err := s.considerBefore(); err != nil {
			return err
		}
	}
	if s.best.Blocks == 0 || s.length >= 2*wanted {
		s.length++
	} else {
		s.length = 2 * wanted
	}
	return nil
}

// considerBefore looks at the extent before that at the cursor in the cntbt, if it is as
// long as that.
func (s *locality) considerBefore() error {
	ok, err := s.cnt.Prev()
	if err != nil || !ok {
		return err
	}
	e, err := s.cnt.extent()
	if err == nil && e.Blocks == s.length {
		_, err = s.consider(s.cnt)
	}
	return err
}
