package geometry

import "mkfs/internal/memtree"

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

// AG is the use of an AG's blocks in the finished filesystem.
type AG struct {
	Number   AGNumber
	Length   Blocks
	FreeList FreeList
	Log      Extent   // empty but in the log's AG
	Chunks   []Extent // of inodes, in the order in which they were allocated
	Free     FreeSpace
	// Owners has all that is in use, as the rmapbt lists it.
	Owners *memtree.Tree[Use]
	// NewInode begins the newest record of inodes, null for none.
	NewInode uint32
	// Inodes has the records of the inode btree, and FreeInodes those of them
	// that have free inodes.
	Inodes, FreeInodes *memtree.Tree[InodeRecord]

	g     *Geometry
	trees *trees
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
	return g.newAG(agno)
}

// newAG is an AG without inodes and files. One that has fewer free blocks than
// the free list needs gets none.
func (g *Geometry) newAG(agno AGNumber) *AG {
	t := newTrees(g)
	a := &AG{Number: agno, Length: g.AGLength(agno), FreeList: newFreeList(g), NewInode: NullAGInode, g: g, trees: &t}
	if g.HasLog(agno) {
		a.Log = Extent{g.Log.Start, g.Log.Blocks}
	}
	roots := g.Roots()
	a.Free = newFreeSpace(a.Length, g.HeaderBlocks(), a.Log)
	a.Owners = memtree.New(byOwner, t.owners(g), uint64(roots.Rmap), g.headerUses(a.Log))
	a.Inodes = memtree.New(byInode, t.inode.size(), uint64(roots.Ino), nil)
	free := memtree.Size{Leaf: endless}
	if g.Features.Finobt {
		free = t.inode.size()
	}
	a.FreeInodes = memtree.New(byInode, free, uint64(roots.Fino), nil)
	if a.Free.Total() >= a.freeListLacks() {
		a.refill()
	}
	return a
}
