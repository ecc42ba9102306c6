package dir

import (
	"encoding/binary"
	"math"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
)

var be = binary.BigEndian

// maxShort is the greatest inode number that takes 4 bytes in a shortform.
const maxShort = math.MaxUint32

// short is a directory in an inode:
//
//	count, how many need 8 bytes, parent; of each entry: length, place, name, type, inode
//
// Numbers of inodes have 4 bytes unless one of them, the parent's included, needs 8.
type short struct {
	b     []byte
	ftype bool
}

func (s short) count() int { return int(s.b[0]) }
func (s short) wide() bool { return s.b[1] != 0 }

// number is the length of an inode number.
func (s short) number() int {
	if s.wide() {
		return 8
	}
	return 4
}

func (s short) header() int { return 2 + s.number() }

func (s short) ino(at int) geometry.Inode {
	if s.wide() {
		return geometry.Inode(be.Uint64(s.b[at:]) & (1<<56 - 1))
	}
	return geometry.Inode(be.Uint32(s.b[at:]))
}

func (s short) setIno(at int, ino geometry.Inode) {
	if s.wide() {
		be.PutUint64(s.b[at:], uint64(ino))
	} else {
		be.PutUint32(s.b[at:], uint32(ino))
	}
}

func (s short) parent() geometry.Inode       { return s.ino(2) }
func (s short) setParent(ino geometry.Inode) { s.setIno(2, ino) }

// size is the length of an entry whose name has so many bytes.
func (s short) size(name int) int {
	n := 1 + 2 + name + s.number()
	if s.ftype {
		n++
	}
	return n
}

// shortEntry is an entry in its bytes.
type shortEntry struct {
	at    int // in the fork
	size  int
	place int // where it would be in a block
	name  []byte
	ftype uint8
	inoAt int
}

// entry is the entry at a place of the fork; ok is false if it is not all there.
func (s short) entry(at int) (e shortEntry, ok bool) {
	if at+3 > len(s.b) {
		return e, false
	}
	n := int(s.b[at])
	e = shortEntry{at: at, size: s.size(n), place: int(be.Uint16(s.b[at+1:]))}
	if n == 0 || at+e.size > len(s.b) {
		return e, false
	}
	e.name = s.b[at+3 : at+3+n]
	e.inoAt = at + 3 + n
	if s.ftype {
		e.ftype = s.b[e.inoAt]
		e.inoAt++
	}
	return e, true
}

// put writes an entry, and tells where the next one would be.
func (s short) put(at, place int, e Entry) int {
	s.b[at] = uint8(len(e.Name))
	be.PutUint16(s.b[at+1:], uint16(place))
	at += 3 + copy(s.b[at+3:], e.Name)
	if s.ftype {
		s.b[at] = e.Type
		at++
	}
	s.setIno(at, e.Ino)
	return at + s.number()
}

// short is a directory that is checked (xfs_dir2_sf_verify).
func (d *Dirs) short(dp *inode.Inode) (short, error) {
	s := short{dp.Data.Local, d.ftype}
	if len(s.b) < 6 || len(s.b) < s.header() || uint64(len(s.b)) != dp.Core.Size {
		return s, d.damaged(dp, "a shortform of %d bytes, of which it says %d", len(s.b), dp.Core.Size)
	}
	at, place, wide := s.header(), d.first, 0
	if s.parent() > maxShort {
		wide++
	}
	for i := range s.count() {
		e, ok := s.entry(at)
		if !ok || e.place < place || s.ino(e.inoAt) == 0 {
			return s, d.damaged(dp, "entry %d of the shortform is damaged", i)
		}
		if s.ino(e.inoAt) > maxShort {
			wide++
		}
		at, place = at+e.size, e.place+d.entrySize(len(e.name))
	}
	if at != len(s.b) || wide != int(s.b[1]) || place+(s.count()+2)*hashSize+blockTail > d.bytes {
		return s, d.damaged(dp, "the shortform has %d bytes of entries, of %d, and %d large numbers, of %d", at, len(s.b),
			wide, s.b[1])
	}
	return s, nil
}

