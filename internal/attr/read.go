package attr

import (
	"cmp"
	"slices"

	"mkfs/internal/da"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Get appends the value of an attribute of any namespace but Parent to a buffer; found is false if there is no
// such attribute. (xfs_attr_get in libxfs.)
func (f *FS) Get(t *live.Trans, ip *inode.Inode, space Space, name, buf []byte) (value []byte, found bool, err error) {
	if !hasAny(ip) {
		return buf, false, nil
	}
	o := f.op(ip, space, name, nil)
	o.t = t
	defer o.release()
	if ip.Attr.Format == ondisk.FormatLocal {
		s, err := list(ip)
		if err != nil {
			return nil, false, err
		}
		at, found := s.find(&o.key)
		if found {
			buf = append(buf, s.at(at).value()...)
		}
		return buf, found, nil
	}
	found, err = o.lookup()
	if err != nil || !found {
		return buf, false, err
	}
	last := o.state.Path.Last()
	l := leaf(last.Buf.Data)
	buf, err = o.appendValue(l, l.entry(last.Index), buf)
	return buf, err == nil, err
}

func (o *op) appendValue(l leaf, e entry, buf []byte) ([]byte, error) {
	if e.local() {
		return append(buf, l.value(e)...), nil
	}
	return o.readValue(l.remote(e), buf)
}

// Attr is an attribute.
type Attr struct {
	Space       Space
	Hash        uint32
	Name, Value []byte
}

// Link is the link that a parent pointer is of.
func (a *Attr) Link() (l Link, ok bool) {
	if a.Space != Parent || len(a.Value) != ondisk.ParentRecSize {
		return l, false
	}
	return linkOf(a.Name, a.Value), true
}

// Each calls a function for each attribute, in order of hash. What it is given is good until it returns, and it
// must not change the attributes.
func (f *FS) Each(t *live.Trans, ip *inode.Inode, do func(a *Attr) error) error {
	switch {
	case !hasAny(ip):
		return nil
	case ip.Attr.Format == ondisk.FormatLocal:
		return f.eachInList(ip, do)
	}
	return f.eachInLeaves(t, ip, do)
}

func (f *FS) eachInList(ip *inode.Inode, do func(a *Attr) error) error {
	s, err := list(ip)
	if err != nil {
		return err
	}
	all := make([]Attr, 0, s.count())
	for rest := s[listHeader:]; len(rest) > 0; {
		i := rest.at(0)
		rest = rest[len(i):]
		all = append(all, Attr{i.space(), f.hash(i.space(), i.name(), i.value()), i.name(), i.value()})
	}
	slices.SortStableFunc(all, func(a, b Attr) int { return cmp.Compare(a.Hash, b.Hash) })
	for i := range all {
		if err := do(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *FS) eachInLeaves(t *live.Trans, ip *inode.Inode, do func(a *Attr) error) error {
	o := f.op(ip, User, nil, nil) // whose hash is 0, the least
	o.t = t
	defer o.release()
	if _, err := o.lookup(); err != nil {
		return err
	}
	at, last := o.at, uint32(0)
	var buf []byte
	for n := mappedBlocks(ip); ; n-- {
		b, err := f.tree.ReadLeaf(t, ip, at)
		if err != nil {
			return err
		}
		if n == 0 {
			return f.tree.Damaged(ip, at, "there are more leaves than blocks")
		}
		l := leaf(b.Data)
		for i := range l.count() {
			e := l.entry(i)
			if e.hash() < last {
				return f.tree.Damaged(ip, at, "it begins with a hash less than that before")
			}
			last = e.hash()
			if e.incomplete() {
				continue
			}
			if buf, err = o.appendValue(l, e, buf[:0]); err != nil {
				return err
			}
			if err := do(&Attr{e.space(), e.hash(), l.name(e), buf}); err != nil {
				return err
			}
		}
		if at = da.Block(ondisk.DABlock{B: l, V5: f.fs.V5}.Forward()); at == 0 {
			return nil
		}
	}
}

// mappedBlocks is how many blocks the fork has.
func mappedBlocks(ip *inode.Inode) (n uint64) {
	for _, e := range ip.Attr.Extents {
		n += uint64(e.Blocks)
	}
	return n
}
