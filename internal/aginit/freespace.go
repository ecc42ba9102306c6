package aginit

import (
	"cmp"
	"slices"

	"mkfs/internal/geometry"
)

// records are those of a leaf. Behind the live ones are remains: removing one moves
// those behind it, and does not clear the last slot.
type records[T any] struct {
	slots []T
	live  int
}

func allRecords[T any](list []T) records[T] { return records[T]{slots: list, live: len(list)} }

func (r *records[T]) all() []T { return r.slots[:r.live] }

func (r *records[T]) insert(i int, e T) {
	if r.live == len(r.slots) {
		r.slots = append(r.slots, e)
	}
	copy(r.slots[i+1:r.live+1], r.slots[i:r.live])
	r.slots[i] = e
	r.live++
}

func (r *records[T]) remove(i int) {
	copy(r.slots[i:], r.slots[i+1:r.live])
	r.live--
}

// freeSpace is an AG's free extents in both orders.
type freeSpace struct {
	// bySize is sorted but for one case: where a log leaves a longer extent
	// before it than behind it, both trees begin with them in disk order.
	byStart, bySize records[geometry.Extent]
	// longest is the length of the longest free extent as the AGF has it: the
	// last of bySize, but until something is allocated what is behind a log.
	longest geometry.Blocks
}

// newFreeSpace is the free space of an AG of which the header and perhaps a
// log is used.
func newFreeSpace(length, header geometry.Blocks, log geometry.Extent) freeSpace {
	var list []geometry.Extent
	rest := geometry.Extent{Start: geometry.AGBlock(header), Blocks: length - header}
	if log.Blocks > 0 {
		if gap := geometry.Blocks(log.Start) - header; gap > 0 {
			list = append(list, geometry.Extent{Start: rest.Start, Blocks: gap})
		}
		rest = geometry.Extent{Start: log.End(), Blocks: length - geometry.Blocks(log.End())}
	}
	list = append(list, rest)
	f := freeSpace{byStart: allRecords(list), bySize: allRecords(slices.Clone(list)), longest: rest.Blocks}
	if rest.Blocks == 0 { // its record remains
		f.byStart.live--
		f.bySize.live--
	}
	return f
}

func bySize(a, b geometry.Extent) int {
	return cmp.Or(cmp.Compare(a.Blocks, b.Blocks), cmp.Compare(a.Start, b.Start))
}

// take uses the start of a free extent.
func (f *freeSpace) take(used geometry.Extent) {
	i := slices.IndexFunc(f.byStart.all(), func(e geometry.Extent) bool { return e.Start == used.Start })
	e := f.byStart.slots[i]
	rest := geometry.Extent{Start: used.End(), Blocks: e.Blocks - used.Blocks}
	f.bySize.remove(slices.Index(f.bySize.all(), e))
	if rest.Blocks > 0 {
		at, _ := slices.BinarySearchFunc(f.bySize.all(), rest, bySize)
		f.bySize.insert(at, rest)
		f.byStart.slots[i] = rest
	} else {
		f.byStart.remove(i)
	}
	f.longest = 0
	if all := f.bySize.all(); len(all) > 0 {
		f.longest = all[len(all)-1].Blocks
	}
}

func (f *freeSpace) total() (n geometry.Blocks) {
	for _, e := range f.byStart.all() {
		n += e.Blocks
	}
	return n
}

// smallest is the smallest extent of at least n blocks, else the largest there is.
func (f *freeSpace) smallest(n geometry.Blocks) geometry.Extent {
	live := f.bySize.all()
	if i := slices.IndexFunc(live, func(e geometry.Extent) bool { return e.Blocks >= n }); i >= 0 {
		return live[i]
	}
	return slices.MaxFunc(live, bySize)
}
