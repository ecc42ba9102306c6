package geometry

// A log must hold the largest transaction that the filesystem may run, and the
// kernel refuses to mount one that does not. So the least size of a log
// follows from the log reservations of all transactions, computed here as the
// kernel does at mount: which blocks each may dirty in the worst case.

// reservation is what a transaction reserves: bytes, and how often it may roll.
type reservation struct {
	bytes uint64
	count uint64
}

func (r reservation) total() uint64 { return r.bytes * max(r.count, 1) }

// Sizes of log items, in bytes.
const (
	opHeader        = 12             // before each region in the log
	bufferOverhead  = 128            // op header and buffer format, rounded up
	inodeFormat     = 56             // describes a logged inode
	quotaReserve    = 6 * (24 + 104) // format and dquot, for three kinds in two inodes
	transHeader     = 16             // starts a transaction
	attrIntent      = 40             // describes a deferred attribute change
	parentRecord    = 12             // value of a parent pointer
	nameSpace       = 256            // longest name of 255 bytes, rounded up
	parentAdd       = attrIntent + parentRecord + nameSpace
	parentReplace   = attrIntent + 2*(parentRecord+nameSpace)
	longestSymlink  = 1024
	attrTreeDepth   = 5 // of a directory or attribute btree
	oldRmapLevels   = 9 // what early reflink kernels assumed
	oldRefcountRoll = 8 // likewise
)

// reserver computes log reservations for one geometry.
type reserver struct {
	trees
	f                      Features
	block, sector, inode   uint64
	dirBlocks              uint64 // filesystem blocks in a directory block
	chunkBlocks, clusterSz uint64
	longHeader             uint64
	rt                     rtReserver
}

func newReserver(g *Geometry) *reserver {
	r := &reserver{
		trees: newTrees(g), f: g.Features,
		block: uint64(g.BlockSize), sector: uint64(g.SectorSize), inode: uint64(g.InodeSize),
		dirBlocks:   uint64(g.DirBlockSize / g.BlockSize),
		chunkBlocks: uint64(g.chunkBlocks()),
		clusterSz:   uint64(g.Bytes(g.clusterBlocks())),
		longHeader:  longHeaderV4,
		rt:          newRTReserver(g),
	}
	if g.Features.CRC {
		r.longHeader = longHeaderV5
	}
	return r
}

// buffers is the space for n buffers of size bytes.
func buffers(n, size uint64) uint64 { return n * (size + bufferOverhead) }

func (r *reserver) blocks(n uint64) uint64  { return buffers(n, r.block) }
func (r *reserver) sectors(n uint64) uint64 { return buffers(n, r.sector) }

// inodes is the space for n inodes with both forks as btree roots: the
// incore form of a root has a whole block header.
func (r *reserver) inodes(n uint64) uint64 {
	return n * (4*opHeader + inodeFormat + r.inode + 2*r.longHeader)
}

// allocFree counts the btree blocks that allocating or freeing n extents may
// dirty: both free space trees and the reverse map, split at each level.
func (r *reserver) allocFree(n uint64) uint64 {
	count := n * 2 * (2*r.allocLevels - 1)
	if r.f.Rmapbt {
		count += n * (2*r.rmapLevels - 1)
	}
	return count
}

func (r *reserver) refcountBlocks(n uint64) uint64 { return n * (2*r.refcountLevels - 1) }

func (r *reserver) refcount(n uint64) uint64 {
	if !r.f.Reflink {
		return 0
	}
	return r.sectors(n) + r.blocks(r.refcountBlocks(n))
}

// extentAdd counts the bmap blocks that adding n extents to a fork may take.
func (r *reserver) extentAdd(n, levels uint64) uint64 {
	return divUp(n, r.alloc.maxLeaf-r.alloc.minLeaf) * (levels - 1)
}

// dirEnter counts the blocks that adding a name may take.
func (r *reserver) dirEnter() uint64 {
	depth := uint64(attrTreeDepth + 2)
	return depth*r.dirBlocks + depth*r.extentAdd(r.dirBlocks, r.dataForkLevels)
}

// dirOp counts the blocks that adding or removing a name may dirty.
func (r *reserver) dirOp() uint64 { return r.dirEnter() + 1 }

func (r *reserver) inodeTree() uint64 {
	return r.blocks(r.inodeLevels) + r.blocks(r.allocFree(1))
}

func (r *reserver) freeInodeTree() uint64 {
	if !r.f.Finobt {
		return 0
	}
	return r.inodeTree()
}

func (r *reserver) unlinkedAdd() uint64    { return r.sectors(1) + r.clusterSz }
func (r *reserver) unlinkedRemove() uint64 { return r.sectors(1) + 2*r.clusterSz }

