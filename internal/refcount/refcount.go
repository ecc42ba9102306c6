// Package refcount keeps how many files have a block, where more than one does. The rules are those of libxfs
// (xfs_refcount.c).
//
// The refcountbt of an AG has two domains, one behind the other. In the first are blocks that files share: a record for
// each run of blocks that as many have. A block of one file has none. In the second are staging extents: blocks
// that were allocated for copies that are to be written, and are no file's yet. Their count is 1. After a crash nobody
// knows of them any more, and they are freed (FreeStaged).
//
// Changes are put off to the end of the transaction. To increase or decrease the counts of a range, records that reach
// across its ends are split there; then what is at its ends is made one with the neighbour beyond, if both have the
// same count after the change; then what is left in the midst is changed, record by record, and gaps between, which
// have a count of 1. Blocks that nobody has any more are freed at the end of the transaction. If it would log more
// than it has reserved, the rest is left to the next.
//
// A count of 2^32-1 stays as it is forever, and so do its blocks.
package refcount

import (
	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// What is to be done to a range.
const (
	opIncrease uint8 = iota
	opDecrease
	opStage
	opUnstage
)

// IncreaseLater notes that one file more has blocks. (xfs_refcount_increase_extent in libxfs.)
func IncreaseLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks) {
	later(t, opIncrease, at, n)
}

// DecreaseLater notes that one file less has blocks. Those that no file has are freed.
// (xfs_refcount_decrease_extent in libxfs.)
func DecreaseLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks) {
	later(t, opDecrease, at, n)
}

// StageLater notes that blocks, which are allocated, are for a copy that is to be written.
// (xfs_refcount_alloc_cow_extent in libxfs.)
func StageLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks) {
	if !t.G.Features.Reflink {
		return
	}
	later(t, opStage, at, n)
	alloc.MapOwnerLater(t, at, n, staging)
}

// UnstageLater notes that blocks are not for a copy any more, but a file's, or nobody's and to be freed: that is
// up to the caller. (xfs_refcount_free_cow_extent in libxfs.)
func UnstageLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks) {
	if !t.G.Features.Reflink {
		return
	}
	alloc.UnmapOwnerLater(t, at, n, staging)
	later(t, opUnstage, at, n)
}

// staging owns blocks for copies.
const staging = ondisk.OwnCow

// later puts a change off. Where no blocks are shared there is nothing to do.
func later(t *live.Trans, op uint8, at geometry.FSBlock, n geometry.Blocks) {
	if t.G.Features.Reflink {
		t.Defer(&counts, live.Item{Op: op, Start: at, Blocks: n})
	}
}

// counts are changes of counts that are made at the end of a transaction.
var counts = live.Deferral{
	Name: "refcount",
	Most: 16, // items of an intent in the log (XFS_CUI_MAX_FAST_EXTENTS)
	Finish: func(t *live.Trans, i *live.Item, _ bool) (bool, error) {
		agno, agbno := t.G.BlockAddress(i.Start)
		c, err := open(t, agno)
		if err != nil {
			return false, err
		}
		if !c.Has(agbno, i.Blocks) {
			return false, c.errorf("%d blocks at %d, in an AG of %d", i.Blocks, agbno, c.Length())
		}
		c.budget.begin(t)
		a := adjustment{cursor: c, at: agbno, n: i.Blocks}
		if err := ops[i.Op](&a); err != nil {
			return false, err
		}
		i.Start, i.Blocks = t.G.FSBlock(agno, a.at), a.n
		return a.n == 0, nil
	},
}

// ops do it. (xfs_refcount_finish_one in libxfs.)
var ops = [...]func(*adjustment) error{
	opIncrease: func(a *adjustment) error { return a.share(1) },
	opDecrease: func(a *adjustment) error { return a.share(-1) },
	opStage:    (*adjustment).stage,
	opUnstage:  (*adjustment).unstage,
}

// Shared finds the first blocks of a range in an AG that more than one file has: all that follow one upon the
// other if whole, else as many as have the same count. The result has no blocks if there are none.
// (xfs_refcount_find_shared in libxfs.)
func Shared(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, whole bool) (
	found geometry.Extent, err error) {
	if !t.G.Features.Reflink {
		return found, nil
	}
	c, err := open(t, agno)
	if err != nil {
		return found, err
	}
	if !c.Has(at, n) {
		return found, c.errorf("%d blocks at %d, in an AG of %d", n, at, c.Length())
	}
	end := at + geometry.AGBlock(n)
	r, ok, err := c.find(btree.LE, false, at)
	if err == nil && (!ok || r.end() <= at) {
		r, ok, err = c.step(1, false)
	}
	if err != nil || !ok || r.start >= end {
		return found, err
	}
	found.Start = max(r.start, at)
	for {
		found.Blocks = geometry.Blocks(min(r.end(), end) - found.Start)
		if !whole || found.End() == end {
			return found, nil
		}
		if r, ok, err = c.step(1, false); err != nil || !ok || r.start != found.End() {
			return found, err
		}
	}
}

// Staged lists the staging extents of an AG.
func Staged(t *live.Trans, agno geometry.AGNumber) (list []geometry.Extent, err error) {
	if !t.G.Features.Reflink {
		return nil, nil
	}
	c, err := open(t, agno)
	if err != nil {
		return nil, err
	}
	r, ok, err := c.find(btree.GE, true, 0)
	for ; ok && err == nil; r, ok, err = c.step(1, true) {
		if n := len(list); n > 0 && list[n-1].End() > r.start {
			return nil, c.errorf("the record of %d blocks at %d reaches into that at %d", list[n-1].Blocks, list[n-1].Start,
				r.start)
		}
		list = append(list, geometry.Extent{Start: r.start, Blocks: r.blocks})
	}
	return list, err
}

// FreeStaged frees the staging extents of an AG, each in a transaction, and tells how many there were. A mount does so
// for what a crash left. (xfs_refcount_recover_cow_leftovers in libxfs.)
func FreeStaged(fs *live.FS, agno geometry.AGNumber) (n int, err error) {
	t := fs.Begin(0)
	list, err := Staged(t, agno)
	if err != nil {
		return 0, err
	}
	if err := t.Commit(); err != nil {
		return 0, err
	}
	for _, e := range list {
		t, at := fs.Begin(0), fs.G.FSBlock(agno, e.Start)
		t.LogSpace = fs.G.LogSpace().Write
		UnstageLater(t, at, e.Blocks)
		alloc.FreeLater(t, at, e.Blocks, rmap.Owner{}, alloc.ReserveNone)
		if err := t.Commit(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
