package dir

import (
	"bytes"
	"iter"

	"mkfs/internal/buffer"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Cookie is the place of an entry among all of a directory, in units of 8 bytes: where it is in its block, or
// would be if the directory had one. It stays the same for as long as the entry is there, whatever
// becomes of others. (xfs_dir2_dataptr_t.)
type Cookie uint32

// Listed is an entry with its place.
type Listed struct {
	Entry
	Cookie Cookie
}

// Entries goes over all entries in order of place, "." and ".." first, from a cookie on (xfs_readdir). Blocks are
// read ahead, and only one is held at a time, so the name is good until the next entry is asked for. The
// directory must not be changed meanwhile; to change it, stop and go on from the last cookie + 1. An error
// comes last, without an entry.
func (d *Dirs) Entries(t *live.Trans, dp *inode.Inode, from Cookie) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		f, err := d.form(dp)
		if err == nil {
			w := walk{d: d, t: t, dp: dp, from: from, yield: yield}
			if f == Shortform {
				err = w.shortform()
			} else {
				err = w.blocks(f)
			}
		}
		if err != nil {
			yield(Listed{}, err)
		}
	}
}

// walk goes over a directory.
type walk struct {
	d       *Dirs
	t       *live.Trans
	dp      *inode.Inode
	from    Cookie
	yield   func(Listed, error) bool
	stopped bool
	next    int // the block of entries that is to be read ahead next
}

// give gives an entry, unless it is before the place where the walk begins.
func (w *walk) give(at Cookie, e Entry) error {
	switch {
	case at < w.from:
	case bytes.IndexByte(e.Name, '/') >= 0 || bytes.IndexByte(e.Name, 0) >= 0: // see isName
		return w.d.damaged(w.dp, "%q is no name", e.Name)
	case !w.yield(Listed{e, at}, nil):
		w.stopped = true
	}
	return nil
}

// shortform goes over a directory in its inode, which has no entries for itself and its parent
// (xfs_dir2_sf_getdents).
func (w *walk) shortform() error {
	d := w.d
	s, err := d.short(w.dp)
	if err != nil {
		return err
	}
	self, parent := Entry{Name: dots[:1], Ino: w.dp.Ino}, Entry{Name: dots, Ino: s.parent()}
	if d.ftype {
		self.Type, parent.Type = dirType, dirType
	}
	if err := w.give(d.cookie(0, d.header), self); err != nil || w.stopped {
		return err
	}
	if err := w.give(d.cookie(0, d.header+d.entrySize(1)), parent); err != nil || w.stopped {
		return err
	}
	at := s.header()
	for range s.count() {
		e, _ := s.entry(at)
		if err := w.give(d.cookie(0, e.place), s.whole(e)); err != nil || w.stopped {
			return err
		}
		at += e.size
	}
	return nil
}

// cookie is that of a place in a block of entries.
func (d *Dirs) cookie(db, at int) Cookie { return Cookie(d.addressOf(db, at)) }

// blocks goes over the blocks of entries that there are (xfs_dir2_block_getdents and xfs_dir2_leaf_getdents).
func (w *walk) blocks(f Form) error {
	d := w.d
	kind := d.data
	if f == Block {
		kind = d.block
	}
	for db := d.blockOf(uint32(w.from)); !w.stopped; db++ {
		var ok bool
		if db, ok = d.mapped(w.dp, db); !ok {
			return nil
		}
		if err := w.ahead(db); err != nil {
			return err
		}
		b, err := d.tree.Get(w.t, w.dp, d.place(db), kind)
		if err != nil {
			return err
		}
		err = w.block(db, b)
		w.t.Release(b)
		if err != nil {
			return err
		}
	}
	return nil
}

// block goes over a block of entries.
func (w *walk) block(db int, b *buffer.Buf) error {
	k := w.d.blockIn(b)
	for at, end := k.header, k.end(); at < end && !w.stopped; {
		n, free, err := k.checkAt(at, end)
		if err != nil {
			return w.d.damaged(w.dp, "block %d: %w", db, err)
		}
		if !free {
			if err := w.give(w.d.cookie(db, at), k.entryAt(at)); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// mapped is the first block of entries from one on that a directory has.
func (d *Dirs) mapped(dp *inode.Inode, db int) (int, bool) {
	list := dp.Data.Extents
	i := dp.Data.Search(uint64(d.place(db)))
	if i == len(list) || list[i].Offset >= uint64(d.leaf) {
		return 0, false
	}
	return max(db, int(list[i].Offset/uint64(d.tree.Blocks))), true
}

// aheadBytes is how far blocks are read ahead.
const aheadBytes = 1 << 20

// ahead begins to read the blocks behind one, as far as there is room.
func (w *walk) ahead(db int) error {
	d := w.d
	w.next = max(w.next, db+1)
	for w.next <= db+aheadBytes/d.bytes {
		next, found := d.mapped(w.dp, w.next)
		if !found {
			return nil
		}
		w.next = next
		if ok, err := d.tree.Ahead(w.t, w.dp, d.place(next)); !ok || err != nil {
			return err
		}
		w.next++
	}
	return nil
}
