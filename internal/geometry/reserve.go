package geometry

// checkReserves refuses a filesystem whose metadata files would have no room to
// grow. A mount sets aside what the btrees of each AG may come to take, as far
// as there is room for it, and then up to a quarter of all blocks for those of
// realtime groups. (xfs_ag_resv_init and xfs_metafile_resv_init in libxfs.)
func (m *maker) checkReserves() {
	g := m.p.g
	want := min(g.groupReserve()*Blocks(g.RT.GroupCount), g.Blocks/4)
	if !g.Features.Metadir || want == 0 {
		return
	}
	left := g.FreeBlocks() - m.c.TakenBlocks()
	for agno := range g.AGCount {
		left -= m.agReserve(agno, left)
	}
	if want > left {
		m.p.refuse("", "the btrees of the realtime groups may come to take %d blocks, and the data section has %d for them; make it larger, or fewer groups", want, left)
	}
}

// agReserve is what is set aside of so many blocks for the btrees of an AG.
func (m *maker) agReserve(agno AGNumber, left Blocks) (n Blocks) {
	g := m.p.g
	t := newTrees(g)
	blocks := g.AGLength(agno)
	if g.HasLog(agno) {
		blocks -= g.Log.Blocks
	}
	var refcount, free Blocks
	if g.Features.Reflink {
		refcount = t.refcount.blocks(blocks) - 1 // the root is there
	}
	if g.Features.Finobt {
		free = t.inode.blocks(blocks*Blocks(g.InodesPerBlock())/InodesPerChunk) - 1
		if a := m.c.AGs[agno]; a != nil {
			free -= min(free, Blocks(a.FreeInodes.Blocks()-1))
		}
	}
	switch {
	case refcount+free <= left:
		n = refcount + free
	case refcount <= left:
		n = refcount
	default:
		return 0
	}
	if g.Features.Rmapbt {
		if rmap := max(blocks/100, t.rmap.blocks(blocks)); rmap <= left-n {
			n += rmap
		}
	}
	return n
}

// groupReserve is what the btrees of a realtime group may come to take.
func (g *Geometry) groupReserve() (n Blocks) {
	block := uint64(g.BlockSize)
	if g.Features.Rmapbt {
		rmap := newTree(block, longHeaderV5, 24, 2*20+8)
		n += max(g.RT.GroupBlocks/100, rmap.blocks(g.RT.GroupBlocks))
	}
	if g.Features.Reflink {
		n += newTree(block, longHeaderV5, 12, 4+8).blocks(g.RT.GroupBlocks)
	}
	return n
}
