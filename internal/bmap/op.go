package bmap

import (
	"sync"

	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// op is an operation on a fork.
type op struct {
	t  *live.Trans
	ip *inode.Inode
	id ForkID
	f  *inode.Fork
	// tree is the fork's btree, and cur a cursor in it, once there was a need of them.
	open   bool
	tree   btree.Tree
	cur    btree.Cursor
	record [ondisk.FileExtentSize]byte // that the cursor is to look for or to write
}

// Operations are large, for their cursors, and there are many.
var ops = sync.Pool{New: func() any { return new(op) }}

// on begins an operation on a fork, which end ends.
func on(t *live.Trans, ip *inode.Inode, id ForkID) *op {
	o := ops.Get().(*op)
	o.t, o.ip, o.id, o.f = t, ip, id, id.of(ip)
	return o
}

// end ends the operation.
func (o *op) end() {
	o.close()
	o.t, o.ip, o.f = nil, nil, nil
	ops.Put(o)
}

// onExtents begins an operation on a fork whose extents are to change.
func onExtents(t *live.Trans, ip *inode.Inode, id ForkID) (*op, error) {
	if err := hasExtents(ip, id); err != nil {
		return nil, err
	}
	if id == Data && ip.Core.Flags&ondisk.FlagRealtime != 0 {
		return nil, fail(ip, id, "its blocks are in the realtime section, where none are allocated or freed here")
	}
	return on(t, ip, id), nil
}

func (o *op) fail(format string, args ...any) error { return fail(o.ip, o.id, format, args...) }

// room is how many bytes the fork may take in the inode, and most how many extents that is.
func (o *op) room() int { return o.ip.Room(o.t.FS, o.id == Attr) }
func (o *op) most() int { return o.room() / ondisk.FileExtentSize }

// count makes sure that n more extents can be counted. An inode with small counters gets large ones where the
// filesystem has them. (xfs_iext_count_extend in libxfs.)
func (o *op) count(n int) error {
	want := uint64(len(o.f.Extents) + n)
	if want <= o.ip.MaxExtents(o.id == Attr) {
		return nil
	}
	if o.t.G.Features.Nrext64 && o.ip.Core.Flags2&ondisk.Flag2Nrext64 == 0 {
		o.ip.Core.Flags2 |= ondisk.Flag2Nrext64
		o.ip.Log(o.t)
	}
	if most := o.ip.MaxExtents(o.id == Attr); want > most {
		return o.fail("it would have %d extents; the most are %d", want, most)
	}
	return nil
}

// change makes a change, in the btree and in memory. The form of the fork stays.
func (o *op) change(c *change) error {
	if more := c.puts - c.n; more > 0 {
		if err := o.count(more); err != nil {
			return err
		}
	}
	if o.f.Format == ondisk.FormatBtree {
		if err := o.changeTree(c); err != nil {
			return err
		}
	}
	c.apply(o.f)
	o.ip.Log(o.t)
	return nil
}

// later tells the rmapbt of blocks that were added, converted or removed, at the end of the transaction.
var later = [...]func(*live.Trans, *inode.Inode, bool, inode.Extent){
	add: alloc.MapLater, convert: alloc.ConvertLater, remove: alloc.UnmapLater,
}

// outgrow gives the fork a btree if its extents do not fit the inode any more.
func (o *op) outgrow() error {
	if o.f.Format == ondisk.FormatExtents && len(o.f.Extents) > o.most() {
		return o.toBtree()
	}
	return nil
}

// reform gives the fork the form that its number of extents wants, at the end of an operation.
func (o *op) reform() error {
	if o.f.Format == ondisk.FormatBtree && len(o.f.Extents) <= o.most() {
		return o.toExtents()
	}
	return o.outgrow()
}
