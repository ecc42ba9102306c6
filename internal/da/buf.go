package da

import (
	"encoding/binary"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Get returns a block of a fork, in its bytes (xfs_da_read_buf in libxfs).
func (tr *Tree) Get(t *live.Trans, ip *inode.Inode, at Block, k *Kind) (*buffer.Buf, error) {
	b, err := tr.Try(t, ip, at, k)
	if b == nil && err == nil {
		err = tr.Damaged(ip, at, "it is not mapped")
	}
	return b, err
}

// Try is Get that returns nil if the fork has a hole there.
func (tr *Tree) Try(t *live.Trans, ip *inode.Inode, at Block, k *Kind) (*buffer.Buf, error) {
	e := tr.find(ip, uint64(at))
	if e == nil {
		return nil, nil
	}
	var b *buffer.Buf
	var err error
	if tr.whole(e, at) {
		b, err = t.Get(tr.offset(e, uint64(at)), tr.Bytes, &k.Kind)
	} else {
		var spans []buffer.Span
		if spans, err = tr.spans(ip, at); err == nil {
			b, err = t.GetSpans(spans, &k.Kind)
		}
	}
	if err != nil {
		return nil, tr.Damaged(ip, at, "%w", err)
	}
	if tr.FS.V5 {
		if owner := binary.BigEndian.Uint64(b.Data[k.Owner:]); owner != uint64(ip.Ino) {
			return nil, tr.Damaged(ip, at, "%s: it belongs to inode %d", k.Name, owner)
		}
	}
	return b, nil
}

// Fresh returns a block of a fork with nothing in it but zeros, which is changed with that.
func (tr *Tree) Fresh(t *live.Trans, ip *inode.Inode, at Block, k *Kind) (b *buffer.Buf, err error) {
	e := tr.find(ip, uint64(at))
	switch {
	case e == nil:
		return nil, tr.Damaged(ip, at, "it is not mapped")
	case tr.whole(e, at):
		b, err = t.Fresh(tr.offset(e, uint64(at)), tr.Bytes, &k.Kind)
	default:
		var spans []buffer.Span
		if spans, err = tr.spans(ip, at); err == nil {
			b, err = t.FreshSpans(spans, &k.Kind)
		}
	}
	if err != nil {
		return nil, tr.Damaged(ip, at, "%w", err)
	}
	return b, nil
}

// Read returns a node or a leaf (xfs_da3_node_read in libxfs).
func (tr *Tree) Read(t *live.Trans, ip *inode.Inode, at Block) (*buffer.Buf, error) {
	if at < tr.Root || at >= tr.End || (at-tr.Root)%Block(tr.Blocks) != 0 {
		return nil, tr.Damaged(ip, at, "no block of the index begins there")
	}
	return tr.Get(t, ip, at, tr.Index)
}

// ReadLeaf returns a leaf.
func (tr *Tree) ReadLeaf(t *live.Trans, ip *inode.Inode, at Block) (*buffer.Buf, error) {
	b, err := tr.Read(t, ip, at)
	if err == nil && tr.IsNode(b) {
		return nil, tr.Damaged(ip, at, "a node where a leaf is to be")
	}
	return b, err
}

// find is the extent that has a block of a fork, nil if none has.
func (tr *Tree) find(ip *inode.Inode, at uint64) *inode.Extent {
	f := tr.fork(ip)
	i, has := f.Lookup(at)
	if !has {
		return nil
	}
	return &f.Extents[i]
}

// whole tells whether all of a block is in an extent that has its beginning.
func (tr *Tree) whole(e *inode.Extent, at Block) bool { return uint64(at)+uint64(tr.Blocks) <= e.End() }

// offset is the byte of the device at which a block of an extent is.
func (tr *Tree) offset(e *inode.Extent, at uint64) int64 {
	g := tr.FS.G
	b := e.Start + geometry.FSBlock(at-e.Offset)
	agno := geometry.AGNumber(b >> g.AGBlockLog)
	return tr.FS.Offset(agno, geometry.AGBlock(b&(1<<g.AGBlockLog-1)))
}

// spans are the places of a block that lies in several extents.
func (tr *Tree) spans(ip *inode.Inode, at Block) (list []buffer.Span, err error) {
	for off, end := uint64(at), uint64(at)+uint64(tr.Blocks); off < end; {
		e := tr.find(ip, off)
		if e == nil {
			return nil, tr.Damaged(ip, Block(off), "it is not mapped")
		}
		n := min(end, e.End()) - off
		list = append(list, buffer.Span{Off: tr.offset(e, off), Len: int(n) << tr.FS.G.BlockLog})
		off += n
	}
	return list, nil
}

// Ahead begins to read a block of a fork that Get will be asked for, unless it is there or lies in several
// extents. It tells whether there is room for more.
func (tr *Tree) Ahead(t *live.Trans, ip *inode.Inode, at Block) (bool, error) {
	e := tr.find(ip, uint64(at))
	if e == nil || !tr.whole(e, at) {
		return true, nil
	}
	ok, err := t.Cache.Ahead(tr.offset(e, uint64(at)), tr.Bytes)
	if err != nil {
		return false, tr.Damaged(ip, at, "%w", err)
	}
	return ok, nil
}
