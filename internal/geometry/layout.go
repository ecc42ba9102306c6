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

// Extent is a run of blocks within an AG.
type Extent struct {
	Start  AGBlock
	Blocks Blocks
}

// End is the first block behind the extent.
func (e Extent) End() AGBlock { return e.Start + AGBlock(e.Blocks) }

// FreeListBlocks is the number of blocks that a new AG's free list must hold.
func (g *Geometry) FreeListBlocks() Blocks {
	t := newTrees(g)
	return t.freeList(g, [3]uint64{1, 1, 1})
}

// freeList is the number of blocks that a free list must hold where the btrees that
// take blocks from it, bnobt, cntbt and rmapbt, have so many levels: for each of
// them enough to grow by one level and to split that once more while the list is
// refilled. (xfs_alloc_min_freelist in libxfs.)
func (t *trees) freeList(g *Geometry, levels [3]uint64) (n Blocks) {
	for i, most := range [3]uint64{t.allocLevels, t.allocLevels, t.rmapLevels} {
		if i < 2 || g.Features.Rmapbt {
			n += Blocks(min(levels[i]+1, most)*2 - 2)
		}
	}
	return n
}

// InodeAddress is where an inode is: its AG, and its number within that.
func (g *Geometry) InodeAddress(ino Inode) (AGNumber, uint32) {
	bits := g.AGBlockLog + g.InodeBlockLog()
	return AGNumber(ino >> bits), uint32(ino & (1<<bits - 1))
}

// InodeOf is the number of an inode that has a number within an AG.
func (g *Geometry) InodeOf(agno AGNumber, agino uint32) Inode {
	return Inode(agno)<<(g.AGBlockLog+g.InodeBlockLog()) | Inode(agino)
}

// BlockAddress is where a block is: its AG, and its number within that.
func (g *Geometry) BlockAddress(b FSBlock) (AGNumber, AGBlock) {
	return AGNumber(b >> g.AGBlockLog), AGBlock(b & (1<<g.AGBlockLog - 1))
}
