package attr

import (
	"mkfs/internal/ondisk"
)

// addition is an attribute that is to be entered into a leaf.
type addition struct {
	hash        uint32
	flags       ondisk.AttrFlags // but for AttrLocal
	name, value []byte
}

// add enters an attribute at an index. It returns false if there is no room; then the leaf
// may have been packed. (xfs_attr3_leaf_add in libxfs.)
//
// The name goes to the end of the last region of the header that has room for it, or, if
// none has, to the one that is left when the leaf is packed. A region below the names must
// have room for the entry too.
func (l leaf) add(index int, a *addition) bool {
	h := l.header()
	size, _ := entrySize(len(l), len(a.name), len(a.value))
	sum, fits := 0, l.end(h.Count+1) <= h.FirstUsed
	for i := len(h.Free) - 1; i >= 0; i-- {
		f := h.Free[i]
		sum += f.Size
		need := size
		if f.Base < h.FirstUsed {
			need += ondisk.AttrEntrySize
		}
		if fits && f.Size >= need {
			l.enter(&h, index, i, a)
			l.put(&h)
			return true
		}
	}
	if !h.Holes && sum < size {
		return false
	}
	if !l.pack(&h) {
		return false
	}
	added := h.Free[0].Size >= size+ondisk.AttrEntrySize
	if added {
		l.enter(&h, index, 0, a)
	}
	l.put(&h)
	return added
}

// enter writes an attribute into a region that has room for it (xfs_attr3_leaf_add_work in libxfs).
func (l leaf) enter(h *header, index, region int, a *addition) {
	copy(l[l.end(index+1):l.end(h.Count+1)], l[l.end(index):l.end(h.Count)])
	h.Count++
	size, local := entrySize(len(l), len(a.name), len(a.value))
	f := &h.Free[region]
	f.Size -= size
	at := f.Base + f.Size

	b, e := l[at:at+size], l.entry(index)
	if local {
		e.put(a.hash, at, a.flags|ondisk.AttrLocal)
		be.PutUint16(b, uint16(len(a.value)))
		b[2] = byte(len(a.name))
		copy(b[ondisk.AttrLocalHeader:], a.name)
		copy(b[ondisk.AttrLocalHeader+len(a.name):], a.value)
	} else {
		// The value gets its blocks later: until then the attribute is not to be seen.
		e.put(a.hash, at, a.flags|ondisk.AttrIncomplete)
		clear(b[:8])
		b[8] = byte(len(a.name))
		copy(b[ondisk.AttrRemoteHeader:], a.name)
	}
	h.FirstUsed = min(h.FirstUsed, at)
	h.UsedBytes += size
	l.tableGrew(h)
}

// tableGrew takes the bytes of the newest entry of the table out of the free regions.
func (l leaf) tableGrew(h *header) {
	end := l.end(h.Count)
	for i := range h.Free {
		f := &h.Free[i]
		grown := 0
		if f.Base == end-ondisk.AttrEntrySize {
			grown = ondisk.AttrEntrySize
		} else if f.Size > 0 && f.Base < end {
			grown = end - f.Base
		}
		f.Base += grown
		f.Size -= min(f.Size, grown)
		if f.Size == 0 && f.Base > 0 {
			f.Base, h.Holes = 0, true // what is free there is found when the leaf is packed
		}
	}
}

// remove removes an entry (xfs_attr3_leaf_remove in libxfs, of whose result, that the leaf is less than 37 % full,
// nothing depends).
func (l leaf) remove(index int) {
	h := l.header()
	e := l.entry(index)
	at, size := e.at(), l.size(e)
	l.release(&h, at, size)

	clear(l[at : at+size])
	h.UsedBytes -= size
	copy(l[l.end(index):], l[l.end(index+1):l.end(h.Count)])
	h.Count--
	clear(l.entry(h.Count))

	if at == h.FirstUsed {
		h.FirstUsed = len(l)
		for i := range h.Count {
			h.FirstUsed = min(h.FirstUsed, l.entry(i).at())
		}
	} else {
		h.Holes = true
	}
	l.put(&h)
}

// release adds the bytes of a name to the free regions: to those beside it, or in place of
// the smallest if that is smaller. The table is about to get shorter.
func (l leaf) release(h *header, at, size int) {
	before, after, smallest := -1, -1, len(h.Free)-1
	least, end := h.Free[0].Size, l.end(h.Count)
	for i := range h.Free {
		f := &h.Free[i]
		if f.Base == end {
			f.Base -= ondisk.AttrEntrySize
			f.Size += ondisk.AttrEntrySize
		}
		switch {
		case f.Base+f.Size == at:
			before = i
		case f.Base == at+size:
			after = i
		case f.Size < least:
			least, smallest = f.Size, i
		}
	}
	switch {
	case before >= 0 && after >= 0:
		h.Free[before].Size += size + h.Free[after].Size
		h.Free[after] = ondisk.AttrFree{}
	case before >= 0:
		h.Free[before].Size += size
	case after >= 0:
		h.Free[after].Base = at
		h.Free[after].Size += size
	case h.Free[smallest].Size < size:
		h.Free[smallest] = ondisk.AttrFree{Base: at, Size: size}
	}
}
