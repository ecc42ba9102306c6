package geometry

// FreeList is an AG's free list, a ring of blocks from which the btrees of free
// space and of owners take those that they grow by.
type FreeList struct {
	Slots []AGBlock // null, or what was there last
	First int
	Count int
}

// freeListFirst is the index at which a fresh free list begins.
const freeListFirst = 1

func newFreeList(g *Geometry) FreeList {
	header := Bytes(0)
	if g.Features.CRC {
		header = freeListHeader
	}
	l := FreeList{Slots: make([]AGBlock, (g.SectorSize-header)/freeListEntry), First: freeListFirst}
	for i := range l.Slots {
		l.Slots[i] = AGBlock(NullAGBlock)
	}
	return l
}

// The lengths in bytes of the header of V5, and of a block's number.
const freeListHeader, freeListEntry = 36, 4

// Last is the index of the last entry.
func (l *FreeList) Last() int { return (l.First + l.Count - 1 + len(l.Slots)) % len(l.Slots) }

// All yields the blocks in order.
func (l *FreeList) All(yield func(AGBlock) bool) {
	for i := range l.Count {
		if !yield(l.Slots[(l.First+i)%len(l.Slots)]) {
			return
		}
	}
}

func (l *FreeList) add(b AGBlock) {
	l.Count++
	l.Slots[l.Last()] = b
}

func (l *FreeList) take() (uint64, bool) {
	if l.Count == 0 {
		return 0, false
	}
	b := l.Slots[l.First]
	l.First, l.Count = (l.First+1)%len(l.Slots), l.Count-1
	return uint64(b), true
}

// FreeListBlocks is the number of blocks that a new AG's free list must hold.
func (g *Geometry) FreeListBlocks() Blocks {
	t := newTrees(g)
	return t.freeList(g, 1)
}

// freeList is the number of blocks that a free list must hold where the rmapbt
// has so many levels, and those of free space one: for each of the trees that
// take blocks from it enough to grow by one level and to split that once more
// while the list is refilled.
func (t *trees) freeList(g *Geometry, rmap uint64) Blocks {
	split := func(levels, most uint64) Blocks { return Blocks(min(levels+1, most)*2 - 2) }
	n := 2 * split(1, t.allocLevels)
	if g.Features.Rmapbt {
		n += split(rmap, t.rmapLevels)
	}
	return n
}

// freeListLacks is how many blocks the free list is short of.
func (a *AG) freeListLacks() Blocks {
	need, have := a.trees.freeList(a.g, uint64(a.Owners.Levels())), Blocks(a.FreeList.Count)
	return max(need, have) - have
}

// refill fills up the free list, as before each allocation: from the smallest
// extent that satisfies the whole rest of the need, else from the longest there
// is. It returns false where the rmapbt finds no block to grow.
func (a *AG) refill() bool {
	for {
		missing := a.freeListLacks()
		if missing == 0 || a.Free.ByStart.live == 0 {
			return true
		}
		from := a.Free.smallest(missing)
		from.Blocks = min(from.Blocks, missing)
		a.Free.take(from)
		if !a.own(Use{Extent: from, Owner: OwnedByAG}) {
			return false
		}
		for b := from.Start; b < from.End(); b++ {
			a.FreeList.add(b)
		}
	}
}
