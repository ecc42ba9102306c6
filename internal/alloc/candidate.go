package alloc

import "mkfs/internal/geometry"

// consider compares the free extent at a cursor with the best so far, and tells whether
// it is better: longer, or as long and no farther from the target. The cursor is no
// longer active where what follows cannot be better: in the bnobt out of bounds or
// farther away, in the cntbt too short, and in both if nothing could be better than this.
// (xfs_alloc_cur_check in libxfs.)
func (s *locality) consider(c *cursor) (better bool, err error) {
	free, err := c.extent()
	if err != nil {
		return false, err
	}
	r, byPlace := s.r, c != s.cnt
	if free.Blocks < r.Min {
		c.active = byPlace
		return false, nil
	}
	a := r.align(free)
	if a.Start < r.From || a.Start > r.To {
		c.active = !byPlace
		return false, nil
	}
	if a.Blocks < r.Min {
		return false, nil
	}
	n := r.fit(min(a.Blocks, r.Max))
	if n < s.best.Blocks {
		return false, nil
	}
	at, ok := r.place(a, s.target, n)
	if !ok {
		return false, nil
	}
	distance := apart(at, s.target)
	if distance > s.distance {
		c.active = !byPlace
		return false, nil
	}
	s.free, s.best, s.distance = free, geometry.Extent{Start: at, Blocks: n}, distance
	if distance == 0 && n == r.Max {
		c.active = false
	}
	return true, nil
}

// apart is the distance of two blocks.
func apart(a, b geometry.AGBlock) geometry.Blocks { return geometry.Blocks(max(a, b) - min(a, b)) }

// place is where n blocks of a free extent are nearest to a target: at its start where it
// lies behind the target, else at the target itself, else at its end. Users' data begins
// at the start of an extent that ends before the target and n blocks.
// (xfs_alloc_compute_diff in libxfs.)
func (r *Request) place(free geometry.Extent, target geometry.AGBlock, n geometry.Blocks) (
	at geometry.AGBlock, ok bool) {
	end, wantEnd := free.End(), target+geometry.AGBlock(n)
	switch {
	case free.Start >= target || r.UserData && end < wantEnd:
		at = roundUp(free.Start, r.Align)
		return at, at < end
	case end >= wantEnd && r.Align > 1:
		return r.around(free, target, n)
	case end >= wantEnd:
		return target, true
	case r.Align == 1:
		return end - geometry.AGBlock(n), true
	}
	last := end - geometry.AGBlock(n)
	at = roundUp(last, r.Align)
	if before := at - geometry.AGBlock(r.Align); at > last && before >= free.Start {
		return before, true
	}
	return at, at < end
}

// around chooses between the aligned blocks before and behind a target within a free
// extent: that with more room, up to n blocks, else the nearer one.
func (r *Request) around(free geometry.Extent, target geometry.AGBlock, n geometry.Blocks) (
	at geometry.AGBlock, ok bool) {
	end, behind := free.End(), roundUp(target, r.Align)
	before := behind - geometry.AGBlock(r.Align)
	switch {
	case before < free.Start:
		return behind, behind < end
	case behind >= end:
		return before, true
	}
	room, roomBefore := min(n, geometry.Blocks(end-behind)), min(n, geometry.Blocks(end-before))
	if room < roomBefore || room == roomBefore && apart(behind, target) > apart(before, target) {
		return before, true
	}
	return behind, true
}
