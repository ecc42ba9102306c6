package geometry

// CheckReserves refuses a filesystem whose metadata files would have no room to
// grow, once they have taken what they begin with: free is what is left, and finobt
// the blocks that the finobt of each AG has, if not one. A mount sets aside what the btrees of each AG may come
// to take, as far as there is room for it, and then up to a quarter of all blocks for
// those of realtime groups. (xfs_ag_resv_init and xfs_metafile_resv_init in libxfs.)
func (g *Geometry) CheckReserves(free Blocks, finobt map[AGNumber]Blocks) error {
	want := g.groupReserves()
	if !g.Features.Metadir || want == 0 {
		return nil
	}
	left := free
	known := map[reserveOf]reserve{} // most AGs are alike
	for agno := range g.AGCount {
		of := g.reserveOf(agno)
		of.finobt = max(of.finobt, finobt[agno])
		r, there := known[of]
		if !there {
			r = g.reserve(of)
			known[of] = r
		}
		left -= r.outOf(left)
	}
	if want > left {
		return refuse("", "the btrees of the realtime groups may come to take %d blocks, and the data section has %d for "+
			"them; make it larger, or fewer groups", want, left)
	}
	return nil
}

// reserveOf is what the reserve of an AG follows from: its blocks, without a
// log, and those that its finobt has.
type reserveOf struct {
	blocks, finobt Blocks
}

func (g *Geometry) reserveOf(agno AGNumber) reserveOf {
	of := reserveOf{blocks: g.AGLength(agno), finobt: 1}
	if g.HasLog(agno) {
		of.blocks -= g.Log.Blocks
	}
	return of
}

// reserve is what the btrees of an AG may still come to take.
type reserve struct{ refcount, finobt, rmap Blocks }

func (g *Geometry) reserve(of reserveOf) (r reserve) {
	most := g.treeSpace(of.blocks)
	if g.Features.Reflink {
		r.refcount = most.Refcount - 1 // the root is there
	}
	r.finobt = max(most.Finobt, of.finobt) - of.finobt
	if !g.Features.Finobt {
		r.finobt = 0
	}
	r.rmap = most.Rmap
	return r
}

// TreeSpace is what btrees of an AG may come to take in all, and a mount sees to that they
// can. It is 0 for those that the filesystem does not have.
type TreeSpace struct{ Refcount, Finobt, Rmap Blocks }

// TreeSpace computes it for an AG. (xfs_refcountbt_calc_reserves and the like in libxfs.)
func (g *Geometry) TreeSpace(agno AGNumber) TreeSpace { return g.treeSpace(g.reserveOf(agno).blocks) }

func (g *Geometry) treeSpace(blocks Blocks) (most TreeSpace) {
	t := newTrees(g)
	if g.Features.Reflink {
		most.Refcount = t.refcount.blocks(blocks)
	}
	if g.Features.Finobt {
		most.Finobt = t.inode.blocks(blocks * Blocks(g.InodesPerBlock()) / InodesPerChunk)
	}
	if g.Features.Rmapbt {
		most.Rmap = max(blocks/100, t.rmap.blocks(blocks))
	}
	return most
}

// outOf is how much of a reserve so many blocks allow: the finobt can do without,
// and without what is for the others nothing is for the rmapbt.
func (r reserve) outOf(left Blocks) (n Blocks) {
	switch {
	case r.refcount+r.finobt <= left:
		n = r.refcount + r.finobt
	case r.refcount <= left:
		n = r.refcount
	default:
		return 0
	}
	if r.rmap <= left-n {
		n += r.rmap
	}
	return n
}

// all is the reserve where there is room for it.
func (r reserve) all() Blocks { return r.refcount + r.finobt + r.rmap }

// groupReserves is what is set aside for the btrees of all realtime groups.
func (g *Geometry) groupReserves() Blocks {
	return min(g.groupReserve()*Blocks(g.RT.GroupCount), g.Blocks/4)
}

// groupReserve is what the btrees of a realtime group may come to take.
func (g *Geometry) groupReserve() (n Blocks) {
	rmap, refcount := g.groupTrees()
	if g.Features.Rmapbt {
		n += max(g.RT.GroupBlocks/100, rmap.blocks(g.RT.GroupBlocks))
	}
	if g.Features.Reflink {
		n += refcount.blocks(g.RT.GroupBlocks)
	}
	return n
}

// groupTrees are the btrees of a realtime group, of owners and of shared blocks.
func (g *Geometry) groupTrees() (rmap, refcount tree) {
	block := uint64(g.BlockSize)
	return newTree(block, longHeaderV5, 24, 2*20+8), newTree(block, longHeaderV5, 12, 4+8)
}
