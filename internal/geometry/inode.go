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

// clusterAlign is the alignment of inode chunks where stripes do not count.
func (g *Geometry) clusterAlign() Blocks {
	if g.Features.Align && g.InodeAlign >= g.clusterBlocks() {
		return g.InodeAlign
	}
	return 1
}

// chunkAlign is the alignment that chunks are allocated with, and whether
// that is the stripe unit.
func (g *Geometry) chunkAlign() (align Blocks, striped bool) {
	align = g.clusterAlign()
	if g.StripeUnit > 0 && align > 1 && g.StripeUnit&(align-1) == 0 {
		return g.StripeUnit, true
	}
	return align, false
}

// planRoot places the chunk of the root directory where xfs_repair looks for it. Whether
// there is room for it is seen when it is made.
func (p *plan) planRoot() {
	g := p.g
	g.Root = Extent{g.expectedRoot(), g.chunkBlocks()}
}

func (g *Geometry) expectedRoot() AGBlock {
	_, striped := g.chunkAlign()
	first := g.HeaderBlocks() + g.FreeListBlocks()
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

// maxInodes is how many inodes there may be, 0 for any number: whole chunks of
// a part of all blocks.
func (g *Geometry) maxInodes() uint64 {
	n := g.Blocks * Blocks(g.MaxInodePercent) / 100 / g.chunkBlocks()
	return uint64(n*g.chunkBlocks()) << g.InodeBlockLog()
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
