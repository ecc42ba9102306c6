package dir

import "mkfs/internal/geometry"

// parentAt is where a shortform has its parent.
const parentAt = 2

// dots are the name of the parent, and of the directory itself.
var dots = []byte("..")

// locateShort finds the name in a shortform (xfs_dir2_sf_lookup).
func (o *op) locateShort() (bool, error) {
	s, err := o.d.short(o.dp)
	if err != nil {
		return false, err
	}
	if isSelf(o.name) {
		o.match = match{at: parentAt, Entry: Entry{Name: dots[:len(o.name)], Ino: s.parent()}}
		if o.name == "." {
			o.match.Ino = o.dp.Ino
		}
		if o.d.ftype {
			o.match.Type = dirType
		}
		return true, nil
	}
	at := s.header()
	for range s.count() {
		e, _ := s.entry(at)
		if o.compare(match{at: at, Entry: s.whole(e)}) {
			return true, nil
		}
		at += e.size
	}
	return false, nil
}

// removeShort takes the entry out of a shortform. If no number needs 8 bytes any more all get 4.
// (xfs_dir2_sf_removename.)
func (o *op) removeShort() error {
	dp := o.dp
	s := short{dp.Data.Local, o.d.ftype}
	e, _ := s.entry(o.match.at)
	ino := s.ino(e.inoAt)
	copy(s.b[e.at:], s.b[e.at+e.size:])
	s.b = dp.Data.Resize(len(s.b) - e.size)
	s.b[0]--
	dp.Core.Size = uint64(len(s.b))
	o.recount(s, ino, 0)
	dp.Log(o.t)
	return nil
}

// recount counts the numbers that need 8 bytes, after one has become another.
func (o *op) recount(s short, was, is geometry.Inode) {
	switch {
	case was > maxShort && is <= maxShort && s.b[1] == 1:
		o.narrow(s)
	case was > maxShort && is <= maxShort:
		s.b[1]--
	case was <= maxShort && is > maxShort:
		s.b[1]++
	}
}

// replaceShort changes the inode of the entry of a shortform, or its parent. A number that needs 8 bytes makes all
// have them, if there is room in the inode. (xfs_dir2_sf_replace.)
func (o *op) replaceShort() (bool, error) {
	d, dp, at := o.d, o.dp, o.match.at
	s := short{dp.Data.Local, d.ftype}
	widen := o.ino > maxShort && !s.wide()
	if widen {
		if len(s.b)+(s.count()+1)*4 > dp.Room(o.t.FS, false) {
			return o.replaceInBlock(s)
		}
		if at != parentAt {
			at += 4 * (1 + s.before(at))
		}
		s = o.widen(s)
	}
	if at == parentAt {
		s.setParent(o.ino)
	} else {
		e, _ := s.entry(at)
		s.setIno(e.inoAt, o.ino)
		if s.ftype {
			s.b[e.inoAt-1] = o.ftype
		}
	}
	if !widen {
		o.recount(s, o.match.Ino, o.ino)
	}
	dp.Log(o.t)
	return true, nil
}

// before is how many entries are before one.
func (s short) before(at int) (n int) {
	for p := s.header(); p < at; n++ {
		e, _ := s.entry(p)
		p += e.size
	}
	return n
}

// replaceInBlock moves a shortform to a block and changes the inode of the entry there.
func (o *op) replaceInBlock(s short) (bool, error) {
	if o.total == 0 {
		return false, nil
	}
	if ok, err := o.shortToBlock(s); !ok || err != nil {
		return ok, err
	}
	if found, err := o.locateBlock(); !found || err != nil {
		return found, err
	}
	return o.replaceEntry()
}
