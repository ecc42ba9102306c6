package attr

import (
	"fmt"

	"mkfs/internal/bmap"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// key is what an attribute is found by.
type key struct {
	space      Space
	incomplete ondisk.AttrFlags // AttrIncomplete for one that is being made or removed
	hash       uint32
	name       []byte
	value      []byte // of parent pointers, which are told apart by it
}

// op is an operation on an attribute. It goes from step to step, each of which may need a transaction of
// its own; whoever looks at the blocks between two steps sees the old attribute or the new one, and at
// most one more that is incomplete.
type op struct {
	f *FS
	progress
	state da.State // of the lookup, which begins it
	// Copies of names of parent pointers, whose memory is used again.
	copied, newCopied []byte
}

// progress is what an op has that the next one has not.
type progress struct {
	ip *inode.Inode
	t  *live.Trans
	key
	value []byte // what is set
	next  step   // nil when all is done

	replace bool // the old attribute is there still
	// Parent pointers are removed before the new one is added, whose name and
	// value these are: the log has both.
	renamed           bool
	newName, newValue []byte
	rec, newRec       parentRec // values

	// The entry that was found, or entered.
	at    da.Block
	index int
	fresh remote // of the value that is set
	old   remote // of the value that goes
	// total is how many blocks the operation may still take.
	total geometry.Blocks
}

// step does a part of an operation, and sets the next; more tells that this may follow in the same
// transaction.
type step func(o *op) (more bool, err error)

// work is an operation that is put off.
var work = live.Deferral{Name: "attribute", Most: 1, Finish: func(t *live.Trans, i *live.Item, _ bool) (bool, error) {
	o := i.More.(*op)
	if err := o.run(t); err != nil {
		return false, damaged(o.ip, err)
	}
	if o.next != nil {
		return false, nil
	}
	o.release()
	return true, nil
}}

// run goes on until a transaction has to end (xfs_attr_set_iter in libxfs).
func (o *op) run(t *live.Trans) error {
	o.t = t
	for o.next != nil {
		if more, err := o.next(o); !more || err != nil {
			return err
		}
	}
	return nil
}

func (o *op) release() {
	o.progress = progress{}
	o.f.idle = append(o.f.idle, o)
}

// putOff puts the operation off to the end of the transaction.
func (o *op) putOff(t *live.Trans) { t.Defer(&work, live.Item{More: o}) }

func (o *op) entrySize() int {
	n, _ := entrySize(o.f.tree.Bytes, len(o.name), len(o.value))
	return n
}

// lookup goes to the leaf of the attribute and tells whether it is there.
func (o *op) lookup() (bool, error) {
	o.state.Begin(o.f.tree, o.t, o.ip, o, o.hash, o.total)
	found, err := o.state.Lookup()
	if err != nil {
		return false, err
	}
	last := o.state.Path.Last()
	o.at, o.index = last.At, last.Index
	return found, nil
}

// leafAt reads the leaf of o.at.
func (o *op) leafAt() (leaf, error) {
	b, err := o.f.tree.ReadLeaf(o.t, o.ip, o.at)
	if err != nil {
		return nil, err
	}
	l := leaf(b.Data)
	if o.index >= l.count() {
		return nil, o.f.tree.Damaged(o.ip, o.at, "an entry is gone")
	}
	o.t.Dirty(b)
	return l, nil
}

// enter enters the attribute into a leaf. It returns false if there is no room.
func (o *op) enter(s *da.Step, index int) bool {
	a := addition{hash: o.hash, flags: ondisk.AttrFlags(o.space), name: o.name, value: o.value}
	if o.replace {
		a.flags |= ondisk.AttrIncomplete // until the old one is not to be seen
	}
	o.t.Dirty(s.Buf)
	if !leaf(s.Buf.Data).add(index, &a) {
		return false
	}
	o.at, o.index = s.At, index
	o.fresh = remote{}
	if _, local := entrySize(o.f.tree.Bytes, len(o.name), len(o.value)); !local {
		o.fresh.length = len(o.value)
	}
	return true
}

// addNext is the first step of adding to a fork as it is.
func (o *op) addNext() step {
	if o.ip.ForkOffset == 0 {
		return nil
	}
	if isShort(o.ip) {
		return addShort
	}
	return addLeaf
}

// removeNext is the first step of removing from a fork as it is.
func (o *op) removeNext() step {
	switch {
	case isShort(o.ip):
		return removeShort
	case isLeaf(o.ip):
		return removeLeaf
	}
	return removeNode
}

// removed ends a removal: the new attribute follows, if there is one.
func (o *op) removed() {
	o.incomplete = 0
	if !o.replace {
		o.next = nil
		return
	}
	o.replace = false
	if o.renamed {
		o.rename()
	}
	o.next = o.addNext()
}

// rename makes a parent pointer that was removed the one that is added.
func (o *op) rename() {
	o.name, o.value, o.key.value = o.newName, o.newValue, o.newValue
	o.hash = o.f.parentHash(o.name, o.value)
	o.renamed = false
}

// addShort adds to the list in the inode, or makes a leaf of that (xfs_attr_sf_addname in libxfs).
func addShort(o *op) (bool, error) {
	done, err := o.tryShort()
	if done || err != nil {
		o.next = nil
		return false, err
	}
	o.next = addLeaf
	return false, o.shortToLeaf()
}

// tryShort adds to the list in the inode. It returns false if the list would be too long
// (xfs_attr_try_sf_addname in libxfs).
func (o *op) tryShort() (bool, error) {
	ip := o.ip
	if ip.Attr.Format == ondisk.FormatExtents {
		makeList(ip)
		ip.Log(o.t)
	}
	s, err := list(ip)
	if err != nil {
		return false, err
	}
	if at, found := s.find(&o.key); found {
		o.cut(s, at)
		o.replace = false
	}
	if len(o.name) > maxListPart || len(o.value) > maxListPart || s.count() == maxListCount {
		return false, nil
	}
	offset := bmap.AttrForkOffset(o.f.fs, ip, len(ip.Attr.Local)+itemSize(len(o.name), len(o.value)))
	if offset == 0 {
		return false, nil
	}
	o.appendItem(offset, o.space, o.name, o.value)
	ip.Stamp(o.f.fs, inode.Changed)
	ip.Log(o.t)
	return true, nil
}

// removeShort removes from the list in the inode (xfs_attr_sf_removename in libxfs).
func removeShort(o *op) (bool, error) {
	s, err := list(o.ip)
	if err != nil {
		return false, err
	}
	at, found := s.find(&o.key)
	if !found {
		return false, fmt.Errorf("attribute %q is gone", o.name)
	}
	o.cut(s, at)
	o.removed()
	return false, nil
}

// cut removes an attribute from the list, and the fork with the last, if none is to follow.
func (o *op) cut(s shortform, at int) {
	ip := o.ip
	o.f.fs.AttrLists = true
	ip.Attr.Local = s.cut(at)
	if len(ip.Attr.Local) == listHeader && ip.Data.Format != ondisk.FormatBtree && !o.replace &&
		!o.f.fs.G.Features.Parent {
		dropFork(ip)
	} else {
		ip.ForkOffset = bmap.AttrForkOffset(o.f.fs, ip, len(ip.Attr.Local))
	}
	ip.Log(o.t)
}

// addLeaf adds to a leaf, or to the tree (xfs_attr_leaf_addname and xfs_attr_node_addname in libxfs).
func addLeaf(o *op) (bool, error) {
	found, err := o.lookup()
	if err != nil {
		return false, err
	}
	if found != o.replace {
		return false, fmt.Errorf("attribute %q is there: %t, which it was not before", o.name, found)
	}
	s := &o.state
	last := s.Path.Last()
	if found {
		l := leaf(last.Buf.Data)
		if o.old, err = o.oldValue(l, l.entry(last.Index)); err != nil {
			return false, err
		}
	}
	switch {
	case o.enter(last, last.Index):
		s.FixHashes(&s.Path)
	case s.Path.Depth == 1:
		o.next = addLeaf // to the leaf below
		return false, o.leafToNode()
	default:
		fit, err := s.Split()
		if err != nil {
			return false, err
		}
		if fit != da.Fits {
			return false, errNoRoom
		}
		o.total = s.Total
	}
	if o.fresh.length > 0 {
		o.next = setRemote
	} else {
		o.added()
	}
	return false, nil
}

// added ends an addition: the old attribute is removed, if there was one.
func (o *op) added() {
	o.next = nil
	if o.replace {
		o.replace = false
		o.next = flip
	}
}

// flip makes the new attribute be seen, and the old one not, at once (xfs_attr3_leaf_flipflags in libxfs).
// The old one follows the new one.
func flip(o *op) (bool, error) {
	l, err := o.leafAt()
	if err != nil {
		return false, err
	}
	o.show(l)
	if o.index++; o.index == l.count() {
		o.at = da.Block(ondisk.DABlock{B: l, V5: o.f.fs.V5}.Forward())
		o.index = 0
		if o.at == 0 {
			return false, fmt.Errorf("attribute %q is gone", o.name)
		}
		if l, err = o.leafAt(); err != nil {
			return false, err
		}
	}
	o.hide(l)
	o.next = removeOld
	return false, nil
}

// show makes an entry be seen (xfs_attr3_leaf_clearflag in libxfs).
func (o *op) show(l leaf) {
	e := l.entry(o.index)
	e.setFlags(e.flags() &^ ondisk.AttrIncomplete)
	if o.fresh.length > 0 && !e.local() {
		l.setRemote(e, o.fresh)
	}
}

// hide makes an entry be seen no more (xfs_attr3_leaf_setflag in libxfs).
func (o *op) hide(l leaf) {
	e := l.entry(o.index)
	e.setFlags(e.flags() | ondisk.AttrIncomplete)
	if !e.local() {
		l.setRemote(e, remote{})
	}
}

// removeOld removes the attribute that was replaced: first its value, where that has blocks.
func removeOld(o *op) (bool, error) {
	o.incomplete = ondisk.AttrIncomplete
	return true, o.removeValue()
}

// removeValue is followed by the removal of the entry. libxfs has a way of its own for a fork that is one leaf
// (xfs_attr_leaf_remove_attr), with the same result.
func (o *op) removeValue() error {
	o.next = removeNodeEntry
	if o.old.length == 0 {
		return nil
	}
	o.next = freeRemote
	return o.forgetRemote()
}

// leafOf is the leaf that has the attribute, which is to be there.
func (o *op) leafOf() (leaf, error) {
	found, err := o.lookup()
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("attribute %q is gone", o.name)
	}
	return o.leafAt()
}

