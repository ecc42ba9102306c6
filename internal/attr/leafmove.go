package attr

import (
	"sync"

	"mkfs/internal/ondisk"
)

// scratch is for copies of leaves.
var scratch sync.Pool

// borrow returns a block of n bytes with anything in it, and what gives it back.
func borrow(n int) (b *[]byte) {
	if b, _ = scratch.Get().(*[]byte); b == nil {
		b = new([]byte)
	}
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	*b = (*b)[:n]
	return b
}

// pack moves all names to the end of the block, so that one region is free
// (xfs_attr3_leaf_compact in libxfs). It returns false, with nothing changed, if the leaf is damaged.
func (l leaf) pack(h *header) bool {
	if l.end(h.Count)+l.sizes(0, h.Count) > len(l) {
		return false
	}
	copied := borrow(len(l))
	defer scratch.Put(copied)
	src := leaf(*copied)
	copy(src, l)
	clear(l[l.end(0):])
	from := *h
	*h = header{FirstUsed: len(l)}
	h.Free[0] = ondisk.AttrFree{Base: l.end(0), Size: len(l) - l.end(0)}
	return l.take(h, 0, src, &from, 0)
}

// sizes is how many bytes the names of the entries from one on to before another take.
func (l leaf) sizes(from, to int) (sum int) {
	for i := from; i < to; i++ {
		sum += l.size(l.entry(i))
	}
	return sum
}

// take moves the entries of another leaf, from an index to the last, to an index of this
// one, with their names packed below those that it has. All else between table and names is
// free then. (xfs_attr3_leaf_moveents in libxfs.) It returns false, with nothing changed, if
// there is no room.
func (l leaf) take(h *header, index int, src leaf, hs *header, from int) bool {
	n := hs.Count - from
	if n == 0 {
		return true
	}
	if l.end(h.Count+n)+src.sizes(from, hs.Count) > h.FirstUsed {
		return false
	}
	copy(l[l.end(index+n):l.end(h.Count+n)], l[l.end(index):l.end(h.Count)])
	for i := range n {
		e := src.entry(from + i)
		at, size := e.at(), src.size(e)
		h.FirstUsed -= size
		l.entry(index+i).put(e.hash(), h.FirstUsed, e.flags())
		copy(l[h.FirstUsed:], src[at:at+size])
		clear(src[at : at+size])
		h.UsedBytes += size
		hs.UsedBytes -= size
	}
	h.Count += n
	hs.Count = from
	hs.Holes = true
	clear(src[src.end(from):src.end(from+n)])
	base := l.end(h.Count)
	h.Free = [ondisk.AttrFreeRegions]ondisk.AttrFree{{Base: base, Size: h.FirstUsed - base}}
	return true
}

// balance tells how many entries stay in a leaf that is split before an entry of so many bytes is
// entered at an index, and whether that goes to the lower half: so that the halves differ least
// (xfs_attr3_leaf_figure_balance in libxfs).
func (l leaf) balance(index, size int) (stay int, lower bool) {
	h := l.header()
	half := ((h.Count+1)*ondisk.AttrEntrySize + h.UsedBytes + size) / 2
	used, delta := 0, len(l)
	nearer := func(n int) bool {
		n += used + ondisk.AttrEntrySize
		d := max(half-n, n-half)
		if d > delta {
			return false
		}
		used, delta = n, d
		return true
	}
	for i := range h.Count {
		if i == index {
			if !nearer(size) {
				return i, false
			}
			lower = true
		}
		if !nearer(l.size(l.entry(i))) {
			return i, lower
		}
	}
	return h.Count, lower
}

// splitTo moves the upper part of a leaf to an empty one, and tells where an entry of so many bytes
// that was to be at an index is to be now: in the lower leaf or not, and at which index.
// (xfs_attr3_leaf_rebalance in libxfs.) ok is false if the leaf is damaged.
func (l leaf) splitTo(upper leaf, index, size int) (lower bool, at int, ok bool) {
	stay, lower := l.balance(index, size)
	h, hu := l.header(), upper.header()
	if !upper.take(&hu, 0, l, &h, stay) {
		return false, 0, false
	}
	l.put(&h)
	upper.put(&hu)
	switch {
	case index < stay:
		return true, index, true
	case index == stay && lower:
		return true, index, true
	}
	return false, index - stay, true
}

// merge moves all entries of another leaf to this one (xfs_attr3_leaf_unbalance in libxfs). It returns
// false if they do not fit, which only happens in damaged leaves.
func (l leaf) merge(drop leaf) bool {
	h, hd := l.header(), drop.header()
	below := l.after(drop)
	if !h.Holes {
		at := h.Count
		if below {
			at = 0
		}
		if !l.take(&h, at, drop, &hd, 0) {
			return false
		}
		l.put(&h)
		return true
	}
	if l.end(h.Count+hd.Count)+l.sizes(0, h.Count)+drop.sizes(0, hd.Count) > len(l) {
		return false
	}
	copied := borrow(len(l))
	defer scratch.Put(copied)
	keep := leaf(*copied)
	copy(keep, l)
	clear(l[l.end(0):])
	hn := header{FirstUsed: len(l)}
	first, second := keep, drop
	hf, hs := &h, &hd
	if below {
		first, second, hf, hs = drop, keep, &hd, &h
	}
	if !l.take(&hn, 0, first, hf, 0) || !l.take(&hn, hn.Count, second, hs, 0) {
		return false
	}
	l.put(&hn)
	return true
}

// after tells whether a leaf is to be behind another: both have entries, and its begin or end higher
// (xfs_attr3_leaf_order in libxfs).
func (l leaf) after(b leaf) bool {
	nl, nb := l.count(), b.count()
	return nl > 0 && nb > 0 &&
		(b.entry(0).hash() < l.entry(0).hash() || b.entry(nb-1).hash() < l.entry(nl-1).hash())
}

// halfFull tells whether more than half of a leaf is in use, so that it is not merged.
func (l leaf) halfFull() bool {
	h := l.header()
	return l.end(h.Count)+h.UsedBytes > len(l)/2
}

// room tells whether the entries of two leaves leave a quarter of a block free when they are in one.
func (l leaf) room(b leaf) bool {
	h, hb := l.header(), b.header()
	return len(l)-len(l)/4-h.UsedBytes-hb.UsedBytes >= l.end(h.Count+hb.Count)
}
