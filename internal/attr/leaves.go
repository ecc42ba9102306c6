package attr

import (
	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// leaves is what the btree has to know of leaves of attributes. The Op of its State is an *op.
type leaves struct{ *FS }

// LastHash is of da.Leaves.
func (leaves) LastHash(b *buffer.Buf) (hash uint32, any bool) {
	l := leaf(b.Data)
	return l.lastHash(), l.count() > 0
}

// Fill is of da.Leaves.
func (leaves) Fill(b *buffer.Buf) da.Fill {
	l := leaf(b.Data)
	switch {
	case l.halfFull():
		return da.Large
	case l.count() > 0:
		return da.Small
	}
	return da.Empty
}

// Room is of da.Leaves.
func (leaves) Room(a, b *buffer.Buf) bool { return leaf(a.Data).room(b.Data) }

// Search is of da.Leaves.
func (leaves) Search(s *da.State, blk *da.Step) (found bool, err error) {
	blk.Index, found = leaf(blk.Buf.Data).search(&s.Op.(*op).key)
	return found, nil
}

// Split is of da.Leaves (xfs_attr3_leaf_split in libxfs).
func (f leaves) Split(s *da.State, old, upper *da.Step) (da.Fit, error) {
	o := s.Op.(*op)
	at, ok, err := s.GrowIndex()
	if !ok || err != nil {
		return da.NoRoom, err
	}
	b, err := f.newLeaf(s.T, s.IP, at)
	if err != nil {
		return da.NoRoom, err
	}
	if b == old.Buf {
		return da.NoRoom, s.Damaged(s.IP, at, "its block is in use and was free")
	}
	*upper = da.Step{Buf: b, At: at, Leaf: true}
	s.Touch(old.Buf)
	l, u := leaf(old.Buf.Data), leaf(b.Data)
	lower, index, ok := l.splitTo(u, old.Index, o.entrySize())
	if !ok {
		return da.NoRoom, s.Damaged(s.IP, old.At, "names take more than the block has")
	}
	old.Hash, upper.Hash = l.lastHash(), u.lastHash()
	if err := s.Link(old, upper); err != nil {
		return da.NoRoom, err
	}
	s.InOld = lower
	to := old
	if !lower {
		to, upper.Index = upper, index
	}
	fits := o.enter(to, index)
	old.Hash, upper.Hash = l.lastHash(), u.lastHash()
	if !fits {
		return da.TooFull, nil
	}
	return da.Fits, nil
}

// Unbalance is of da.Leaves.
func (leaves) Unbalance(s *da.State, drop, keep *da.Step) error {
	to := leaf(keep.Buf.Data)
	s.Touch(keep.Buf)
	if !to.merge(drop.Buf.Data) {
		return s.Damaged(s.IP, keep.At, "the entries of block %d do not fit into it", drop.At)
	}
	keep.Hash = to.lastHash()
	return nil
}

// newLeaf makes an empty leaf of a block of the fork (xfs_attr3_leaf_create in libxfs).
func (f *FS) newLeaf(t *live.Trans, ip *inode.Inode, at da.Block) (*buffer.Buf, error) {
	b, err := f.tree.Fresh(t, ip, at, f.tree.Index)
	if err != nil {
		return nil, err
	}
	magic, size := uint16(ondisk.AttrLeafMagicV4), ondisk.AttrLeafHeaderV4
	if f.fs.V5 {
		magic, size = ondisk.AttrLeafMagic, ondisk.AttrLeafHeader
	}
	f.tree.InitHeader(b, uint64(ip.Ino), magic, size)
	leaf(b.Data).init()
	return b, nil
}
