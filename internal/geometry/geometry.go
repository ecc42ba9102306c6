// Package geometry computes every number of an XFS filesystem: from what was
// asked (Spec) and what the device is (Device) to one complete Geometry. It is
// pure arithmetic: no IO, no clock, no globals. The rules are those of the XFS
// documentation ("XFS Algorithms & Data Structures") and of what mkfs.xfs 7.2.0
// was seen to decide; a comment names the rule where the number is not obvious.
package geometry

// Geometry is a filesystem's layout. Nothing changes it after Plan.
type Geometry struct {
	BlockSize, SectorSize, InodeSize, DirBlockSize Bytes
	BlockLog, SectorLog, InodeLog, DirBlockLog     uint

	Blocks     Blocks // of the data section
	AGBlocks   Blocks // of every AG but a shorter last one
	AGCount    AGNumber
	AGBlockLog uint // bits of an FSBlock that hold the AGBlock

	StripeUnit, StripeWidth Blocks // 0 for none

	MaxInodePercent int
	// InodeAlign is the alignment of inode chunks and SparseAlign that of
	// sparse ones, in blocks; 0 where there is none.
	InodeAlign, SparseAlign Blocks

	Log      Log
	RT       Realtime
	Root     Extent // the chunk of inodes that begins with the root directory, in AG 0
	Features Features
	Label    string
	Inherit  Inherit
}

// Log is the place and the shape of the log.
type Log struct {
	External   bool
	AG         AGNumber // of an internal log
	Start      AGBlock
	Blocks     Blocks
	SectorSize Bytes
	SectorLog  uint
	StripeUnit Blocks // 0 for none
	MinBlocks  Blocks // the least that the kernel mounts
}

// InodesPerChunk is the number of inodes that one inode btree record covers.
const InodesPerChunk = 64

// InodesPerBlock is the number of inodes in a block.
func (g *Geometry) InodesPerBlock() int { return 1 << g.InodeBlockLog() }

// InodeBlockLog is the base-2 logarithm of InodesPerBlock.
func (g *Geometry) InodeBlockLog() uint { return g.BlockLog - g.InodeLog }

// MetadirInode is the number of the root of the metadata directory, if there is one:
// the inode behind the root directory's.
func (g *Geometry) MetadirInode() Inode { return g.RootInode() + 1 }

// RootInode is the number of the root directory, the first of its chunk.
func (g *Geometry) RootInode() Inode { return Inode(g.Root.Start) << g.InodeBlockLog() }

// FSBlock is the on-disk address of a block.
func (g *Geometry) FSBlock(agno AGNumber, agbno AGBlock) FSBlock {
	return FSBlock(agno)<<g.AGBlockLog | FSBlock(agbno)
}

// Daddr is the device address of a block.
func (g *Geometry) Daddr(agno AGNumber, agbno AGBlock) Daddr {
	return Daddr(g.Offset(agno, agbno) / BasicBlock)
}

// Offset is a block's byte offset in the data section.
func (g *Geometry) Offset(agno AGNumber, agbno AGBlock) Bytes {
	return Bytes((Blocks(agno)*g.AGBlocks + Blocks(agbno)) << g.BlockLog)
}

// Bytes is the length of n blocks.
func (g *Geometry) Bytes(n Blocks) Bytes { return Bytes(n << g.BlockLog) }

// AGLength is the number of blocks of an AG; only the last may be shorter than AGBlocks.
func (g *Geometry) AGLength(agno AGNumber) Blocks {
	if agno == g.AGCount-1 {
		return g.Blocks - Blocks(agno)*g.AGBlocks
	}
	return g.AGBlocks
}

// HasLog tells whether an AG holds the internal log.
func (g *Geometry) HasLog(agno AGNumber) bool { return !g.Log.External && agno == g.Log.AG }

// FreeBlocks is the number of blocks that neither AG headers nor the log
// take; blocks on the free lists count as free.
func (g *Geometry) FreeBlocks() Blocks {
	free := g.Blocks - Blocks(g.AGCount)*g.HeaderBlocks()
	if !g.Log.External {
		free -= g.Log.Blocks
	}
	return free
}

// ChunkInodes is the number of inodes in a chunk.
func (g *Geometry) ChunkInodes() int { return max(InodesPerChunk, g.InodesPerBlock()) }
