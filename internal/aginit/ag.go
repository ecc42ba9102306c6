package aginit

import (
	"cmp"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// ag is an AG as it begins: its header, perhaps the log, and the blocks of its
// free list are in use. Without room for those the list stays empty.
type ag struct {
	number   geometry.AGNumber
	length   geometry.Blocks
	free     freeSpace
	freeList []geometry.AGBlock
	owners   records[ondisk.RmapRecord]
}

func newAG(g *geometry.Geometry, agno geometry.AGNumber) *ag {
	a := &ag{number: agno, length: g.AGLength(agno)}
	var log geometry.Extent
	if g.HasLog(agno) {
		log = geometry.Extent{Start: g.Log.Start, Blocks: g.Log.Blocks}
	}
	a.free = newFreeSpace(a.length, g.HeaderBlocks(), log)
	a.owners = allRecords(headerOwners(g, log))
	if want := g.FreeListBlocks(); a.free.total() >= want {
		a.fillList(want)
	}
	return a
}

// fillList gives the free list so many blocks: from the smallest extent that has
// all that is missing, else from the longest there is. (xfs_alloc_fix_freelist.)
func (a *ag) fillList(want geometry.Blocks) {
	for missing := want; missing > 0; {
		from := a.free.smallest(missing)
		from.Blocks = min(from.Blocks, missing)
		a.free.take(from)
		a.own(from)
		for b := from.Start; b < from.End(); b++ {
			a.freeList = append(a.freeList, b)
		}
		missing -= from.Blocks
	}
}

// own enters blocks of the free list among the owners, as one record with blocks of
// the same owner before or behind.
func (a *ag) own(e geometry.Extent) {
	r := ondisk.RmapRecord{Start: uint32(e.Start), Blocks: uint32(e.Blocks), Owner: ondisk.OwnAG}
	at, _ := slices.BinarySearchFunc(a.owners.all(), r, func(a, b ondisk.RmapRecord) int {
		return cmp.Compare(a.Start, b.Start)
	})
	list := a.owners.all()
	before := at > 0 && list[at-1].Owner == r.Owner && list[at-1].Start+list[at-1].Blocks == r.Start
	behind := at < len(list) && list[at].Owner == r.Owner && r.Start+r.Blocks == list[at].Start
	switch {
	case before && behind:
		list[at-1].Blocks += r.Blocks + list[at].Blocks
		a.owners.remove(at)
	case before:
		list[at-1].Blocks += r.Blocks
	case behind:
		list[at].Start, list[at].Blocks = r.Start, list[at].Blocks+r.Blocks
	default:
		a.owners.insert(at, r)
	}
}

// headerOwners lists what is in use before there is a free list, a record for each structure.
func headerOwners(g *geometry.Geometry, log geometry.Extent) (list []ondisk.RmapRecord) {
	roots := g.Roots()
	add := func(at geometry.AGBlock, n geometry.Blocks, owner uint64) {
		if at != 0 || owner == ondisk.OwnFS {
			list = append(list, ondisk.RmapRecord{Start: uint32(at), Blocks: uint32(n), Owner: owner})
		}
	}
	inode := geometry.Blocks(1)
	if roots.Fino != 0 {
		inode++
	}
	add(0, g.SectorBlocks(), ondisk.OwnFS)
	add(roots.Bno, 2, ondisk.OwnAG)
	add(roots.Ino, inode, ondisk.OwnInobt)
	add(roots.Rmap, 1, ondisk.OwnAG)
	add(roots.Refcount, 1, ondisk.OwnRefcount)
	if log.Blocks > 0 {
		add(log.Start, log.Blocks, ondisk.OwnLog)
	}
	return list
}
