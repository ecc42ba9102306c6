package dir

import (
	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
)

// joinBelow is how full a leaf is that is not joined with others, in percent (magicpct in libxfs).
const joinBelow = 37

// removeNode takes the entry out of a directory whose index is a btree, which becomes one block if all
// fits one (xfs_dir2_node_removename).
func (o *op) removeNode() error {
	d, s := o.d, &o.d.s
	leaf := s.Path.Last()
	v := d.view(leaf.Buf.Data)
	v.SetLevel(v.Level() + 1)
	v.Entries().SetValue(o.match.slot, 0)
	s.Touch(leaf.Buf)
	if err := o.freeInNode(); err != nil {
		return err
	}
	s.FixHashes(&s.Path)
	used := ondisk.DAHeaderSize(d.fs.V5) + d.live(leaf.Buf)*hashSize
	if s.Path.Depth > 1 && used < d.bytes*joinBelow/100 {
		if err := s.Join(); err != nil {
			return err
		}
	}
	if s.Path.Depth > 1 {
		return nil
	}
	return o.nodeToLeaf(s.Path.Steps[0].Buf)
}

// freeInNode makes the entry's space free. If nothing else is in its block that is given back. The list of
// free space follows. (xfs_dir2_leafn_remove.)
func (o *op) freeInNode() error {
	d, m := o.d, &o.match
	k := d.blockIn(m.buf)
	was := k.longest()
	if err := o.free(k); err != nil {
		return err
	}
	longest := k.longest()
	if longest <= was {
		return nil
	}
	number, i := m.db/d.perFree, m.db%d.perFree
	fb, f, err := o.freeIn(number)
	if err != nil {
		return err
	}
	if fb == nil || i >= f.count() || f.best(i) == noBest {
		return d.damaged(o.dp, "block %d is not in the list of free space", m.db)
	}
	o.t.Dirty(fb)
	if !d.empty(longest) {
		o.setBest(f, m.db, longest)
		return nil
	}
	ok, err := o.shrinkEntries(m.db, m.buf)
	if err != nil {
		return err
	}
	if !ok {
		o.setBest(f, m.db, longest)
		return nil
	}
	if f.used() == 0 {
		return d.damaged(o.dp, "block %d of free space lists no blocks", number)
	}
	f.drop(i)
	if f.used() == 0 {
		_, err = d.tree.Shrink(o.t, o.dp, d.freePlace(number), fb) // or another time
	}
	return err
}

// drop takes a block that is gone off the list. At its end others that are gone go as well.
// (xfs_dir3_data_block_free.)
func (f freeBlock) drop(i int) {
	f.setUsed(f.used() - 1)
	if i < f.count()-1 {
		f.setBest(i, noBest)
		return
	}
	for i > 0 && f.best(i-1) == noBest {
		i--
	}
	f.setCount(i)
}

// nodeToLeaf makes a leaf that is all of the index an index that is one block, if the list of free space fits it as
// well (xfs_dir2_node_to_leaf).
func (o *op) nodeToLeaf(lb *buffer.Buf) error {
	d := o.d
	if ok, err := o.trimFree(); !ok || err != nil {
		return err
	}
	end, err := bmap.LastOffset(o.t, o.dp, bmap.Data, uint64(d.free))
	if err != nil {
		return err
	}
	if end > uint64(d.leaf)+uint64(d.tree.Blocks) || d.tree.IsNode(lb) {
		return nil
	}
	fb, f, err := o.freeIn(0)
	if err != nil {
		return err
	}
	if fb == nil {
		return d.damaged(o.dp, "there is no list of free space")
	}
	v, n := d.view(lb.Data), f.count()
	if ondisk.DAHeaderSize(d.fs.V5)+d.live(lb)*hashSize+n*ondisk.DirBestSize+bestsTail > d.bytes {
		return nil
	}
	compactAll(v)
	lb.Kind = &d.leaf1.Kind
	v.SetMagic(uint16(d.magicOf(leafMagic)))
	l := leaf1{lb.Data, v}
	l.setBests(n)
	for i := range n {
		l.setBest(i, f.best(i))
	}
	o.t.Dirty(lb)
	if ok, err := d.tree.Shrink(o.t, o.dp, d.freePlace(0), fb); !ok || err != nil {
		return o.stays(d.freePlace(0), err)
	}
	return o.leafToBlock(lb, l)
}

// trimFree gives back blocks at the end of the list of free space that list nothing, and tells whether only the
// first is left (xfs_dir2_node_trim_free).
func (o *op) trimFree() (bool, error) {
	d := o.d
	list := o.dp.Data.Extents
	end := list[len(list)-1].End()
	if end < uint64(d.free) {
		return false, d.damaged(o.dp, "there is no list of free space")
	}
	for number := int(end-uint64(d.free))/int(d.tree.Blocks) - 1; number > 0; number-- {
		b, f, err := o.freeIn(number)
		if b == nil || err != nil || f.used() > 0 {
			return false, err
		}
		if ok, err := d.tree.Shrink(o.t, o.dp, d.freePlace(number), b); !ok || err != nil {
			return false, o.stays(d.freePlace(number), err)
		}
	}
	return true, nil
}
