package geometry

// rtReserver has what log reservations take of the realtime section.
type rtReserver struct {
	there                  bool
	bitmapBlocks           uint64 // that the bits of a longest extent of a file are in
	rmapLevels, refcLevels uint64 // of the btrees in files, with the root in the inode; 0 for none
}

// maxFileExtent is the length in blocks of the longest extent of a file.
const maxFileExtent = 1<<21 - 1

func newRTReserver(g *Geometry) rtReserver {
	r := rtReserver{there: g.RT.Blocks > 0}
	if !r.there {
		return r
	}
	payload := uint64(g.BlockSize)
	if g.Features.Metadir {
		payload -= rtBlockHeader
	}
	if !g.Features.Zoned {
		r.bitmapBlocks = divUp(maxFileExtent/uint64(g.RT.Extent), payload*8)
	}
	if !g.Features.Metadir {
		return r
	}
	rmap, refc := g.groupTrees()
	if g.Features.Rmapbt {
		r.rmapLevels = rmap.levelsIn(uint64(g.Blocks))
		if !g.Features.Reflink { // else a block has any number of owners
			r.rmapLevels = min(r.rmapLevels, rmap.levels(uint64(g.RT.GroupBlocks)))
		}
		r.rmapLevels++
	}
	if g.Features.Reflink {
		r.refcLevels = 1 + min(refc.levelsIn(uint64(g.Blocks)), refc.levels(g.RT.GroupExtents()))
	}
	return r
}

// rtAllocFree counts the blocks that allocating or freeing n realtime extents
// may dirty: of bitmap and summary, or of the reverse map afterwards.
func (r *reserver) rtAllocFree(n uint64) uint64 {
	count := (r.rt.bitmapBlocks + 1) * n
	if r.f.Rmapbt {
		count = max(count, n*(2*r.rt.rmapLevels-1))
	}
	return count
}

func (r *reserver) rtWrite() uint64 {
	if !r.rt.there {
		return 0
	}
	return r.inodes(1) + r.blocks(r.dataForkLevels) + r.sectors(3) +
		r.blocks(r.rtAllocFree(1)) + r.blocks(r.allocFree(1))
}

// rtFreeExtents is a deferred transaction that frees n realtime extents.
func (r *reserver) rtFreeExtents(n uint64) uint64 {
	if !r.rt.there {
		return 0
	}
	return r.sectors(2*n+1) + r.blocks(r.rtAllocFree(n)) + r.blocks(r.allocFree(n))
}

func (r *reserver) rtRefcount(n uint64) uint64 {
	if r.rt.refcLevels == 0 {
		return 0
	}
	return r.inodes(1) + r.blocks(n*(2*r.rt.refcLevels-1))
}

// intentSpace is what the intents of one extent take of an atomic write's
// transaction: to map it, with its owner and reference count, and to repeat
// those that are not its turn.
const intentSpace = 208

// atomicEnd is the transaction that ends an atomic write of so many blocks by
// remapping each. 0 stands for what the kernel takes if nothing was asked for:
// as much as to truncate.
func (r *reserver) atomicEnd(blocks Blocks) reservation {
	t := reservation{r.truncate(false), r.writeRolls(false)}
	if blocks > 0 {
		owner := uint64(0)
		if r.f.Rmapbt {
			owner = r.freeExtents(1)
		}
		step := max(r.freeExtents(1), owner, r.refcount(1),
			r.inodes(1)+quotaReserve+r.blocks(r.dataForkLevels+1))
		t.bytes = uint64(blocks)*intentSpace + step
	}
	return t
}
