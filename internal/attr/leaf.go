package attr

import (
	"encoding/binary"

	"mkfs/internal/ondisk"
)

var be = binary.BigEndian

// leaf is a leaf of attributes in its bytes: a header, entries in order of hash, and,
// from the end of the block down, what entries point to: names with their values, or with
// where these are.
type leaf []byte

// header is the header of a leaf while it is worked on.
type header = ondisk.AttrLeaf

func (l leaf) header() header { return ondisk.DecodeAttrLeaf(l) }
func (l leaf) put(h *header)  { h.Put(l) }
func (l leaf) count() int     { return ondisk.DecodeAttrLeaf(l).Count }

// end is the end of a table of n entries.
func (l leaf) end(n int) int { return ondisk.AttrLeafHeaderSize(l) + n*ondisk.AttrEntrySize }

// entry is an entry of the table: hash, place of the name, flags, a byte of nothing.
func (l leaf) entry(i int) entry {
	at := l.end(i)
	return entry(l[at : at+ondisk.AttrEntrySize])
}

type entry []byte

func (e entry) hash() uint32                { return be.Uint32(e) }
func (e entry) at() int                     { return int(be.Uint16(e[4:])) }
func (e entry) flags() ondisk.AttrFlags     { return ondisk.AttrFlags(e[6]) }
func (e entry) local() bool                 { return e.flags()&ondisk.AttrLocal != 0 }
func (e entry) incomplete() bool            { return e.flags()&ondisk.AttrIncomplete != 0 }
func (e entry) space() Space                { return Space(e.flags() & ondisk.AttrNamespace) }
func (e entry) setFlags(f ondisk.AttrFlags) { e[6] = byte(f) }

func (e entry) put(hash uint32, at int, f ondisk.AttrFlags) {
	be.PutUint32(e, hash)
	be.PutUint16(e[4:], uint16(at))
	e.setFlags(f)
}

// lastHash is the greatest hash, 0 if there are no entries.
func (l leaf) lastHash() uint32 {
	n := l.count()
	if n == 0 {
		return 0
	}
	return l.entry(n - 1).hash()
}

// size is how many bytes an entry points to.
func (l leaf) size(e entry) int {
	b := l[e.at():]
	if e.local() {
		return localSize(int(b[2]), int(be.Uint16(b)))
	}
	return remoteSize(int(b[8]))
}

// name is the name of an entry.
func (l leaf) name(e entry) []byte {
	b := l[e.at():]
	if e.local() {
		return b[ondisk.AttrLocalHeader:][:b[2]]
	}
	return b[ondisk.AttrRemoteHeader:][:b[8]]
}

// value is the value of a local entry.
func (l leaf) value(e entry) []byte {
	b := l[e.at():]
	return b[ondisk.AttrLocalHeader+int(b[2]):][:be.Uint16(b)]
}

// remote is where the value of an entry is that has blocks.
type remote struct {
	at     uint32 // the first block, in the fork; 0 if there is none
	length int    // of the value
}

func (l leaf) remote(e entry) remote {
	b := l[e.at():]
	return remote{be.Uint32(b), int(be.Uint32(b[4:]))}
}

func (l leaf) setRemote(e entry, r remote) {
	b := l[e.at():]
	be.PutUint32(b, r.at)
	be.PutUint32(b[4:], uint32(r.length))
}

// init makes an empty leaf of a block of zeros with the header of its btree.
func (l leaf) init() {
	h := header{FirstUsed: len(l)}
	base := l.end(0)
	h.Free[0] = ondisk.AttrFree{Base: base, Size: len(l) - base}
	l.put(&h)
}

// search finds the entry of a key. If there is none the index is where it would be,
// behind those of the same hash (xfs_attr3_leaf_lookup_int in libxfs).
func (l leaf) search(k *key) (index int, found bool) {
	n := l.count()
	low, high := 0, n
	for low < high {
		if mid := int(uint(low+high) / 2); l.entry(mid).hash() < k.hash {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < n; low++ {
		e := l.entry(low)
		if e.hash() != k.hash {
			return low, false
		}
		if l.matches(e, k) {
			return low, true
		}
	}
	return low, false
}

// matches tells whether an entry is that of a key. Parent pointers are told apart by their
// values too, which are in the leaf always.
func (l leaf) matches(e entry, k *key) bool {
	if e.flags()&(ondisk.AttrNamespace|ondisk.AttrIncomplete) != ondisk.AttrFlags(k.space)|k.incomplete {
		return false
	}
	if string(l.name(e)) != string(k.name) {
		return false
	}
	return k.space != Parent || e.local() && string(l.value(e)) == string(k.value)
}
