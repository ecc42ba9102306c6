package attr

import (
	"fmt"

	"mkfs/internal/bmap"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// blocksOf is how many blocks a value takes that has blocks.
func (f *FS) blocksOf(length int) geometry.Blocks { return valueBlocks(f.tree.Bytes, f.fs.V5, length) }

// oldValue is where the value of an entry is that is to be removed. An incomplete entry may have none.
func (o *op) oldValue(l leaf, e entry) (remote, error) {
	if e.local() {
		return remote{}, nil
	}
	r := l.remote(e)
	if r.length < 0 || r.length > MaxValue {
		return remote{}, fmt.Errorf("attribute %q has a value of %d bytes", l.name(e), r.length)
	}
	return r, nil
}

// setRemote gives the value blocks, which come after the entry so that they are where the tree has left room,
// and makes the attribute be seen (xfs_attr_rmtval_find_space, xfs_attr_rmtval_alloc in libxfs).
func setRemote(o *op) (bool, error) {
	n := o.f.blocksOf(len(o.value))
	at, err := bmap.FirstUnused(o.t, o.ip, bmap.Attr, n, 0)
	if err != nil {
		return false, err
	}
	if at > uint64(^da.Block(0))-uint64(n) {
		return false, errNoRoom
	}
	o.fresh.at = uint32(at)
	for end := at + uint64(n); at < end; {
		got, err := o.f.space.Map(o.t, o.ip, at, geometry.Blocks(end-at), o.total)
		if err != nil {
			return false, err
		}
		if got == 0 {
			return false, errNoRoom
		}
		at += uint64(got)
	}
	if err := o.writeValue(); err != nil {
		return false, err
	}
	o.added()
	if o.next != nil {
		return true, nil
	}
	l, err := o.leafAt()
	if err != nil {
		return false, err
	}
	o.show(l)
	return false, nil
}

// writeValue writes the value to its blocks (xfs_attr_rmtval_set_value in libxfs).
func (o *op) writeValue() error {
	part := valuePart(o.f.tree.Bytes, o.f.fs.V5)
	for i, at := 0, da.Block(o.fresh.at); i < len(o.value); i, at = i+part, at+1 {
		b, err := o.f.tree.Fresh(o.t, o.ip, at, o.f.block)
		if err != nil {
			return err
		}
		n := min(part, len(o.value)-i)
		if o.f.fs.V5 {
			h := ondisk.AttrBlock{
				Offset: uint32(i), Bytes: uint32(n), UUID: o.f.fs.UUID, Owner: uint64(o.ip.Ino), Blkno: o.f.fs.Daddr(b.Off),
			}
			h.Put(b.Data)
		}
		copy(b.Data[len(b.Data)-part:], o.value[i:i+n])
	}
	return nil
}

// forgetRemote drops the blocks of the old value from memory (xfs_attr_rmtval_invalidate in libxfs).
func (o *op) forgetRemote() error {
	for i := range o.f.blocksOf(o.old.length) {
		at := uint64(o.old.at) + uint64(i)
		e, ok := bmap.Lookup(o.ip, bmap.Attr, at)
		if !ok || e.Offset > at {
			return o.f.tree.Damaged(o.ip, da.Block(at), "the block of a value is not mapped")
		}
		g := o.f.fs.G
		agno, agbno := g.BlockAddress(e.Start + geometry.FSBlock(at-e.Offset))
		o.t.Cache.Forget(o.f.fs.Offset(agno, agbno), int64(o.f.tree.Bytes))
	}
	return nil
}

// freeRemote takes the blocks of the old value out of the fork, an extent in each transaction
// (xfs_attr_rmtval_remove in libxfs).
func freeRemote(o *op) (bool, error) {
	done, err := o.f.space.Unmap(o.t, o.ip, uint64(o.old.at), o.f.blocksOf(o.old.length))
	if err != nil || !done {
		return false, err
	}
	o.next = removeNodeEntry
	return false, nil
}

// readValue appends a value from its blocks to a buffer (xfs_attr_rmtval_get in libxfs).
func (o *op) readValue(r remote, buf []byte) ([]byte, error) {
	part := valuePart(o.f.tree.Bytes, o.f.fs.V5)
	for i, at := 0, da.Block(r.at); i < r.length; i, at = i+part, at+1 {
		b, err := o.f.tree.Get(o.t, o.ip, at, o.f.block)
		if err != nil {
			return nil, err
		}
		n := min(part, r.length-i)
		if o.f.fs.V5 {
			if h, _ := ondisk.DecodeAttrBlock(b.Data); int(h.Offset) != i || int(h.Bytes) != n {
				return nil, o.f.tree.Damaged(o.ip, at, "%d bytes of a value from byte %d on, where %d from %d on are to be",
					h.Bytes, h.Offset, n, i)
			}
		}
		buf = append(buf, b.Data[len(b.Data)-part:][:n]...)
	}
	return buf, nil
}