func (r *reserver) write(old bool) uint64 {
	inode := r.inodes(1) + r.blocks(r.dataForkLevels) + r.sectors(3) + r.blocks(r.allocFree(2))
	free := r.sectors(5) + r.blocks(r.allocFree(2))
	if old && r.f.Reflink {
		inode += r.blocks(r.refcountBlocks(2))
		free += r.blocks(r.refcountBlocks(2))
	}
	return quotaReserve + max(inode, free, r.rtWrite(), r.deferredRefcount(old, 1))
}

func (r *reserver) truncate(old bool) uint64 {
	inode := r.inodes(1) + r.blocks(r.dataForkLevels+1)
	free := r.freeExtents(4)
	if old && r.f.Reflink {
		free += r.blocks(r.refcountBlocks(4))
	}
	return quotaReserve + max(inode, free, r.rtFreeExtents(2), r.deferredRefcount(old, 2))
}

// deferredRefcount is the reference count update in a transaction of its own,
// which early reflink kernels did within the one that frees.
func (r *reserver) deferredRefcount(old bool, n uint64) uint64 {
	if old {
		return 0
	}
	return max(r.refcount(n), r.rtRefcount(n))
}

// freeExtents is a deferred transaction that frees n extents.
func (r *reserver) freeExtents(n uint64) uint64 {
	return r.sectors(2*n+1) + r.blocks(r.allocFree(n))
}

func (r *reserver) createAlloc() uint64 {
	chunk := r.blocks(r.allocFree(1))
	if !r.f.CRC {
		chunk += r.blocks(r.chunkBlocks) // V5 logs the chunk as one small item
	}
	return r.sectors(2) + r.sector + chunk + r.inodeTree() + r.freeInodeTree()
}

func (r *reserver) createModify() uint64 {
	return r.inodes(2) + r.sectors(1) + r.block + r.blocks(r.dirOp()) + r.freeInodeTree()
}

// attrSet, attrSetBlock and attrRemove are the extended attribute transactions;
// the first is for an attribute without blocks, the second what each block adds.
func (r *reserver) attrSet() uint64 {
	return quotaReserve + r.inodes(1) + r.sectors(1) + r.blocks(attrTreeDepth)
}

func (r *reserver) attrSetBlock() uint64 { return r.sectors(1) + r.blocks(r.attrForkLevels) }

func (r *reserver) attrRemove() uint64 {
	inode := r.inodes(1) + r.blocks(attrTreeDepth) + r.block*r.attrForkLevels + buffers(r.dataForkLevels, 0)
	free := r.sectors(5) + r.blocks(r.allocFree(2))
	return quotaReserve + max(inode, free)
}

// all lists the reservations of all transactions. old asks for those that
// early reflink kernels made, by which the least log size still goes.
func (r *reserver) all(old bool) []reservation {
	var parentSet, parentRemove, link, unlink, rename uint64 // what parent pointers add
	var rollSet, rollRemove uint64
	if r.f.Parent {
		parentSet, parentRemove = r.attrSet(), r.attrRemove()
		link, unlink = parentAdd, parentAdd
		rename = max(parentReplace+2*parentAdd, 2*parentReplace)
		rollSet, rollRemove = 3, 3
	}
	create := quotaReserve + link + max(r.createAlloc(), r.createModify(), parentSet)
	rolls := r.writeRolls(old)
	dquotBlock := buffers(1, r.block-1)
	return []reservation{
		{r.write(old), rolls},
		{r.truncate(old), rolls},
		{r.write(old) + dquotBlock, rolls}, // allocating quota
		{quotaReserve + rename + max(
			r.inodes(5)+r.blocks(2*r.dirOp()),
			r.sectors(7)+r.blocks(r.allocFree(3)),
			parentSet, parentRemove), 2 + max(rollSet, rollRemove)},
		{quotaReserve + link + r.unlinkedRemove() + max(
			r.inodes(2)+r.blocks(r.dirOp()),
			r.sectors(3)+r.blocks(r.allocFree(1)),
			parentSet), 2 + rollSet}, // link
		{quotaReserve + unlink + r.unlinkedAdd() + max(
			r.inodes(2)+r.blocks(r.dirOp()),
			r.sectors(4)+r.blocks(r.allocFree(2)),
			parentRemove), 2 + rollRemove}, // remove
		{create + buffers(1, longestSymlink), 3 + rollSet},
		{create, 2 + rollSet},
		{create, 3 + rollSet},                                 // mkdir
		{quotaReserve + r.createAlloc() + r.unlinkedAdd(), 2}, // tmpfile
		{quotaReserve + r.inodes(1) + r.sectors(3) + r.unlinkedRemove() +
			r.blocks(r.allocFree(1)) + buffers(r.chunkBlocks, 0) +
			r.inodeTree() + r.freeInodeTree(), 2}, // free an inode
		{quotaReserve + r.inodes(1) + r.sectors(1), 1}, // change an inode
		{r.sectors(3) + r.blocks(r.allocFree(1)), 2},   // grow the data section
		{quotaReserve + r.inodes(1) + r.sectors(2) + buffers(1, r.dirBlocks*r.block) +
			r.blocks(r.extentAdd(r.dirBlocks, r.dataForkLevels)+1) + r.blocks(r.allocFree(1)), 2}, // add an attribute fork
		{max(r.inodes(1)+r.blocks(r.attrForkLevels), r.sectors(9)+r.blocks(r.allocFree(4))), 1}, // drop one
		{r.attrSet(), 3},
		{r.attrSetBlock(), 1},
		{r.attrRemove(), 3},
		{r.sectors(2) + r.blocks(r.dataForkLevels) + r.inodes(1) + r.blocks(r.allocFree(1)), 2}, // grow realtime
		{r.sectors(1) + r.inodes(2) + r.blocks(1) + buffers(1, 0), 1},                           // likewise, free
	}
}

