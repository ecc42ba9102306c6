package bmap

import (
	"mkfs/internal/alloc"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// maxLength is the length of the longest extent.
const maxLength geometry.Blocks = inode.MaxExtent

// want is what is wanted of the allocator, and for which place of a fork.
type want struct {
	span
	flags Flags
	// before and after are the extents before and behind the place. eof tells that
	// there is none behind, and first that there is none before.
	before, after inode.Extent
	eof, first    bool
	// striped: it is data at the end of a file, and as long as the stripe unit.
	striped bool
	// least is the least length that will do.
	least geometry.Blocks
	// minLeft and total are those of alloc.Request.
	minLeft, total geometry.Blocks
}

// behind finds the extents around the hole before the i-th.
func (w *want) behind(list []inode.Extent, i int) {
	w.first, w.eof = i == 0, i == len(list)
	if !w.first {
		w.before = list[i-1]
	}
	if !w.eof {
		w.after = list[i]
	}
	w.least = 1
	if w.flags&Contiguous != 0 {
		w.least = w.n
	}
}

// page is the page size of the machines that libxfs runs on, in bytes: where blocks are smaller, extents end at
// multiples of it.
const page = 4096

// take allocates the blocks that are wanted, or fewer, and makes the span that of what it got.
// (xfs_bmap_btalloc and xfs_bmap_alloc_userdata in libxfs.)
func (w *writing) take() (start geometry.FSBlock, ok bool, err error) {
	q, g := &w.want, w.t.G
	asked := q.span
	data := q.flags&Metadata == 0 && w.id == Data
	if data && g.StripeUnit > 0 && q.n >= g.StripeUnit {
		q.striped = q.eof
	}
	unit := geometry.Blocks(0)
	if data {
		unit = extentSize(w.ip)
	}
	r := alloc.Request{UserData: data, MinLeft: q.minLeft, Align: 1, Prod: unit}
	switch {
	case unit == 0:
		r.Prod = max(1, geometry.Blocks(page)>>g.BlockLog)
	case q.flags&Convert == 0:
		q.span = q.hole().fit(q.span, unit)
	}
	if r.Mod = geometry.Blocks(q.off % uint64(r.Prod)); r.Mod > 0 {
		r.Mod = r.Prod - r.Mod
	}
	r.Max = min(q.n, mostUsable(g))
	start, n, ok, err := w.try(r)
	if err != nil || !ok {
		return 0, false, err
	}
	// What an extent size hint added to the front is given up where there is not enough
	// for what was asked.
	q.n = n
	switch {
	case n <= asked.n:
		q.off = asked.off
	case q.end() < asked.end():
		q.off = asked.end() - uint64(n)
	}
	return start, true, nil
}

// extentSize is the extent size hint of a file, in blocks; 0 for none.
func extentSize(ip *inode.Inode) geometry.Blocks {
	if ip.Core.Flags&ondisk.FlagExtentSize == 0 {
		return 0
	}
	return geometry.Blocks(ip.Core.ExtentSize)
}

// mostUsable is the length of the longest extent that an AG can have.
// (xfs_alloc_ag_max_usable in libxfs.)
func mostUsable(g *geometry.Geometry) geometry.Blocks {
	const reserve = 4 // blocks that only splits of the free-space btrees may take
	return g.AGBlocks - g.HeaderBlocks() - reserve
}

// hole is the hole in which the span is.
func (w *want) hole() hole {
	h := hole{bounded: !w.eof, high: w.after.Offset}
	if !w.first {
		h.low = w.before.End()
	}
	return h
}

// try takes blocks where they are best, then where there are any. (xfs_bmap_btalloc_best_length in libxfs.)
func (w *writing) try(r alloc.Request) (start geometry.FSBlock, n geometry.Blocks, ok bool, err error) {
	q := &w.want
	target, adjacent := q.target(w.t.G, w.home())
	r.Min, r.Total = q.least, q.least
	if !w.t.LowSpace {
		longest, err := w.longest(target, r.Max)
		if err != nil {
			return 0, 0, false, err
		}
		r.Total = q.total
		r.Min = r.Max
		if longest < r.Max || longest < q.least {
			r.Min = max(longest, q.least)
		}
		if q.striped {
			start, n, ok, err = w.tryStriped(target, &r, longest, q.eof && adjacent)
			if err != nil || ok {
				return start, n, ok, err
			}
		}
	}
	if start, n, ok, err = alloc.StartAG(w.t, target, r); err != nil || ok {
		return start, n, ok, err
	}
	if r.Min > q.least {
		r.Min = q.least
		if start, n, ok, err = alloc.StartAG(w.t, target, r); err != nil || ok {
			return start, n, ok, err
		}
	}
	// The last resort: anywhere, whatever else the operation may need.
	r.Total = q.least
	start, n, ok, err = alloc.StartAG(w.t, 0, r)
	w.t.LowSpace = true
	return start, n, ok, err
}

// tryStriped takes blocks right behind the last extent, if there is one, else from a stripe unit on. Afterwards the
// least length of the request is that which leaves room for alignment. (xfs_bmap_btalloc_at_eof in libxfs.)
func (w *writing) tryStriped(target geometry.FSBlock, r *alloc.Request, longest geometry.Blocks, extends bool) (
	start geometry.FSBlock, n geometry.Blocks, ok bool, err error) {
	unit := w.t.G.StripeUnit
	next := r.Min
	if extends {
		if longest > unit && longest <= r.Max {
			next = longest - unit
		}
		exact := *r
		if next+unit > r.Min+1 {
			exact.AlignSlop = next + unit - r.Min - 1
		}
		if start, n, ok, err = alloc.Exact(w.t, target, exact); err != nil || ok {
			return start, n, ok, err
		}
	} else if longest > unit && longest <= r.Max+unit {
		next = longest - unit
	}
	r.Min = next
	aligned := *r
	aligned.Align = unit
	return alloc.StartAG(w.t, target, aligned)
}

// home is where an inode is, which is where its blocks are best if nothing else speaks for a place.
func (o *op) home() geometry.FSBlock {
	g := o.t.G
	agno, agino := g.InodeAddress(o.ip.Ino)
	return g.FSBlock(agno, geometry.AGBlock(agino>>g.InodeBlockLog()))
}

// longest is the length of the longest extent that AGs can give, from that of the target on, as far as one is found
// that will do. (xfs_bmap_btalloc_select_lengths in libxfs.)
func (w *writing) longest(target geometry.FSBlock, enough geometry.Blocks) (geometry.Blocks, error) {
	first, _ := w.t.G.BlockAddress(target)
	count := w.t.G.AGCount
	best := geometry.Blocks(0)
	for i := range count {
		agno := first + i
		if agno >= count {
			agno -= count
		}
		n, err := alloc.Longest(w.t, agno, alloc.ReserveNone)
		if err != nil {
			return 0, err
		}
		if best = max(best, n); best >= enough {
			break
		}
	}
	return best, nil
}

// minLeft is how many blocks are to be left in an AG that blocks are taken from: those that the btree may need. Once
// the transaction has taken blocks they were left. (xfs_bmapi_minleft in libxfs.)
func (o *op) minLeft() geometry.Blocks {
	switch {
	case o.t.Allocated:
		return 0
	case o.f.Format == ondisk.FormatBtree:
		return geometry.Blocks(o.f.Root.Level()) + 1
	}
	return 1
}
