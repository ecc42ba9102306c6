package attr

import (
	"errors"
	"fmt"
	"math/bits"

	"mkfs/internal/ondisk"
)

// shortform is a list of attributes in an inode: how many bytes it has, how many attributes, and these,
// each with the lengths of name and value, its namespace, name and value.
type shortform []byte

// Sizes in a list.
const (
	listHeader  = 4
	itemHeader  = 3
	maxListPart = 254 // of a name or value in a list (XFS_ATTR_SF_ENTSIZE_MAX - 1)
)

// itemSize is how many bytes an attribute takes in a list.
func itemSize(name, value int) int { return itemHeader + name + value }

func (s shortform) total() int { return int(be.Uint16(s)) }
func (s shortform) count() int { return int(s[2]) }

func (s shortform) set(total, count int) {
	be.PutUint16(s, uint16(total))
	s[2] = byte(count)
}

// at is the attribute that begins at a byte.
func (s shortform) at(i int) listItem {
	b := s[i:]
	return listItem(b[:itemSize(int(b[0]), int(b[1]))])
}

type listItem []byte

func (i listItem) space() Space  { return Space(i[2]) }
func (i listItem) name() []byte  { return i[itemHeader:][:i[0]] }
func (i listItem) value() []byte { return i[itemHeader+int(i[0]):] }

func (i listItem) matches(k *key) bool {
	return i.space() == k.space && string(i.name()) == string(k.name) &&
		(k.space != Parent || string(i.value()) == string(k.value))
}

// find is where an attribute begins.
func (s shortform) find(k *key) (at int, found bool) {
	for at = listHeader; at < len(s); {
		i := s.at(at)
		if i.matches(k) {
			return at, true
		}
		at += len(i)
	}
	return at, false
}

// put writes a list item.
func (i listItem) put(space Space, name, value []byte) {
	i[0], i[1], i[2] = byte(len(name)), byte(len(value)), byte(space)
	copy(i[itemHeader:], name)
	copy(i[itemHeader+len(name):], value)
}

// cut removes the attribute that begins at a byte, and returns the shorter list.
func (s shortform) cut(at int) shortform {
	n := len(s.at(at))
	copy(s[at:], s[at+n:])
	s = s[:len(s)-n]
	s.set(len(s), s.count()-1)
	return s
}

// check checks a list as xfs_attr_shortform_verify in libxfs does.
func (s shortform) check() error {
	if len(s) < listHeader || s.total() != len(s) {
		return fmt.Errorf("a list of attributes that has %d bytes", len(s))
	}
	at := listHeader
	for n := range s.count() {
		rest := s[at:]
		if len(rest) <= itemHeader || len(rest) < itemSize(int(rest[0]), int(rest[1])) {
			return fmt.Errorf("attribute %d ends behind the list", n)
		}
		i := s.at(at)
		if i[0] == 0 {
			return fmt.Errorf("attribute %d has no name", n)
		}
		if f := i[2]; f&^uint8(ondisk.AttrNamespace) != 0 || bits.OnesCount8(f) > 1 {
			return fmt.Errorf("attribute %d has flags %#x", n, f)
		}
		at += len(i)
	}
	if at != len(s) {
		return errors.New("something is behind the last attribute")
	}
	return nil
}