// addShort enters a name into a shortform, unless that gets too long (xfs_dir2_sf_addname).
func (o *op) addShort() (ok bool, err error) {
	d, dp := o.d, o.dp
	s, err := d.short(dp)
	if err != nil {
		return false, err
	}
	if s.has(o.name) {
		return false, o.exists()
	}
	more := s.size(len(o.name))
	widen := o.ino > maxShort && !s.wide()
	if widen {
		more += (s.count() + 2) * 4
	}
	at, place, fits := s.pick(o, widen)
	if len(s.b)+more > dp.Room(o.t.FS, false) || !fits {
		if o.total == 0 {
			return false, nil
		}
		if ok, err := o.shortToBlock(s); !ok || err != nil {
			return ok, err
		}
		return o.addBlock()
	}
	if widen {
		s = o.widen(s)
		at, place, _ = s.pick(o, true)
	}
	size := s.size(len(o.name))
	s.b = dp.Data.Resize(len(s.b) + size)
	copy(s.b[at+size:], s.b[at:len(s.b)-size])
	s.put(at, place, Entry{Name: append(d.spare[:0], o.name...), Ino: o.ino, Type: o.ftype})
	s.b[0]++
	if o.ino > maxShort && !widen {
		s.b[1]++
	}
	dp.Core.Size = uint64(len(s.b))
	dp.Log(o.t)
	return true, nil
}

// has tells whether a name is there.
func (s short) has(name string) bool {
	at := s.header()
	for range s.count() {
		e, _ := s.entry(at)
		if string(e.name) == name {
			return true
		}
		at += e.size
	}
	return false
}

// pick finds where in the fork a new entry is to be, and the place that it would have in a
// block: at the end, unless there is no room behind the last, or numbers are widened. Then it
// is the first hole that is large enough. (xfs_dir2_sf_addname_pick.)
func (s short) pick(o *op, widen bool) (at, place int, fits bool) {
	d := o.d
	at, place = s.header(), d.first
	holeAt, hole := -1, 0
	for range s.count() {
		e, _ := s.entry(at)
		if holeAt < 0 && place+o.size <= e.place {
			holeAt, hole = at, place
		}
		place = e.place + d.entrySize(len(e.name))
		at += e.size
	}
	used := place + (s.count()+3)*hashSize + blockTail
	switch {
	case used+o.size <= d.bytes && !widen:
		return at, place, true
	case holeAt >= 0 && used <= d.bytes:
		return holeAt, hole, true
	}
	return at, place, used+o.size <= d.bytes
}

// widen gives all inode numbers 8 bytes (xfs_dir2_sf_toino8). One of them is counted as one that needs them.
func (o *op) widen(s short) short { return o.rewrite(s, 1, len(s.b)+(s.count()+1)*4) }

// narrow gives all inode numbers 4 bytes (xfs_dir2_sf_toino4).
func (o *op) narrow(s short) short { return o.rewrite(s, 0, len(s.b)-(s.count()+1)*4) }

// rewrite writes all entries anew, with another number of those that need 8 bytes.
func (o *op) rewrite(s short, wide uint8, size int) short {
	d, dp := o.d, o.dp
	old := short{append(d.spare[:0], s.b...), s.ftype}
	d.spare = old.b
	w := short{dp.Data.Resize(size), s.ftype}
	w.b[0], w.b[1] = old.b[0], wide
	w.setParent(old.parent())
	at, to := old.header(), w.header()
	for range old.count() {
		e, _ := old.entry(at)
		to = w.put(to, e.place, old.whole(e))
		at += e.size
	}
	dp.Core.Size = uint64(size)
	dp.Log(o.t)
	return w
}

// whole is an entry as others have it.
func (s short) whole(e shortEntry) Entry {
	return Entry{Name: e.name, Ino: s.ino(e.inoAt), Type: e.ftype}
}
