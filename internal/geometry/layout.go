package geometry

import "slices"

// Extent is a run of blocks within an AG.
type Extent struct {
	Start  AGBlock
	Blocks Blocks
}

// End is the first block behind the extent.
func (e Extent) End() AGBlock { return e.Start + AGBlock(e.Blocks) }

// Roots are the blocks of an AG's btree roots. One that its filesystem does
// not have is 0, where the superblock is.
type Roots struct {
	Bno, Cnt, Ino, Fino, Rmap, Refcount AGBlock
}

// headerSectors is the number of sectors at the start of an AG: superblock,
// AGF, AGI and AGFL.
const headerSectors = 4

// SectorBlocks is the number of blocks that the four header sectors take.
func (g *Geometry) SectorBlocks() Blocks {
	return Blocks(divUp(headerSectors*g.SectorSize, g.BlockSize))
}

// Roots places the btree roots, without gaps, behind the header sectors.
func (g *Geometry) Roots() Roots {
	next := AGBlock(g.SectorBlocks())
	take := func(there bool) AGBlock {
		if !there {
			return 0
		}
		next++
		return next - 1
	}
	f := &g.Features
	return Roots{
		Bno: take(true), Cnt: take(true), Ino: take(true),
		Fino: take(f.Finobt), Rmap: take(f.Rmapbt), Refcount: take(f.Reflink),
	}
}

// HeaderBlocks is the number of blocks at an AG's start that headers and btree roots take.
func (g *Geometry) HeaderBlocks() Blocks {
	r := g.Roots()
	return Blocks(max(r.Ino, r.Fino, r.Rmap, r.Refcount)) + 1
}

// FreeListBlocks is the number of blocks that an AG's free list must hold: for
// each of the trees that take blocks from it enough to grow by one level and
// to split that once more while the list is refilled.
func (g *Geometry) FreeListBlocks() Blocks {
	t := newTrees(g)
	split := func(most uint64) Blocks { return Blocks(min(2, most)*2 - 2) }
	n := 2 * split(t.allocLevels)
	if g.Features.Rmapbt {
		n += split(t.rmapLevels)
	}
	return n
}

// AG is the use of an AG's blocks in the finished filesystem.
type AG struct {
	Number   AGNumber
	Length   Blocks
	FreeList []AGBlock // in the list's order
	Log      Extent    // empty but in the log's AG
	Inodes   Extent    // the root inode's chunk, empty but in AG 0
	Free     []Extent  // by start
}

// FreeBlocks sums the free extents.
func (a *AG) FreeBlocks() Blocks {
	var n Blocks
	for _, e := range a.Free {
		n += e.Blocks
	}
	return n
}

// Longest is the length of the longest free extent.
func (a *AG) Longest() Blocks {
	var n Blocks
	for _, e := range a.Free {
		n = max(n, e.Blocks)
	}
	return n
}

// BySize is the free extents by length, then start.
func (a *AG) BySize() []Extent {
	s := slices.Clone(a.Free)
	slices.SortStableFunc(s, func(x, y Extent) int {
		switch {
		case x.Blocks < y.Blocks:
			return -1
		case x.Blocks > y.Blocks:
			return 1
		}
		return 0
	})
	return s
}

// AG computes the final use of an AG's blocks, in the order in which the
// allocator hands them out: the log, the free list, the root inode's chunk.
func (g *Geometry) AG(agno AGNumber) AG {
	a := g.agWithFreeList(agno, g.FreeListBlocks())
	if agno == 0 {
		a.Inodes = Extent{g.Root.Start, g.Root.Blocks}
		a.take(a.Inodes)
	}
	return a
}

func (g *Geometry) agWithFreeList(agno AGNumber, need Blocks) AG {
	header := g.HeaderBlocks()
	a := AG{Number: agno, Length: g.AGLength(agno)}
	a.Free = []Extent{{AGBlock(header), a.Length - header}}
	if g.HasLog(agno) {
		a.Log = Extent{g.Log.Start, g.Log.Blocks}
		a.take(a.Log)
	}
	a.fillFreeList(need)
	return a
}

// fillFreeList takes blocks from the smallest extents that satisfy the whole
// rest of the need, else from the longest there is.
func (a *AG) fillFreeList(need Blocks) {
	for have := Blocks(0); have < need && len(a.Free) > 0; {
		bySize := a.BySize()
		from := bySize[len(bySize)-1]
		if i := slices.IndexFunc(bySize, func(e Extent) bool { return e.Blocks >= need-have }); i >= 0 {
			from = bySize[i]
		}
		from.Blocks = min(from.Blocks, need-have)
		a.take(from)
		for b := from.Start; b < from.End(); b++ {
			a.FreeList = append(a.FreeList, b)
		}
		have += from.Blocks
	}
}

// take removes a used extent from the free ones.
func (a *AG) take(used Extent) {
	free := make([]Extent, 0, len(a.Free)+1)
	for _, e := range a.Free {
		if used.End() <= e.Start || e.End() <= used.Start {
			free = append(free, e)
			continue
		}
		if e.Start < used.Start {
			free = append(free, Extent{e.Start, Blocks(used.Start - e.Start)})
		}
		if used.End() < e.End() {
			free = append(free, Extent{used.End(), Blocks(e.End() - used.End())})
		}
	}
	a.Free = free
}

// firstFit is the lowest aligned start at which n blocks are free.
func (a *AG) firstFit(n, align Blocks) (AGBlock, bool) {
	for _, e := range a.Free {
		start := AGBlock(roundUp(Blocks(e.Start), align))
		if Blocks(start)+n <= Blocks(e.End()) {
			return start, true
		}
	}
	return 0, false
}
