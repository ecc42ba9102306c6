package bmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Write maps n blocks from off on, and allocates what is not there: at most one new extent. total is what the whole
// operation may take (resblks). The result is what was mapped, cut to the range, and may be less than n blocks;
// it is empty if there is no room. (xfs_bmapi_write in libxfs, for one mapping.)
func Write(t *live.Trans, ip *inode.Inode, id ForkID, off uint64, n geometry.Blocks, flags Flags,
	total geometry.Blocks) ([]inode.Extent, error) {
	return WriteMany(t, ip, id, off, n, flags, total, 1)
}

// WriteMany is Write for so many mappings at most, and for as many new extents.
func WriteMany(t *live.Trans, ip *inode.Inode, id ForkID, off uint64, n geometry.Blocks, flags Flags,
	total geometry.Blocks, most int) ([]inode.Extent, error) {
	o, err := onExtents(t, ip, id)
	if err != nil {
		return nil, err
	}
	defer o.end()
	if n == 0 || off > inode.MaxOffset || uint64(n) > inode.MaxOffset+1-off {
		return nil, o.fail("%d blocks at %d cannot be mapped", n, off)
	}
	w := writing{op: o, want: want{flags: flags, total: total, minLeft: o.minLeft()}, off: off, n: n}
	if err := w.run(most); err != nil {
		return nil, err
	}
	return w.mapped, w.reform()
}

// Map enters an extent that something else has allocated. Nothing of the file may be there. (xfs_bmapi_remap in
// libxfs.)
func Map(t *live.Trans, ip *inode.Inode, id ForkID, e inode.Extent) error {
	o, err := onExtents(t, ip, id)
	if err != nil {
		return err
	}
	defer o.end()
	i := o.f.Search(e.Offset)
	switch {
	case e.Blocks == 0 || e.Blocks > inode.MaxExtent || e.Offset > inode.MaxOffset || e.End()-1 > inode.MaxOffset:
		return o.fail("%d blocks at %d cannot be mapped", e.Blocks, e.Offset)
	case i < len(o.f.Extents) && o.f.Extents[i].Offset < e.End():
		return o.fail("blocks at %d are mapped already", e.Offset)
	}
	ip.Core.Blocks += uint64(e.Blocks)
	if _, err := o.addExtent(i, e); err != nil {
		return err
	}
	return o.reform()
}

// writing is a Write that is at work.
type writing struct {
	*op
	want   want
	off    uint64 // the range
	n      geometry.Blocks
	mapped []inode.Extent
}

// run maps the range, as far as so many mappings go and there is room.
func (w *writing) run(most int) error {
	end := w.off + uint64(w.n)
	i := w.f.Search(w.off)
	for at, news := w.off, 0; at < end; i++ {
		if i == len(w.f.Extents) || w.f.Extents[i].Offset > at {
			j, ok, err := w.allocate(i, at, end)
			if err != nil || !ok {
				return err
			}
			i = j
			news++
		}
		e, ok := cut(w.f.Extents[i], at, geometry.Blocks(end-at))
		if !ok {
			return w.fail("blocks for %d were mapped elsewhere", at)
		}
		for changed := true; changed; {
			var err error
			if i, changed, err = w.convert(i, &e, end); err != nil {
				return err
			}
		}
		w.note(e)
		if at = e.End(); len(w.mapped) >= most || news >= most {
			return nil
		}
	}
	return nil
}

// allocate puts new blocks into the hole before the i-th extent, from at on, and returns the index of the extent
// that they are in.
func (w *writing) allocate(i int, at, end uint64) (int, bool, error) {
	list := w.f.Extents
	n := min(geometry.Blocks(end-at), inode.MaxExtent)
	if i < len(list) {
		n = min(n, geometry.Blocks(list[i].Offset-at))
	}
	w.want.span = span{at, n}
	w.want.behind(list, i)
	start, ok, err := w.take()
	if err != nil || !ok {
		return i, false, err
	}
	e := inode.Extent{Offset: w.want.off, Start: start, Blocks: w.want.n, Unwritten: w.want.flags&Prealloc != 0}
	w.ip.Core.Blocks += uint64(e.Blocks)
	i, err = w.addExtent(i, e)
	return i, true, err
}

// addExtent puts an extent into the hole before the i-th, and returns the index of the extent that it is in.
func (o *op) addExtent(i int, e inode.Extent) (int, error) {
	c := added(o.f.Extents, i, e)
	if err := o.change(&c); err != nil {
		return i, err
	}
	later[add](o.t, o.ip, o.id == Attr, e)
	return c.at, o.outgrow()
}

// convert changes the state of e, a part of the i-th extent, if that is not the one that is wanted. It returns the
// index that the part has then. If that goes on behind the part, and the range does too, it
// grows, and is to be looked at once more.
func (w *writing) convert(i int, e *inode.Extent, end uint64) (int, bool, error) {
	prealloc := w.want.flags&Prealloc != 0
	if e.Unwritten && prealloc || !e.Unwritten && (!prealloc || w.want.flags&Convert == 0) {
		return i, false, nil
	}
	e.Unwritten = !e.Unwritten
	i, err := w.convertExtent(i, *e)
	if err != nil || e.End() >= end {
		return i, false, err
	}
	*e, _ = cut(w.f.Extents[i], e.Offset, geometry.Blocks(end-e.Offset))
	return i, true, nil
}

// convertExtent changes the state of a part of the i-th extent.
func (o *op) convertExtent(i int, e inode.Extent) (int, error) {
	c := converted(o.f.Extents, i, e)
	if err := o.change(&c); err != nil {
		return i, err
	}
	later[convert](o.t, o.ip, o.id == Attr, e)
	return c.at, o.outgrow()
}

// note adds a mapping to the result, as one with the one before if they are contiguous.
func (w *writing) note(e inode.Extent) {
	if n := len(w.mapped); n > 0 {
		last := &w.mapped[n-1]
		if last.Start+geometry.FSBlock(last.Blocks) == e.Start && last.Unwritten == e.Unwritten {
			last.Blocks += e.Blocks
			return
		}
	}
	w.mapped = append(w.mapped, e)
}
