package geometry

import "slices"

// Owner says whose an extent is.
type Owner uint8

// The owners of extents.
const (
	OwnedByFS       Owner = iota // header sectors
	OwnedByAG                    // btrees of free space and owners, and the free list
	OwnedByInobt                 // btrees of inodes
	OwnedByRefcount              // btree of shared blocks
	OwnedByLog
	OwnedByInodes
	OwnedByFile
)

// Use is an extent within an AG that is in use, and its owner.
type Use struct {
	Extent
	Owner  Owner
	Inode  Inode  // of a file
	Offset Blocks // within it
}

// follows tells whether a use is the rest of another.
func (u Use) follows(left Use) bool {
	return left.End() == u.Start && left.Owner == u.Owner && left.Inode == u.Inode &&
		(u.Owner != OwnedByFile || left.Offset+left.Blocks == u.Offset)
}

// Uses lists what is in use of an AG, in disk order; neighbours of one owner
// are one. These are the records of the rmapbt.
func (g *Geometry) Uses(a *AG) []Use {
	roots := g.Roots()
	list := []Use{
		{Extent: Extent{0, g.SectorBlocks()}, Owner: OwnedByFS},
		{Extent: Extent{roots.Bno, 2}, Owner: OwnedByAG},
		{Extent: Extent{roots.Ino, 1}, Owner: OwnedByInobt},
		{Extent: a.Log, Owner: OwnedByLog},
	}
	add := func(e Extent, o Owner) { list = append(list, Use{Extent: e, Owner: o}) }
	if roots.Fino != 0 {
		add(Extent{roots.Fino, 1}, OwnedByInobt)
	}
	if roots.Rmap != 0 {
		add(Extent{roots.Rmap, 1}, OwnedByAG)
	}
	if roots.Refcount != 0 {
		add(Extent{roots.Refcount, 1}, OwnedByRefcount)
	}
	for _, agbno := range a.FreeList {
		add(Extent{agbno, 1}, OwnedByAG)
	}
	for _, e := range a.Chunks {
		add(e, OwnedByInodes)
	}
	for _, e := range a.Owned {
		list = append(list, Use{e.Extent, OwnedByFile, e.Inode, e.Offset})
	}
	list = slices.DeleteFunc(list, func(u Use) bool { return u.Blocks == 0 })
	slices.SortFunc(list, func(x, y Use) int { return int(x.Start) - int(y.Start) })
	merged := list[:1]
	for _, u := range list[1:] {
		if last := &merged[len(merged)-1]; u.follows(*last) {
			last.Blocks += u.Blocks
		} else {
			merged = append(merged, u)
		}
	}
	return merged
}
