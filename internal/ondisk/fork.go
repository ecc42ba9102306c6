package ondisk

import "math"

// EmptyDirSize is the length of a shortform directory without entries whose
// parent's number fits 32 bits.
const EmptyDirSize = 2 + 4

// PutEmptyDir writes a shortform directory without entries: counts of entries
// and of those with 64-bit inode numbers, then the parent. It returns its length.
func PutEmptyDir(b []byte, parent uint64) int {
	c := cursor{b: b}
	c.u8(0)
	if parent > math.MaxUint32 {
		c.u8(1)
		c.u64(parent)
	} else {
		c.u8(0)
		c.u32(uint32(parent))
	}
	return c.at
}

// DecodeEmptyDir reads a shortform directory that has no entries.
func DecodeEmptyDir(b []byte) (parent uint64, ok bool) {
	if len(b) < EmptyDirSize || b[0] != 0 {
		return 0, false
	}
	c := cursor{b: b, at: 2}
	if b[1] != 0 {
		if len(b) < 2+8 {
			return 0, false
		}
		return c.get64(), true
	}
	return uint64(c.get32()), true
}

// AttrFlags is the namespace of an extended attribute.
type AttrFlags uint8

// The namespaces: "trusted", and that of parent pointers.
const (
	AttrRoot   AttrFlags = 0x02
	AttrParent AttrFlags = 0x08
)

// AutofsckName is the name, in the trusted namespace, of the root directory's
// attribute that tells a background checker how far it may go.
const AutofsckName = "xfs:autofsck"

// Attr is an extended attribute within an inode.
type Attr struct {
	Flags AttrFlags
	Name  string // up to 255 bytes
	Value string // up to 255 bytes
}

const attrListHeader, attrEntryHeader = 4, 3

// AttrsSize is the length of a shortform attribute fork.
func AttrsSize(attrs []Attr) int {
	n := attrListHeader
	for _, a := range attrs {
		n += attrEntryHeader + len(a.Name) + len(a.Value)
	}
	return n
}

// PutAttrs writes a shortform attribute fork.
func PutAttrs(b []byte, attrs []Attr) {
	c := cursor{b: b}
	c.u16(uint16(AttrsSize(attrs)))
	c.u8(uint8(len(attrs)))
	c.u8(0)
	for _, a := range attrs {
		c.u8(uint8(len(a.Name)))
		c.u8(uint8(len(a.Value)))
		c.u8(uint8(a.Flags))
		c.bytes([]byte(a.Name))
		c.bytes([]byte(a.Value))
	}
}

// DecodeAttrs reads a shortform attribute fork.
func DecodeAttrs(b []byte) (attrs []Attr, ok bool) {
	if len(b) < attrListHeader {
		return nil, false
	}
	c := cursor{b: b}
	total, count := int(c.get16()), int(c.get8())
	c.next(1)
	if total > len(b) {
		return nil, false
	}
	for range count {
		if total-c.at < attrEntryHeader {
			return nil, false
		}
		name, value, flags := int(c.get8()), int(c.get8()), AttrFlags(c.get8())
		if total-c.at < name+value {
			return nil, false
		}
		attrs = append(attrs, Attr{flags, string(c.next(name)), string(c.next(value))})
	}
	return attrs, c.at == total
}