// removeLeaf removes from a leaf that is all of the fork (xfs_attr_leaf_removename in libxfs).
func removeLeaf(o *op) (bool, error) {
	l, err := o.leafOf()
	if err != nil {
		return false, err
	}
	l.remove(o.index)
	if err := o.leafToShort(l); err != nil {
		return false, err
	}
	o.removed()
	return false, nil
}

// removeNode begins a removal from a tree, or from a leaf beside which are values
// (xfs_attr_node_removename_setup in libxfs).
func removeNode(o *op) (bool, error) {
	l, err := o.leafOf()
	if err != nil {
		return false, err
	}
	if o.old, err = o.oldValue(l, l.entry(o.index)); err != nil {
		return false, err
	}
	o.hide(l)
	o.incomplete = ondisk.AttrIncomplete
	return false, o.removeValue()
}

// removeNodeEntry removes the entry that is incomplete from a tree, which is made lower where it can be
// (xfs_attr_node_remove_attr in libxfs).
func removeNodeEntry(o *op) (bool, error) {
	found, err := o.lookup()
	if err != nil {
		return false, err
	}
	if !found {
		return false, fmt.Errorf("attribute %q is gone", o.name)
	}
	s := &o.state
	last := s.Path.Last()
	s.Touch(last.Buf)
	leaf(last.Buf.Data).remove(last.Index)
	s.FixHashes(&s.Path)
	if s.Path.Depth > 1 {
		if err := s.Join(); err != nil {
			return false, err
		}
	}
	if isLeaf(o.ip) {
		b, err := o.f.tree.ReadLeaf(o.t, o.ip, 0)
		if err != nil {
			return false, err
		}
		if err := o.leafToShort(b.Data); err != nil {
			return false, err
		}
	}
	o.removed()
	return false, nil
}
