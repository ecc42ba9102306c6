package alloc

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
)

// exact allocates from the target on, as much as is free there, or nothing.
// (xfs_alloc_ag_vextent_exact in libxfs.)
func (g *group) exact(r *Request, target geometry.AGBlock) (x got, err error) {
	bno := g.byPlace()
	ok, err := bno.lookup(btree.LE, target, r.Min)
	if err != nil || !ok {
		return x, err
	}
	free, err := bno.extent()
	if err != nil || free.End() < target || geometry.Blocks(free.End()-target) < r.Min {
		return x, err
	}
	part := geometry.Extent{Start: target, Blocks: r.fit(min(geometry.Blocks(free.End()-target), r.Max))}
	cnt := g.byLength()
	if err := cnt.find(free); err != nil {
		return x, err
	}
	return got{Extent: part, ok: true}, g.take(cnt, bno, free, part)
}

// fit makes a length Mod beyond a multiple of Prod, if that leaves enough. The greatest
// length does as it is. (xfs_alloc_fix_len in libxfs.)
func (r *Request) fit(n geometry.Blocks) geometry.Blocks {
	if r.Prod <= 1 || n < r.Mod || n == r.Max || r.Mod == 0 && n < r.Prod {
		return n
	}
	over := n%r.Prod + r.Prod - r.Mod
	if over >= r.Prod {
		over -= r.Prod
	}
	if n < over || n-over < r.Min {
		return n
	}
	return n - over
}

// align is the part of a free extent that begins at a multiple of Align, and behind
// From, if it can. (xfs_alloc_compute_aligned in libxfs.)
func (r *Request) align(free geometry.Extent) geometry.Extent {
	if free.Start < r.From && r.From < free.End() {
		free = geometry.Extent{Start: r.From, Blocks: geometry.Blocks(free.End() - r.From)}
	}
	if r.Align > 1 && free.Blocks >= r.Min {
		start := roundUp(free.Start, r.Align)
		free = geometry.Extent{Start: start, Blocks: free.Blocks - min(free.Blocks, geometry.Blocks(start-free.Start))}
	}
	return free
}

// roundUp is the first multiple of n from a block on.
func roundUp(at geometry.AGBlock, n geometry.Blocks) geometry.AGBlock {
	return geometry.AGBlock((geometry.Blocks(at) + n - 1) / n * n)
}
