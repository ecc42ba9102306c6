package geometry

import (
	"math"

	"mkfs/internal/memtree"
)

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

// Use is an extent within an AG that is in use, and its owner: a record of the rmapbt.
type Use struct {
	Extent
	Owner  Owner
	Inode  Inode  // of a file
	Offset Blocks // within it
	Bmbt   bool   // it is of the file's extent btree, and has no offset
}

// extendsTo tells whether a use goes on in another, as one record.
func (u Use) extendsTo(next Use) bool {
	return u.End() == next.Start && u.Owner == next.Owner && u.Inode == next.Inode && u.Bmbt == next.Bmbt &&
		(u.Owner != OwnedByFile || u.Bmbt || u.Offset+u.Blocks == next.Offset)
}

// last is the key of a use's end.
func (u Use) last() Use {
	n := u.Blocks - 1
	u.Start += AGBlock(n)
	if u.Owner == OwnedByFile && !u.Bmbt {
		u.Offset += n
	}
	return u
}

var byOwner = &memtree.Order[Use]{
	Less: func(a, b Use) bool { return a.Start < b.Start }, // none begin at the same block
	High: Use.last,
}

// owners is the size of the rmapbt's blocks. Where there is none, the list of
// owners is kept all the same, in one leaf without limit.
func (t *trees) owners(g *Geometry) memtree.Size {
	if !g.Features.Rmapbt {
		return memtree.Size{Leaf: endless}
	}
	return t.rmap.size()
}

// endless is more records than there can be.
const endless = math.MaxInt32

// headerUses lists what is in use of a new AG, one record for each structure.
func (g *Geometry) headerUses(log Extent) (list []Use) {
	roots := g.Roots()
	add := func(at AGBlock, n Blocks, o Owner) {
		if at != 0 || o == OwnedByFS {
			list = append(list, Use{Extent: Extent{at, n}, Owner: o})
		}
	}
	inode := Blocks(1)
	if roots.Fino != 0 {
		inode++
	}
	add(0, g.SectorBlocks(), OwnedByFS)
	add(roots.Bno, 2, OwnedByAG)
	add(roots.Ino, inode, OwnedByInobt)
	add(roots.Rmap, 1, OwnedByAG)
	add(roots.Refcount, 1, OwnedByRefcount)
	if log.Blocks > 0 {
		add(log.Start, log.Blocks, OwnedByLog)
	}
	return list
}

// own enters a use of an AG, as one record with its neighbours if they are of
// the same owner. It returns false where the rmapbt finds no block to grow.
func (a *AG) own(u Use) bool {
	t := a.Owners
	p := t.Find(u)
	left, right := p.Before(), p.Next()
	before := left.Live() && left.Record().extendsTo(u)
	behind := right.Live() && u.extendsTo(right.Record())
	switch {
	case before:
		joined := left.Record()
		joined.Blocks += u.Blocks
		if behind {
			joined.Blocks += right.Record().Blocks
			if !t.Remove(right) {
				return false
			}
		}
		t.Update(left, joined)
	case behind:
		u.Blocks += right.Record().Blocks
		t.Update(right, u)
	default: // where xfs_rmap_map has moved to: that may be the start of the next leaf
		return t.Insert(right, u, func(uint64) (uint64, bool) { return a.FreeList.take() })
	}
	return true
}