// writeRolls is how often a write may roll: twice, and once for each kind of deferred item.
func (r *reserver) writeRolls(old bool) uint64 {
	rolls := uint64(2)
	if old {
		if r.f.Reflink {
			rolls = oldRefcountRoll
		}
		return rolls
	}
	for _, on := range []bool{r.f.Reflink || r.f.Rmapbt, r.f.Reflink, r.f.Rmapbt} {
		if on {
			rolls++
		}
	}
	return rolls
}

// largest is the transaction that reserves most, if writes of so many blocks
// are to be atomic, 0 for what the kernel takes by itself. Filesystems with parent
// pointers are newer than the corrections to the old, too large figures; for
// all others those still count, lest an older kernel refuse the log.
func (r *reserver) largest(atomic Blocks) reservation {
	attr := r.attrSet() + r.attrSetBlock()*r.attrBlocks()
	old := !r.f.Parent
	counted := *r
	if old && r.f.Rmapbt && r.f.Reflink {
		counted.rmapLevels = oldRmapLevels
	}
	var most reservation
	for _, t := range counted.all(old) {
		if t.total() > most.total() {
			most = t
		}
	}
	if t := r.atomicEnd(atomic); t.total() > most.total() {
		most = t
	}
	if attr > most.total() {
		most = reservation{attr, 3}
	}
	return most
}

// attrBlocks counts the blocks that the largest attribute inside a leaf may
// take: a value of three quarters of a block.
func (r *reserver) attrBlocks() uint64 {
	size := r.block/2 + r.block/4 - nameSpace - 1
	n := attrTreeDepth + attrTreeDepth*r.extentAdd(1, r.attrForkLevels) + divUp(size, r.block)
	extents := size // bytes for blocks: an old error that the kernel keeps
	if r.f.Parent {
		extents = divUp(size, r.block)
	}
	return n + r.extentAdd(extents, r.attrForkLevels)
}

// unit is what a transaction of n bytes takes of the log with all headers and
// padding. stripe is the log stripe unit in bytes, 1 or less for none.
func (r *reserver) unit(n, stripe uint64) uint64 {
	record, header := uint64(32<<10), uint64(BasicBlock)
	if r.f.LogVersion == 2 {
		record = 256 << 10
		header = record / (32 << 10) * BasicBlock
	}
	space := record - header
	n += 2*opHeader + transHeader
	headers := divUp(n, space)
	n += opHeader * headers
	for headers == 0 || divUp(n, space) > headers {
		n += opHeader
		headers++
	}
	n += header * (headers + 1) // and one for the commit record
	if r.f.LogVersion == 2 && stripe > 1 {
		return n + 2*stripe
	}
	return n + 2*BasicBlock
}

// minLog is the least size of a log: three of the largest transactions. The
// log stripe unit is in blocks, 0 for none; atomic is as for largest.
func minLog(g *Geometry, stripe, atomic Blocks) Blocks {
	const factor = 3
	r := newReserver(g)
	t := r.largest(atomic)
	su := uint64(g.Bytes(stripe))
	basic := divUp(r.unit(t.bytes, su)*max(t.count, 1), BasicBlock)
	if r.f.LogVersion == 2 && su > 1 {
		basic = roundUp(basic, su/BasicBlock) + 2*su/BasicBlock
	} else {
		basic += 2 * BasicBlock
	}
	return divUp(Blocks(basic)*factor, Blocks(g.BlockSize/BasicBlock))
}
