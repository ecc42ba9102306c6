package walk

import (
	"encoding/binary"
	"unsafe"

	"mkfs/internal/tree"
)

// record is what is left of one that is being decoded.
type record []byte

func (r *record) number() uint64 {
	p := *r
	if p[0] < 0x80 { // as most are
		*r = p[1:]
		return uint64(p[0])
	}
	v, n := binary.Uvarint(p)
	*r = p[n:]
	return v
}

func (r *record) time() tree.Time {
	sec, n := binary.Varint(*r)
	*r = (*r)[n:]
	return tree.Time{Sec: sec, Nsec: uint32(r.number()), Given: true}
}

func (r *record) bytes() []byte {
	n := r.number()
	p := (*r)[:n:n]
	*r = (*r)[n:]
	return p
}

func (r *record) text() string {
	p := r.bytes()
	return unsafe.String(unsafe.SliceData(p), len(p)) // a memory stays as it is once it is used
}

// recall makes an entry of what a survey has remembered.
func (r *reader) recall(s *slot) {
	e, p := &s.entry, record(s.kept[3:])
	flags := s.kept[2]
	e.Mode = binary.NativeEndian.Uint16(s.kept)
	e.UID, e.GID = uint32(p.number()), uint32(p.number())
	e.Modified = p.time()
	if flags&flagAccessed != 0 {
		e.Accessed = p.time()
	}
	if flags&flagLink != 0 {
		e.Link = tree.Link{Dev: p.number(), Ino: p.number()}
	}
	switch e.Mode & tree.TypeMask {
	case tree.TypeRegular:
		if data := p.bytes(); len(data) > 0 {
			e.Size, s.content.memory, e.Data = int64(len(data)), data, &s.content
		}
	case tree.TypeSymlink:
		e.Target = p.text()
	case tree.TypeCharacter, tree.TypeBlock:
		e.Major, e.Minor = uint32(p.number()), uint32(p.number())
	}
	if flags&flagAttrs == 0 {
		return
	}
	first := len(r.b.attrs)
	for range p.number() {
		r.b.attrs = append(r.b.attrs, tree.Attr{Name: p.text(), Value: p.bytes()})
	}
	e.Attrs = r.b.attrs[first:len(r.b.attrs):len(r.b.attrs)]
}
