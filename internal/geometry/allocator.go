package geometry

import "slices"

// request asks an AG for blocks.
type request struct {
	target   AGBlock // to be near to, or at
	min, max Blocks
	align    Blocks
	slop     Blocks  // to be there for the sake of another try with an alignment
	left     Blocks  // to stay free
	total    Blocks  // that all of the operation may take
	from, to AGBlock // where it may begin, if to is not 0
}

// candidate is the best place that a search has found so far.
type candidate struct {
	Extent
	diff uint64 // distance from the target
	ok   bool
}

// available tells whether the AG has room for a request besides what its free
// list lacks, limits its length to what may be taken, and refills the list.
func (a *AG) available(r *request) bool {
	need := r.min + r.align - 1 + r.slop
	lacks := a.freeListLacks()
	if a.Free.Longest < need+lacks || a.Free.Total() < lacks+r.left+max(need, r.total) {
		return false
	}
	r.max = min(r.max, a.Free.Total()-lacks-r.left)
	return a.refill()
}

// near allocates the largest of what the request allows, and of equals that
// which is nearest to the target. As long as the btrees have only one leaf,
// the kernel looks at all extents, from the least that will do upwards.
func (a *AG) near(r request) (Extent, bool) {
	if !a.available(&r) {
		return Extent{}, false
	}
	live := a.Free.BySize.Live()
	first := slices.IndexFunc(live, func(e Extent) bool { return e.Blocks >= r.max })
	if first < 0 || r.align > 1 {
		first = slices.IndexFunc(live, func(e Extent) bool { return e.Blocks >= r.min })
	}
	if first < 0 {
		return Extent{}, false
	}
	var best candidate
	for _, e := range live[first:] {
		if best.consider(e, r) && best.diff == 0 && best.Blocks == r.max {
			break
		}
	}
	if best.ok {
		a.Free.take(best.Extent)
	}
	return best.Extent, best.ok
}

// consider takes a free extent's best place if it is better than the one
// before, or as good, and tells whether it did.
func (c *candidate) consider(e Extent, r request) bool {
	start, blocks := e.Start, e.Blocks
	if r.align > 1 && blocks >= r.min {
		start = AGBlock(roundUp(Blocks(e.Start), r.align))
		blocks -= min(blocks, Blocks(start-e.Start))
	}
	if e.Blocks < r.min || blocks < r.min || r.to > 0 && (start < r.from || start >= r.to) {
		return false
	}
	n := min(blocks, r.max)
	at, diff, ok := placeNear(Extent{start, blocks}, r.target, n, r.align)
	if !ok || n < c.Blocks || c.ok && diff > c.diff {
		return false
	}
	*c = candidate{Extent{at, n}, diff, true}
	return true
}

// placeNear is the place for n blocks within a free extent that is nearest to
// a target: its start where it lies behind the target, else the target itself,
// else its end.
func placeNear(free Extent, target AGBlock, n, align Blocks) (at AGBlock, diff uint64, ok bool) {
	start, end, want := Blocks(free.Start), Blocks(free.End()), Blocks(target)
	var to Blocks
	switch {
	case start >= want:
		to = roundUp(start, align)
		ok = to < end
	case end >= want+n && align > 1:
		to, ok = alignedNear(start, end, want, n, align)
	case end >= want+n:
		to, ok = want, true
	case align > 1:
		to, ok = roundUp(end-n, align), true
		if to > end-n && to >= start+align {
			to -= align
		} else if to >= end {
			ok = false
		}
	default:
		to, ok = end-n, true
	}
	return AGBlock(to), uint64(max(to, want) - min(to, want)), ok
}

// alignedNear chooses between the aligned places before and behind a target:
// the one with more room, else the nearer.
func alignedNear(start, end, want, n, align Blocks) (Blocks, bool) {
	behind := roundUp(want, align)
	before := behind - align
	hasBehind, hasBefore := behind < end, behind >= align && before >= start
	switch {
	case !hasBehind && !hasBefore:
		return 0, false
	case !hasBefore:
		return behind, true
	case !hasBehind:
		return before, true
	}
	room, roomBefore := min(n, end-behind), min(n, end-before)
	if room < roomBefore || room == roomBefore && behind-want > max(before, want)-min(before, want) {
		return before, true
	}
	return behind, true
}

// exact allocates at the target or not at all.
func (a *AG) exact(r request) (Extent, bool) {
	if !a.available(&r) {
		return Extent{}, false
	}
	for _, e := range a.Free.ByStart.Live() {
		if e.Start <= r.target && r.target < e.End() {
			got := Extent{r.target, min(r.max, Blocks(e.End()-r.target))}
			if got.Blocks < r.min {
				break
			}
			a.Free.take(got)
			return got, true
		}
	}
	return Extent{}, false
}

// anywhere allocates from the smallest extent that has all, else from the largest.
func (a *AG) anywhere(r request) (Extent, bool) {
	if !a.available(&r) {
		return Extent{}, false
	}
	from := a.Free.smallest(r.max)
	from.Blocks = min(from.Blocks, r.max)
	if from.Blocks < r.min {
		return Extent{}, false
	}
	a.Free.take(from)
	return from, true
}
