package dir

import (
	"io/fs"

	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Entry is an entry of a directory.
type Entry struct {
	Name []byte
	Ino  geometry.Inode
	Type uint8 // 0 where entries have none
}

// match is where an entry has been found.
type match struct {
	Entry
	buf  *buffer.Buf // its block; nil in an inode
	db   int         // the number of the block
	at   int         // the place in it, or in the fork of an inode
	slot int         // in the index
}

// Lookup looks for a name (xfs_dir_lookup). Where names that differ in case are equal, one that is
// the same to the letter comes first. The name in the Entry is valid until the directory is changed
// or the transaction ends.
func (d *Dirs) Lookup(t *live.Trans, dp *inode.Inode, name string) (e Entry, found bool, err error) {
	_, found, err = d.locate(t, dp, name, false, 0)
	return d.o.match.Entry, found, err
}

// Replace makes the entry of a name stand for another inode, or ".." for another parent
// (xfs_dir_replace). total is how many blocks may be taken. ok is false if there is no room. A name
// that is not there is an error that wraps fs.ErrNotExist.
func (d *Dirs) Replace(t *live.Trans, dp *inode.Inode, name string, ino geometry.Inode, ftype uint8,
	total geometry.Blocks) (ok bool, err error) {
	f, err := d.must(t, dp, name, total)
	if err != nil {
		return false, err
	}
	d.o.ino, d.o.ftype = ino, ftype
	return forms[f].replace(&d.o)
}

// Remove takes a name out of a directory, which becomes as small as it can (xfs_dir_removename).
// total is how many blocks may be taken: to take one out of the midst of an extent may need some. If
// there are none the directory keeps an empty block, until it is used or something else can be
// given back. A name that is not there is an error that wraps fs.ErrNotExist.
func (d *Dirs) Remove(t *live.Trans, dp *inode.Inode, name string, total geometry.Blocks) error {
	if name == ".." {
		return d.damaged(dp, "%q is not to be removed", name)
	}
	f, err := d.must(t, dp, name, total)
	if err != nil {
		return err
	}
	return forms[f].remove(&d.o)
}

// locate begins an operation on a name that may be there.
func (d *Dirs) locate(t *live.Trans, dp *inode.Inode, name string, exact bool, total geometry.Blocks) (
	f Form, found bool, err error) {
	o := d.begin(t, dp, name)
	o.find, o.exact, o.total = true, exact, total
	if len(name) == 0 || len(name) > MaxName {
		return 0, false, nil
	}
	if f, err = d.form(dp); err != nil {
		return 0, false, err
	}
	found, err = forms[f].locate(o)
	return f, found || o.match.Ino != 0 && err == nil, err
}

// must begins an operation on a name that is to be there, and none that every directory has for itself.
func (d *Dirs) must(t *live.Trans, dp *inode.Inode, name string, total geometry.Blocks) (Form, error) {
	if name == "." {
		return 0, d.damaged(dp, "%q is not to be changed", name)
	}
	f, found, err := d.locate(t, dp, name, true, total)
	if !found && err == nil {
		err = d.damaged(dp, "%q: %w", name, fs.ErrNotExist)
	}
	return f, err
}

// compare tells whether the entry that m is of has the name. One that differs in case is noted if it is
// the first.
func (o *op) compare(m match) bool {
	if string(m.Name) == o.name {
		o.match = m
		return true
	}
	if !o.exact && o.match.Ino == 0 && o.d.g.Features.CaseFold && folded(m.Name, o.name) {
		o.match = m
	}
	return false
}

// folded tells whether names are equal but for case.
func folded(a []byte, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if da.Fold(a[i]) != da.Fold(b[i]) {
			return false
		}
	}
	return true
}

// locateIn looks for the name among n slots of an index. at returns the block of an address.
func (o *op) locateIn(list ondisk.Hashes, n int, at func(o *op, db int) (*buffer.Buf, block, error)) (bool, error) {
	d := o.d
	var b *buffer.Buf
	var k block
	last := -1
	for i := list.Search(n, o.hash); i < n && list.Hash(i) == o.hash; i++ {
		address := list.Value(i)
		if address == 0 {
			continue
		}
		m := match{db: d.blockOf(address), slot: i}
		m.at = int(int64(address)*addressUnit - int64(m.db)<<d.g.DirBlockLog)
		if m.db != last {
			var err error
			if b, k, err = at(o, m.db); err != nil {
				return false, err
			}
			last = m.db
		}
		if !k.isEntry(m.at) {
			return false, d.damaged(o.dp, "the index names byte %d of block %d, where no entry is", m.at, m.db)
		}
		m.buf, m.Entry = b, k.entryAt(m.at)
		if o.compare(m) {
			return true, nil
		}
	}
	return false, nil
}

// isNew makes sure that a name is not there, among the n slots of an index, of which first is the first whose hash is not
// below its own. Blocks are looked at only for names of its hash.
func (o *op) isNew(list ondisk.Hashes, first, n int, at func(o *op, db int) (*buffer.Buf, block, error)) error {
	if first == n || list.Hash(first) != o.hash {
		return nil
	}
	found, err := o.locateIn(list, n, at)
	if found {
		err = o.exists()
	}
	return err
}

// exists is the error of a name that is there already.
func (o *op) exists() error { return o.d.damaged(o.dp, "%q: %w", o.name, fs.ErrExist) }

// locateBlock finds the name in a directory of one block (xfs_dir2_block_lookup_int).
func (o *op) locateBlock() (bool, error) {
	_, k, err := o.getBlock()
	if err != nil {
		return false, err
	}
	return o.locateIn(k.index(), k.indexed(), (*op).only)
}

// only is get in a directory of one block.
func (o *op) only(db int) (*buffer.Buf, block, error) {
	if db != 0 {
		return nil, block{}, o.d.damaged(o.dp, "the index names block %d of one", db)
	}
	return o.getBlock()
}

// locateLeaf finds the name in a directory whose index is one block (xfs_dir2_leaf_lookup_int).
func (o *op) locateLeaf() (bool, error) {
	_, l, err := o.leafBlock()
	if err != nil {
		return false, err
	}
	return o.locateIn(l.v.Entries(), l.v.Count(), (*op).get)
}

// locateNode finds the name in a directory whose index is a btree (xfs_dir2_leafn_lookup_for_entry).
func (o *op) locateNode() (bool, error) {
	s := &o.d.s
	s.Begin(o.d.tree, o.t, o.dp, o, o.hash, o.total)
	return s.Lookup()
}

// replaceEntry changes the inode of the entry in its block (xfs_dir2_block_replace and its like).
func (o *op) replaceEntry() (bool, error) {
	k := o.d.blockIn(o.match.buf)
	if err := o.checkMatch(k); err != nil {
		return false, err
	}
	k.setIno(o.match.at, uint64(o.ino), o.ftype)
	o.t.Dirty(o.match.buf)
	return true, nil
}

// checkMatch makes sure that the entry begins where the index has it, since in a damaged block that
// may be within another.
func (o *op) checkMatch(k block) error {
	if !k.begins(o.match.at) {
		return o.d.damaged(o.dp, "the index names byte %d of block %d, within an entry", o.match.at, o.match.db)
	}
	return nil
}

// Empty tells whether a directory has no entries but itself and its parent; one that keeps a block for
// want of room to give it back counts as one that has (xfs_dir_isempty).
func (d *Dirs) Empty(dp *inode.Inode) (bool, error) {
	f, err := d.form(dp)
	if err != nil || f != Shortform {
		return false, err
	}
	s, err := d.short(dp)
	return err == nil && s.count() == 0, err
}
