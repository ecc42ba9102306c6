package attr

import (
	"bytes"
	"fmt"

	"mkfs/internal/bmap"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Space is the namespace of an attribute.
type Space uint8

// The namespaces.
const (
	User   Space = 0
	Root   Space = Space(ondisk.AttrRoot) // "trusted"
	Secure Space = Space(ondisk.AttrSecure)
	Parent Space = Space(ondisk.AttrParent)
)

// How tells Set what to do.
type How int

// What Set may do.
const (
	Upsert  How = iota
	Create      // only if there is no such attribute
	Replace     // only if there is one
)

// Result is how Set or Remove ended.
type Result int

// The results.
const (
	Done Result = iota
	Exists
	Missing
	NoRoom // nothing is changed, but that there may be an attribute fork now
)

// FS is the attributes of a filesystem.
type FS struct {
	fs    *live.FS
	tree  *da.Tree
	block *da.Kind // of values
	space valueSpace
	spill Spill
	idle  []*op
}

// Spill moves what the data fork has from the inode to a block, so that an attribute fork has
// room: the entries of a directory, the target of a symbolic link.
type Spill func(t *live.Trans, ip *inode.Inode) error

// New makes an FS.
func New(fs *live.FS, spill Spill) *FS {
	f := &FS{fs: fs, block: newValueKind(fs), space: mapped{}, spill: spill}
	f.tree = da.New(fs, da.Config{
		Name: "attributes", Fork: bmap.Attr, Bytes: int(fs.G.BlockSize), Leaf: f.checkLeaf, Leaves: leaves{f},
	})
	return f
}

// errNoRoom is what an operation fails with that finds no room although it was reserved: a
// bmap.ErrNoRoom.
var errNoRoom = fmt.Errorf("there is no room: %w", bmap.ErrNoRoom)

func damaged(ip *inode.Inode, err error) error {
	return fmt.Errorf("attributes of inode %d: %w", ip.Ino, err)
}

// checkName checks a name and a value that are to be set.
func checkName(name []byte, value int) error {
	switch {
	case len(name) == 0 || len(name) > MaxName:
		return fmt.Errorf("the name of an attribute has %d bytes, where it may have 1 to %d", len(name), MaxName)
	case bytes.IndexByte(name, 0) >= 0:
		return fmt.Errorf("the name of attribute %q has a zero", name)
	case value > MaxValue:
		return fmt.Errorf("the value of attribute %q has %d bytes, where it may have %d", name, value, MaxValue)
	}
	return nil
}

func (f *FS) op(ip *inode.Inode, space Space, name, value []byte) *op {
	var o *op
	if n := len(f.idle); n > 0 {
		o, f.idle = f.idle[n-1], f.idle[:n-1]
	} else {
		o = &op{f: f}
	}
	o.ip, o.value = ip, value
	o.key = key{space: space, name: name, hash: f.hash(space, name, value)}
	if space == Parent {
		o.key.value = value
	}
	return o
}

// hash is the hash of an attribute.
func (f *FS) hash(space Space, name, value []byte) uint32 {
	if space == Parent {
		return f.parentHash(name, value)
	}
	return da.Hash(name)
}

// Set sets an attribute of any namespace but Parent, in transactions of its own. The inode is stamped as changed.
// (xfs_attr_set in libxfs.)
func (f *FS) Set(ip *inode.Inode, space Space, name, value []byte, how How) (Result, error) {
	if err := checkName(name, len(value)); err != nil {
		return Done, damaged(ip, err)
	}
	total, local := f.reserve(len(name), len(value))
	if ip.ForkOffset == 0 {
		if r, err := f.addFork(ip, itemSize(len(name), int(uint8(len(value))))); r != Done || err != nil {
			return r, err
		}
	}
	if f.fs.Counts.FreeBlocks < total {
		return NoRoom, nil
	}
	t := f.fs.Begin(total)
	t.Join(ip)
	o := f.op(ip, space, name, value)
	o.t, o.total = t, total
	found, err := o.isThere()
	switch {
	case err != nil:
	case found && how == Create:
		return Exists, o.giveUp()
	case !found && how == Replace:
		return Missing, o.giveUp()
	default:
		err = o.set(found, local)
	}
	return Done, o.finish(err)
}

// Remove removes an attribute of any namespace but Parent.
func (f *FS) Remove(ip *inode.Inode, space Space, name []byte) (Result, error) {
	total := f.removeReserve()
	if f.fs.Counts.FreeBlocks < total {
		return NoRoom, nil
	}
	t := f.fs.Begin(total)
	t.Join(ip)
	o := f.op(ip, space, name, nil)
	o.t = t
	found, err := o.isThere()
	if err == nil && !found {
		return Missing, o.giveUp()
	}
	if err == nil {
		err = o.remove()
	}
	return Done, o.finish(err)
}

// giveUp ends a transaction that has changed nothing.
func (o *op) giveUp() error {
	t := o.t
	o.release()
	return t.Commit()
}

// finish ends the transaction of an operation, with what was put off.
func (o *op) finish(err error) error {
	t, ip := o.t, o.ip
	if err != nil {
		return damaged(ip, err)
	}
	ip.Stamp(t.FS, inode.Changed)
	ip.Log(t)
	if o.next == nil {
		o.release()
	}
	return t.Commit()
}

// isThere tells whether the attribute is there (xfs_attr_lookup in libxfs).
func (o *op) isThere() (bool, error) {
	if !hasAny(o.ip) {
		return false, nil
	}
	if o.ip.Attr.Format == ondisk.FormatLocal {
		s, err := list(o.ip)
		if err != nil {
			return false, err
		}
		_, found := s.find(&o.key)
		return found, nil
	}
	return o.lookup()
}

// set enters the attribute, or puts that off (xfs_attr_setname and xfs_attr_replacename in libxfs).
func (o *op) set(replace, local bool) error {
	o.replace = replace
	if !local || o.ip.ForkOffset == 0 || !isShort(o.ip) {
		o.next = o.addNext()
		o.putOff(o.t)
		return nil
	}
	done, err := false, error(nil)
	if replace {
		done, err = o.overwrite()
	}
	if !done && err == nil {
		done, err = o.tryShort()
	}
	if done || err != nil {
		return err
	}
	o.next = o.addNext()
	o.putOff(o.t)
	return nil
}

// overwrite replaces an attribute in the list where that stays as long, and otherwise removes it
// (xfs_attr_shortform_replace in libxfs).
func (o *op) overwrite() (bool, error) {
	s, err := list(o.ip)
	if err != nil {
		return false, err
	}
	at, found := s.find(&o.key)
	if !found {
		return false, fmt.Errorf("attribute %q is gone", o.name)
	}
	name, value := o.name, o.value
	if o.renamed {
		name, value = o.newName, o.newValue
	}
	i := s.at(at)
	if len(i.name()) == len(name) && len(i.value()) == len(value) {
		i.put(o.space, name, value)
		o.ip.Log(o.t)
		return true, nil
	}
	o.cut(s, at)
	if o.renamed {
		o.rename()
	}
	o.replace = false
	return false, nil
}

// remove removes the attribute, or puts that off (xfs_attr_removename in libxfs).
func (o *op) remove() error {
	if o.ip.ForkOffset != 0 && isShort(o.ip) {
		_, err := removeShort(o)
		return err
	}
	o.next = o.removeNext()
	o.putOff(o.t)
	return nil
}

// addFork makes an attribute fork with room for a list of one attribute of so many bytes (xfs_attr_add_fork in libxfs).
func (f *FS) addFork(ip *inode.Inode, size int) (Result, error) {
	need := f.forkReserve()
	if f.fs.Counts.FreeBlocks < need {
		return NoRoom, nil
	}
	t := f.fs.Begin(need)
	t.Join(ip)
	if err := bmap.AddAttrFork(t, ip, listHeader+size, func() error { return f.spill(t, ip) }); err != nil {
		return Done, damaged(ip, err)
	}
	f.fs.Attrs = true
	return Done, t.Commit()
}

// valueSpace is where the blocks of values come from.
type valueSpace interface {
	// Map gives the fork n blocks from at on, or fewer from there; 0 if there is no room.
	Map(t *live.Trans, ip *inode.Inode, at uint64, n, total geometry.Blocks) (geometry.Blocks, error)
	// Unmap takes an extent of n blocks from at on out of the fork; done tells whether none is left.
	Unmap(t *live.Trans, ip *inode.Inode, at uint64, n geometry.Blocks) (done bool, err error)
}

// mapped is the space of a filesystem.
type mapped struct{}

func (mapped) Map(t *live.Trans, ip *inode.Inode, at uint64, n, total geometry.Blocks) (
	got geometry.Blocks, err error) {
	list, err := bmap.Write(t, ip, bmap.Attr, at, n, 0, total)
	for _, e := range list {
		got += e.Blocks
	}
	return got, err
}

func (mapped) Unmap(t *live.Trans, ip *inode.Inode, at uint64, n geometry.Blocks) (bool, error) {
	return bmap.Unmap(t, ip, bmap.Attr, at, n, 0, 1)
}
