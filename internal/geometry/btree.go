package geometry

// tree is the fanout of one kind of btree in blocks of this filesystem:
// records per leaf and pointers per node, at most and at least.
type tree struct {
	maxLeaf, minLeaf uint64
	maxNode, minNode uint64
}

// The lengths in bytes of btree block headers: short ones of trees within an
// AG, long ones of trees in an inode, with and without the V5 fields.
const (
	shortHeaderV4, shortHeaderV5 = 16, 56
	longHeaderV4, longHeaderV5   = 24, 72
)

func newTree(block, header, record, node uint64) tree {
	t := tree{maxLeaf: (block - header) / record, maxNode: (block - header) / node}
	t.minLeaf, t.minNode = t.maxLeaf/2, t.maxNode/2
	return t
}

// trees are the btrees that bear on space and log reservations.
type trees struct {
	alloc, inode, rmap, refcount, bmap tree

	allocLevels, inodeLevels, rmapLevels, refcountLevels uint64
	dataForkLevels, attrForkLevels                       uint64
}

// newTrees computes the greatest height that each tree can reach.
func newTrees(g *Geometry) trees {
	block := uint64(g.BlockSize)
	short, long := uint64(shortHeaderV4), uint64(longHeaderV4)
	if g.Features.CRC {
		short, long = shortHeaderV5, longHeaderV5
	}
	t := trees{
		alloc:    newTree(block, short, 8, 8+4),
		inode:    newTree(block, short, 16, 4+4),
		rmap:     newTree(block, short, 24, 2*20+4),
		refcount: newTree(block, short, 12, 4+4),
		bmap:     newTree(block, long, 16, 8+8),
	}
	ag := uint64(g.AGBlocks)
	t.allocLevels = t.alloc.levels((ag + 1) / 2) // free extents alternate with used ones
	t.inodeLevels = t.inode.levels(1 << (g.InodeBlockLog() + g.AGBlockLog) / InodesPerChunk)
	if g.Features.Rmapbt {
		t.rmapLevels = t.rmap.levels(ag)
		if g.Features.Reflink {
			// A shared block has any number of owners: the tree may fill the AG.
			t.rmapLevels = t.rmap.levelsIn(ag)
		}
	}
	if g.Features.Reflink {
		t.refcountLevels = t.refcount.levels(ag)
	}
	data, attr := uint64(1)<<31-1, uint64(1)<<15-1
	if g.Features.Nrext64 {
		data, attr = 1<<48-1, 1<<32-1
	}
	t.dataForkLevels = t.bmap.forkLevels(data, 3)
	t.attrForkLevels = t.bmap.forkLevels(attr, 2)
	return t
}

// levels is the height of a tree of so many records whose blocks are as empty as allowed.
func (t tree) levels(records uint64) uint64 {
	height := uint64(1)
	for blocks := divUp(records, t.minLeaf); blocks > 1; height++ {
		blocks = divUp(blocks, t.minNode)
	}
	return height
}

// blocks is the number of blocks of a tree of so many records whose blocks are
// as empty as allowed.
func (t tree) blocks(records Blocks) Blocks {
	level := divUp(records, Blocks(t.minLeaf))
	n := level
	for level > 1 {
		level = divUp(level, Blocks(t.minNode))
		n += level
	}
	return n
}

// levelsIn is the greatest height of a tree that takes so many blocks. Its
// root has at least two pointers, all other nodes the least number.
func (t tree) levelsIn(blocks uint64) uint64 {
	height, level, left := uint64(1), uint64(2), blocks-1
	for level < left {
		left -= level
		level *= t.minNode
		height++
	}
	return height
}

// forkLevels is the height of a tree of extents whose root, in the inode, holds rootPointers.
func (t tree) forkLevels(extents, rootPointers uint64) uint64 {
	height := uint64(1)
	for blocks := divUp(extents, t.minLeaf); blocks > 1; height++ {
		if blocks <= rootPointers {
			blocks = 1
		} else {
			blocks = divUp(blocks, t.minNode)
		}
	}
	return height
}
