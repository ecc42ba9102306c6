// Package alloc hands out the blocks of AGs, and takes them back, by the rules of libxfs
// (xfs_alloc.c), so that it takes the blocks that libxfs takes, and leaves the bytes of
// the btrees as libxfs does.
//
// The free extents of an AG are in two btrees, by place (bnobt) and by length, then place
// (cntbt). All changes are made in both, and in the numbers of the AGF. Blocks that these
// btrees and the rmapbt grow by come from the AG's free list (AGFL), so that they can
// grow while an allocation goes on; those that they shrink by go there. Before each
// allocation and each freeing the list is made as long as the heights of the trees ask
// for (FixFreeList).
//
// An allocation chooses an AG, and within it
//   - a place, or nothing (Exact);
//   - the longest extent of those that do, and of equals that nearest to a place, as far
//     as that is found without looking at all of them (Near);
//   - the shortest extent that has all (ThisAG).
//
// Blocks are freed at once (Free) or at the end of the transaction (FreeLater), as are
// those that the free list has too many. Extents become one with their neighbours.
//
// Nobody else works on the filesystem, so there are neither locks nor busy extents: a
// block that was freed may be had again at once.
package alloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// Request is what is wanted. The fields are those of xfs_alloc_arg in libxfs.
type Request struct {
	Min, Max  geometry.Blocks
	Mod, Prod geometry.Blocks // the length is Mod beyond a multiple of Prod, if Prod is not 0
	Align     geometry.Blocks // of the start; 0 is 1
	// AlignSlop is what an exact allocation must leave for alignment, MinLeft what
	// must stay free in the AG, and Total what all of the operation takes.
	AlignSlop, MinLeft, Total geometry.Blocks
	// From and To bound the start of the extent within its AG for Near, both included;
	// To is a multiple of Align. If both are 0 there is no bound.
	From, To geometry.AGBlock
	// Owner is entered in the rmapbt with the allocation, unless it is zero: the owner
	// of a file's data is entered with MapLater.
	Owner   rmap.Owner
	Reserve Reserve
	// UserData: for what users keep in files, which begins where free space does, so
	// that the file may grow into the rest of it.
	UserData bool
}

// got is what was found in an AG.
type got struct {
	geometry.Extent
	ok     bool
	listed bool // it is from the free list
}

// search is a way to look for free space in an AG, and to take it.
type search func(g *group, r *Request, target geometry.AGBlock) (got, error)

// Exact takes the blocks at a place, as far as they are free, if those are enough.
// (xfs_alloc_vextent_exact_bno in libxfs.)
func Exact(t *live.Trans, at geometry.FSBlock, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	agno, agbno := t.G.BlockAddress(at)
	return inAG(t, agno, agbno, r, (*group).exact)
}

// Near takes blocks near a place, in its AG. (xfs_alloc_vextent_near_bno in libxfs.)
func Near(t *live.Trans, at geometry.FSBlock, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	agno, agbno := t.G.BlockAddress(at)
	return inAG(t, agno, agbno, r, (*group).near)
}

// ThisAG takes blocks anywhere in an AG. (xfs_alloc_vextent_this_ag in libxfs.)
func ThisAG(t *live.Trans, agno geometry.AGNumber, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	return inAG(t, agno, 0, r, (*group).anywhere)
}

// inAG allocates in one AG.
func inAG(t *live.Trans, agno geometry.AGNumber, target geometry.AGBlock, r Request, find search) (
	geometry.FSBlock, geometry.Blocks, bool, error) {
	if !r.settle(t, agno, target) || t.Allocated && agno < t.Highest {
		return 0, 0, false, nil
	}
	g, ok, err := prepare(t, agno, &r)
	if err != nil || !ok {
		return 0, 0, false, err
	}
	return g.allocate(&r, target, find)
}

// StartAG takes blocks near a place, else anywhere in the AGs behind it, else in those
// before it. If the place is the first block of an AG any place there will do. A
// transaction that has allocated in an AG behind the place begins with that AG.
// (xfs_alloc_vextent_start_ag in libxfs, and xfs_alloc_vextent_first_ag as well. Their
// first pass skips AGs whose AGF is locked; in libxfs none is.)
func StartAG(t *live.Trans, at geometry.FSBlock, r Request) (geometry.FSBlock, geometry.Blocks, bool, error) {
	start, target := t.G.BlockAddress(at)
	if !r.settle(t, start, target) {
		return 0, 0, false, nil
	}
	if t.Allocated {
		start = max(start, t.Highest)
	}
	for i := range t.G.AGCount {
		agno, find := start+i, (*group).anywhere
		if agno >= t.G.AGCount {
			agno -= t.G.AGCount
		}
		if i == 0 && target != 0 {
			find = (*group).near
		}
		if g, ok, err := prepare(t, agno, &r); err != nil {
			return 0, 0, false, err
		} else if ok {
			return g.allocate(&r, target, find)
		}
	}
	return 0, 0, false, nil
}

// settle fills in what a request leaves open. It returns false if nothing can do.
func (r *Request) settle(t *live.Trans, agno geometry.AGNumber, target geometry.AGBlock) bool {
	r.Max = min(r.Max, t.G.AGBlocks)
	r.Align, r.Prod = max(r.Align, 1), max(r.Prod, 1)
	return r.Min > 0 && r.Min <= r.Max && r.Mod < r.Prod && agno < t.G.AGCount && geometry.Blocks(target) < t.G.AGBlocks
}

// prepare readies an AG for an allocation: it has room for that, and its free list is as
// long as it is to be. If ok is false it is not fit for it.
func prepare(t *live.Trans, agno geometry.AGNumber, r *Request) (g *group, ok bool, err error) {
	if g, err = open(t, agno); err != nil {
		return nil, false, err
	}
	if !g.available(r) {
		return nil, false, nil
	}
	ok, err = g.fixFreeList(false)
	return g, ok, err
}

// allocate looks for space in an AG that is ready, takes it, and enters its owner.
// (xfs_alloc_vextent_finish in libxfs.)
func (g *group) allocate(r *Request, target geometry.AGBlock, find search) (
	geometry.FSBlock, geometry.Blocks, bool, error) {
	t := g.t
	if !t.Allocated || g.AG > t.Highest { // whether it finds something or not
		t.Allocated, t.Highest = true, g.AG
	}
	g.request = *r
	x, err := find(g, &g.request, target)
	if err != nil || !x.ok {
		return 0, 0, false, err
	}
	if r.Owner.Owner != 0 {
		if err := rmap.Map(t, g.AG, x.Start, x.Blocks, r.Owner); err != nil {
			return 0, 0, false, err
		}
	}
	if !x.listed {
		g.Add(ondisk.AGFFreeBlocks, -int(x.Blocks))
	}
	g.account(r.Reserve, int64(x.Blocks))
	return t.G.FSBlock(g.AG, x.Start), x.Blocks, true, nil
}
