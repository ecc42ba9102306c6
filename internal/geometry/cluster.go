package geometry

// InodeChunk is how inodes are allocated and kept in memory.
type InodeChunk struct {
	Blocks        Blocks // of a chunk
	SparseBlocks  Blocks // of the part of a chunk that is allocated where there is no room for all; else Blocks
	ClusterBlocks Blocks // that are read and written, and logged, as one
	Align         Blocks // of chunks, 1 for none; clusters are counted from there
	Stripe        Blocks // alignment of chunks where there is room for it, 0 for none
	MaxInodes     uint64 // that the filesystem may have, 0 for any number
}

// inodeClusterBytes is the least that a cluster has, of inodes of the least size.
const inodeClusterBytes = 8 * kib

// InodeChunk computes the sizes, as the kernel does when it mounts. Clusters
// of V5 grow with inodes, if chunks are aligned to them.
func (g *Geometry) InodeChunk() InodeChunk {
	blocks := Blocks(g.ChunkInodes()) >> g.InodeBlockLog()
	c := InodeChunk{Blocks: blocks, SparseBlocks: blocks, ClusterBlocks: 1}
	if g.Features.Sparse {
		c.SparseBlocks = g.SparseAlign
	}
	cluster := Bytes(inodeClusterBytes)
	if g.Features.CRC {
		if larger := cluster * g.InodeSize / minInodeSize; g.InodeAlign >= Blocks(larger>>g.BlockLog) {
			cluster = larger
		}
	}
	if cluster > g.BlockSize {
		c.ClusterBlocks = Blocks(cluster >> g.BlockLog)
	}
	c.Align = 1
	if g.Features.Align && g.InodeAlign >= c.ClusterBlocks {
		c.Align = g.InodeAlign
	}
	if c.Align > 1 && g.StripeUnit&(c.Align-1) == 0 {
		c.Stripe = g.StripeUnit
	}
	c.MaxInodes = g.maxInodes()
	return c
}
