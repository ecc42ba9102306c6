package bmap

import (
	"mkfs/internal/alloc"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/refcount"
	"mkfs/internal/rmap"
)

// Unmap frees n blocks from off on, from the end, and of so many extents at most, any number if most is 0; done tells
// whether nothing is left to do. The blocks are freed at the end of the transaction; those that other files have, too, have
// one owner less.
//
// To take blocks out of the midst of an extent makes two of it, and the btree may need a block for that. If there is
// none, or none is reserved, the error is ErrNoRoom; what was behind those blocks is unmapped then.
// (xfs_bunmapi in libxfs.)
func Unmap(t *live.Trans, ip *inode.Inode, id ForkID, off uint64, n geometry.Blocks, flags Flags, most int) (
	done bool, err error) {
	o, err := onExtents(t, ip, id)
	if err != nil {
		return false, err
	}
	defer o.end()
	end := off + uint64(n)
	if n == 0 {
		return true, nil
	} else if end < off {
		return false, o.fail("%d blocks at %d end behind all files", n, off)
	}
	i := o.f.Search(end - 1)
	for count := 0; ; count++ {
		if i == len(o.f.Extents) || i >= 0 && o.f.Extents[i].Offset >= end {
			i--
		}
		if i < 0 {
			break
		}
		e, ok := cut(o.f.Extents[i], off, geometry.Blocks(end-off))
		if !ok {
			break
		}
		if most > 0 && count == most {
			return false, o.reform()
		}
		if i, err = o.removeExtent(i, e, flags); err != nil {
			return false, err
		}
		if end = e.Offset; end == off {
			break
		}
	}
	return true, o.reform()
}

// removeExtent takes a part of the i-th extent away, and returns the index of the extent before it, or of what
// is left of this one.
func (o *op) removeExtent(i int, e inode.Extent, flags Flags) (int, error) {
	c := removed(o.f.Extents, i, e)
	if o.t.Reserve == 0 && o.f.Format == ondisk.FormatExtents && c.puts == 2 && len(o.f.Extents) >= o.most() {
		return i, o.fail("%w", ErrNoRoom)
	}
	if err := o.change(&c); err != nil {
		return i, err
	}
	later[remove](o.t, o.ip, o.id == Attr, e)
	switch {
	case flags&Keep != 0:
	case o.id == Data && o.ip.Core.Flags2&ondisk.Flag2Reflink != 0: // other files may have them, too
		refcount.DecreaseLater(o.t, e.Start, e.Blocks)
	default:
		alloc.FreeLater(o.t, e.Start, e.Blocks, rmap.Owner{}, alloc.ReserveNone)
	}
	if o.ip.Core.Blocks < uint64(e.Blocks) {
		return i, o.fail("it has %d blocks, and an extent of %d", o.ip.Core.Blocks, e.Blocks)
	}
	o.ip.Core.Blocks -= uint64(e.Blocks)
	return c.at, nil
}
