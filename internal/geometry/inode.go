package geometry

import "math/bits"

const (
	minInodeSize      = 256
	minInodeSizeV5    = 512
	maxInodeSize      = 2048
	minInodesPerBlock = 2
	inodeCluster      = 8 * kib // the IO unit of inodes at the least inode size
)

// planInodes settles the size of inodes.
func (p *plan) planInodes() {
	g, s := p.g, &p.spec.Inode
	least := int64(DefaultInodeSize(g.Features.CRC))
	option, size := "-i size", s.Size.or(least)
	if s.PerBlock.Given {
		if s.PerBlock.Value < 1 {
			p.refuse("-i perblock", "%d; a block has at least %d inodes", s.PerBlock.Value, minInodesPerBlock)
			return
		}
		option, size = "-i perblock", int64(g.BlockSize)/s.PerBlock.Value
	}
	most := min(maxInodeSize, int64(g.BlockSize)/minInodesPerBlock)
	if size < least || size > most {
		p.refuse(option, "inodes of %d bytes; with blocks of %d bytes they have %d to %d", size, g.BlockSize, least, most)
		return
	}
	g.InodeSize, g.InodeLog = Bytes(size), log2(size)
}

// DefaultInodeSize is the size of inodes where none is asked for, the least.
func DefaultInodeSize(crc bool) Bytes {
	if crc {
		return minInodeSizeV5
	}
	return minInodeSize
}

// planInodeAlign settles how chunks of inodes are aligned: to an IO unit that
// grows with the inode size in V5, and to whole chunks where sparse ones exist.
func (p *plan) planInodeAlign() {
	g := p.g
	if !g.Features.Align {
		return
	}
	g.InodeAlign = Blocks(g.clusterBytes()) >> g.BlockLog
	if g.Features.Sparse {
		g.SparseAlign = g.InodeAlign
		g.InodeAlign = Blocks(InodesPerChunk*g.InodeSize) >> g.BlockLog
	}
}

func (g *Geometry) clusterBytes() Bytes {
	if g.Features.CRC {
		return inodeCluster * g.InodeSize / minInodeSize
	}
	return inodeCluster
}

// clusterBlocks is the number of blocks that are read and written together for inodes.
func (g *Geometry) clusterBlocks() Blocks {
	size := inodeCluster
	if g.InodeAlign >= blocksIn(g.clusterBytes(), g.BlockLog) {
		size = g.clusterBytes()
	}
	return max(1, blocksIn(size, g.BlockLog))
}

// chunkBlocks is the number of blocks that are allocated together for inodes.
func (g *Geometry) chunkBlocks() Blocks {
	return max(1, Blocks(InodesPerChunk)>>g.InodeBlockLog())
}

// chunkAlign is the alignment that chunks are allocated with, and whether
// that is the stripe unit.
func (g *Geometry) chunkAlign() (align Blocks, striped bool) {
	align = 1
	if g.Features.Align && g.InodeAlign >= g.clusterBlocks() {
		align = g.InodeAlign
	}
	if g.StripeUnit > 0 && align > 1 && g.StripeUnit&(align-1) == 0 {
		return g.StripeUnit, true
	}
	return align, false
}

// planRoot places the root directory's chunk of inodes, where the allocator
// would. Checkers compute the place from the superblock alone; a filesystem
// where the two differ would lose its root, and is refused.
func (p *plan) planRoot() {
	g := p.g
	n := g.chunkBlocks()
	align, striped := g.chunkAlign()
	need := g.FreeListBlocks()
	a := g.agWithFreeList(0, need)
	start, ok := g.allocChunk(&a, n, align)
	if !ok && striped {
		start, ok = g.allocChunk(&a, n, g.InodeAlign)
	}
	if want := g.expectedRoot(need, striped); !ok || start != want {
		p.refuse("", "the root inode does not fit where checkers expect it, at block %d of AG 0; use larger AGs, a smaller stripe unit or another AG for the log", want)
		return
	}
	g.Root = Extent{start, n}
}

// allocChunk finds the lowest place for a chunk of n blocks. The allocator
// wants room for any alignment, and for the inode btree to split afterwards.
func (g *Geometry) allocChunk(a *AG, n, align Blocks) (AGBlock, bool) {
	room := n + align - 1
	if a.Free.Longest < room || a.Free.Total() < room+Blocks(newTrees(g).inodeLevels) {
		return 0, false
	}
	return a.Free.firstFit(n, align)
}

// expectedRoot is where xfs_repair looks for the root's chunk.
func (g *Geometry) expectedRoot(freeList Blocks, striped bool) AGBlock {
	first := g.HeaderBlocks() + freeList
	if g.HasLog(0) {
		first += g.Log.Blocks
	}
	switch {
	case striped:
		first = roundUp(first, g.StripeUnit)
	case g.Features.Align && g.InodeAlign > 1:
		first = roundUp(first, g.InodeAlign)
	}
	return AGBlock(first)
}

// planMaxInodes settles which part of the space inodes may take, in percent.
func (p *plan) planMaxInodes() {
	p.g.MaxInodePercent = int(p.spec.Inode.MaxPercent.or(DefaultInodePercent(p.g)))
}

// DefaultInodePercent is the part of the space that inodes may take where
// nothing is asked for.
func DefaultInodePercent(g *Geometry) int64 {
	switch {
	case g.Blocks >= blocksIn(50*tib, g.BlockLog):
		return 1
	case g.Blocks >= blocksIn(tib, g.BlockLog):
		return 5
	}
	return 25
}

// log2 is the base-2 logarithm, rounded down, of a positive number.
func log2[T ~int64 | ~uint64](n T) uint { return uint(bits.Len64(uint64(n))) - 1 }
