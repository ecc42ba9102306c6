package geometry

import (
	"cmp"
	"slices"
)

// Extent is a run of blocks within an AG.
type Extent struct {
	Start  AGBlock
	Blocks Blocks
}

// End is the first block behind the extent.
func (e Extent) End() AGBlock { return e.Start + AGBlock(e.Blocks) }

// FreeSpace is an AG's free extents in both orders.
type FreeSpace struct {
	// BySize is sorted but for one case: where a log leaves a longer extent
	// before it than behind it, both trees begin with them in disk order.
	ByStart, BySize Records[Extent]
	// Longest is the length of the longest free extent as the AGF has it: the
	// last of BySize, but until something is allocated what is behind a log.
	Longest Blocks
}

// newFreeSpace is the free space of an AG of which the header and perhaps a
// log is used.
func newFreeSpace(length, header Blocks, log Extent) FreeSpace {
	var f FreeSpace
	rest := Extent{AGBlock(header), length - header}
	if log.Blocks > 0 {
		if gap := Blocks(log.Start) - header; gap > 0 {
			f.ByStart.insert(0, Extent{rest.Start, gap})
		}
		rest = Extent{log.End(), length - Blocks(log.End())}
	}
	f.ByStart.insert(f.ByStart.live, rest)
	f.BySize.slots = slices.Clone(f.ByStart.slots)
	f.BySize.live = f.ByStart.live
	if rest.Blocks == 0 {
		f.ByStart.live--
		f.BySize.live--
	}
	f.Longest = rest.Blocks
	return f
}

func bySize(a, b Extent) int {
	return cmp.Or(cmp.Compare(a.Blocks, b.Blocks), cmp.Compare(a.Start, b.Start))
}

// take uses a part of one free extent.
func (f *FreeSpace) take(used Extent) {
	i := slices.IndexFunc(f.ByStart.Live(), func(e Extent) bool { return used.Start < e.End() })
	e := f.ByStart.slots[i]
	left := Extent{e.Start, Blocks(used.Start - e.Start)}
	right := Extent{used.End(), Blocks(e.End() - used.End())}

	at := slices.Index(f.BySize.Live(), e)
	f.BySize.remove(at)
	for _, piece := range []Extent{left, right} {
		if piece.Blocks > 0 {
			at, _ := slices.BinarySearchFunc(f.BySize.Live(), piece, bySize)
			f.BySize.insert(at, piece)
		}
	}
	f.Longest = 0
	if n := f.BySize.live; n > 0 {
		f.Longest = f.BySize.slots[n-1].Blocks
	}
	switch {
	case left.Blocks > 0 && right.Blocks > 0:
		f.ByStart.slots[i] = left
		f.ByStart.insert(i+1, right)
	case left.Blocks > 0:
		f.ByStart.slots[i] = left
	case right.Blocks > 0:
		f.ByStart.slots[i] = right
	default:
		f.ByStart.remove(i)
	}
}

// Total is the number of free blocks.
func (f *FreeSpace) Total() Blocks {
	var n Blocks
	for _, e := range f.ByStart.Live() {
		n += e.Blocks
	}
	return n
}

// smallest is the smallest extent of at least n blocks, else the largest there is.
func (f *FreeSpace) smallest(n Blocks) Extent {
	live := f.BySize.Live()
	if i := slices.IndexFunc(live, func(e Extent) bool { return e.Blocks >= n }); i >= 0 {
		return live[i]
	}
	return slices.MaxFunc(live, bySize)
}
