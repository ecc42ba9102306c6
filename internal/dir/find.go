package dir

import (
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Find is Lookup that tells the place of the entry as well, as Entries does.
func (d *Dirs) Find(t *live.Trans, dp *inode.Inode, name string) (l Listed, found bool, err error) {
	f, found, err := d.locate(t, dp, name, false, 0)
	m := &d.o.match
	l.Entry = m.Entry
	switch {
	case err != nil || !found:
	case f != Shortform:
		l.Cookie = d.cookie(m.db, m.at)
	case name == ".":
		l.Cookie = d.cookie(0, d.header)
	case name == "..":
		l.Cookie = d.cookie(0, d.header+d.entrySize(1))
	default:
		e, _ := short{dp.Data.Local, d.ftype}.entry(m.at)
		l.Cookie = d.cookie(0, e.place)
	}
	return l, found, err
}
