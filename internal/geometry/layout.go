package geometry

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
	Chunks   []Extent  // of inodes, in the order in which they were allocated
	Owned    []Owned   // by files, likewise
	Free     FreeSpace
	// Inodes has the records of the inode btree, and FreeInodes those of them
	// that have free inodes, with what others left behind.
	Inodes, FreeInodes Records[InodeRecord]
}

// AG computes the final use of an AG's blocks, in the order in which the
// allocator hands them out: the log, the free list, inodes and files. It is
// not to be changed.
func (g *Geometry) AG(agno AGNumber) *AG {
	if g.Contents != nil {
		if a, there := g.Contents.AGs[agno]; there {
			return a
		}
	}
	a := g.agWithFreeList(agno, g.FreeListBlocks())
	return &a
}

func (g *Geometry) agWithFreeList(agno AGNumber, need Blocks) AG {
	a := AG{Number: agno, Length: g.AGLength(agno)}
	if g.HasLog(agno) {
		a.Log = Extent{g.Log.Start, g.Log.Blocks}
	}
	a.Free = newFreeSpace(a.Length, g.HeaderBlocks(), a.Log)
	a.fillFreeList(need)
	return a
}

// fillFreeList takes blocks from the smallest extent that satisfies the whole
// rest of the need, else from the longest there is. An AG that has fewer free
// blocks than that gets no list.
func (a *AG) fillFreeList(need Blocks) {
	if a.Free.Total() < need {
		return
	}
	for have := Blocks(0); have < need; {
		from := a.Free.smallest(need - have)
		from.Blocks = min(from.Blocks, need-have)
		a.Free.take(from)
		for b := from.Start; b < from.End(); b++ {
			a.FreeList = append(a.FreeList, b)
		}
		have += from.Blocks
	}
}
