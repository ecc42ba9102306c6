package attr

import (
	"mkfs/internal/bmap"
	"mkfs/internal/ondisk"
)

// shortToLeaf makes the list in the inode a leaf (xfs_attr_shortform_to_leaf in libxfs).
func (o *op) shortToLeaf() error {
	ip, f := o.ip, o.f
	copied := borrow(len(ip.Attr.Local))
	defer scratch.Put(copied)
	copy(*copied, ip.Attr.Local)
	bmap.EmptyLocal(o.t, ip, bmap.Attr)
	at, ok, err := f.tree.Grow(o.t, ip, 0, &o.total)
	if err != nil {
		return err
	}
	if !ok {
		return errNoRoom
	}
	b, err := f.newLeaf(o.t, ip, at)
	if err != nil {
		return err
	}
	l := leaf(b.Data)
	for rest := shortform(*copied)[listHeader:]; len(rest) > 0; {
		i := rest.at(0)
		rest = rest[len(i):]
		k := key{space: i.space(), name: i.name(), value: i.value(), hash: f.hash(i.space(), i.name(), i.value())}
		index, _ := l.search(&k)
		a := addition{hash: k.hash, flags: ondisk.AttrFlags(k.space), name: k.name, value: k.value}
		if !l.add(index, &a) {
			return f.tree.Damaged(ip, at, "the list in the inode does not fit")
		}
	}
	return nil
}

// leafToShort makes the only leaf a list in the inode, if that may be so long; without attributes
// there is no fork any more. (xfs_attr_shortform_allfit and xfs_attr3_leaf_to_shortform in libxfs.)
func (o *op) leafToShort(l leaf) error {
	ip, f := o.ip, o.f
	size, ok := l.listSize()
	if !ok {
		return nil
	}
	none := size == listHeader && ip.Data.Format != ondisk.FormatBtree
	offset := 0
	if !none {
		if offset = bmap.AttrForkOffset(f.fs, ip, size); offset == 0 {
			return nil
		}
	}
	copied := borrow(len(l))
	defer scratch.Put(copied)
	copy(*copied, l)
	if err := o.freeLeaf(); err != nil {
		return err
	}
	if none {
		if !o.replace {
			dropFork(ip)
		}
		ip.Log(o.t)
		return nil
	}
	l = *copied
	makeList(ip)
	for i := range l.count() {
		if e := l.entry(i); !e.incomplete() {
			o.appendItem(offset, e.space(), l.name(e), l.value(e))
		}
	}
	ip.Log(o.t)
	return nil
}

// listSize is how long the list would be that the attributes of a leaf make; false if they cannot be in one.
func (l leaf) listSize() (size int, ok bool) {
	size = listHeader
	n := l.count()
	for i := range n {
		e := l.entry(i)
		if e.incomplete() {
			continue
		}
		if !e.local() || len(l.name(e)) > maxListPart || len(l.value(e)) > maxListPart {
			return 0, false
		}
		size += itemSize(len(l.name(e)), len(l.value(e)))
	}
	return size, n <= maxListCount
}

// freeLeaf takes the only leaf out of the fork.
func (o *op) freeLeaf() error {
	b, err := o.f.tree.ReadLeaf(o.t, o.ip, 0)
	if err != nil {
		return err
	}
	ok, err := o.f.tree.Shrink(o.t, o.ip, 0, b)
	if err == nil && !ok {
		err = errNoRoom
	}
	return err
}

// leafToNode makes the leaf at the root a root with a leaf below it (xfs_attr3_leaf_to_node in libxfs).
// Behind what the node has, the leaf's bytes stay.
func (o *op) leafToNode() error {
	tree, ip, t := o.f.tree, o.ip, o.t
	at, ok, err := tree.Grow(t, ip, 0, &o.total)
	if err != nil {
		return err
	}
	if !ok {
		return errNoRoom
	}
	root, err := tree.ReadLeaf(t, ip, 0)
	if err != nil {
		return err
	}
	b, err := tree.Fresh(t, ip, at, tree.Index)
	if err != nil {
		return err
	}
	if b == root {
		return tree.Damaged(ip, at, "its block is in use and was free")
	}
	tree.Copy(t, b, root, tree.Bytes)
	tree.MakeNode(t, root, uint64(ip.Ino), 1)
	d := ondisk.DABlock{B: root.Data, V5: o.f.fs.V5}
	d.Entries().Put(0, leaf(b.Data).lastHash(), uint32(at))
	d.SetCount(1)
	return nil
}
