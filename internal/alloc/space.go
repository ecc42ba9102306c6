package alloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// listReserve is how many blocks the kernel counts for the free list of an AG when it
// asks what can be had of one (XFS_ALLOCBT_AGFL_RESERVE).
const listReserve = 4

// maxUsable is how many blocks of an AG one extent can have.
// (xfs_alloc_ag_max_usable in libxfs; the first AG stands for all.)
func maxUsable(fs *live.FS) geometry.Blocks {
	n := fs.G.AGBlocks - fs.G.HeaderBlocks() - listReserve
	if len(fs.Reserves) > 0 {
		n -= fs.Reserves[0].Metadata.Asked + fs.Reserves[0].Rmap.Asked
	}
	return n
}

// listNeed is how many blocks the free list is to have: for each tree that takes blocks
// from it enough to grow by one level, and to split again up to the old root while the
// list is filled up. (xfs_alloc_min_freelist in libxfs.)
func (g *group) listNeed() geometry.Blocks {
	most := g.t.Heights()
	split := func(level ondisk.Field32, most uint64) geometry.Blocks {
		return geometry.Blocks(min(uint64(g.Get(level))+1, most)*2 - 2)
	}
	n := split(ondisk.AGFBnoLevel, most.Alloc) + split(ondisk.AGFCntLevel, most.Alloc)
	if g.t.G.Features.Rmapbt {
		n += split(ondisk.AGFRmapLevel, most.Rmap)
	}
	return n
}

// longest is how long an extent can be had once the free list is filled up, and what is
// reserved for others is left. (xfs_alloc_longest_free_extent in libxfs.)
func (g *group) longest(need, reserved geometry.Blocks) geometry.Blocks {
	less := need - min(need, g.ListLen())
	if elsewhere := g.FreeBlocks() - g.Longest(); elsewhere < reserved {
		less += reserved - elsewhere
	}
	switch {
	case g.Longest() > less:
		return min(maxUsable(g.t.FS), g.Longest()-less)
	case g.ListLen() > 0 || g.Longest() > 0:
		return 1 // which may be there
	}
	return 0
}

// available tells whether an AG has room for a request, and limits its length to what
// may be taken. (xfs_alloc_space_available in libxfs.)
func (g *group) available(r *Request) bool {
	need, reserved := g.listNeed(), g.reserved(r.Reserve)
	n := r.Min + r.Align - 1 + r.AlignSlop
	if g.longest(need, reserved) < n {
		return false
	}
	have := g.FreeBlocks() + min(g.ListLen(), need)
	without := reserved + need + r.MinLeft
	if have < without || have-without < max(r.Total, n) {
		return false
	}
	r.Max = min(r.Max, have-without)
	return true
}

// Longest is the length of the longest extent that can be had of an AG: at least 1 if
// there may be a block. (xfs_alloc_longest_free_extent in libxfs.)
func Longest(t *live.Trans, agno geometry.AGNumber, r Reserve) (geometry.Blocks, error) {
	g, err := open(t, agno)
	if err != nil {
		return 0, err
	}
	return g.longest(g.listNeed(), g.reserved(r)), nil
}
