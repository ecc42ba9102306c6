package btree

import (
	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
)

// layout is where a block has its entries: the records of a leaf, or the keys of a
// node and, behind room for all of them, the pointers. A leaf has pointers of no
// length, so that one code moves the entries of both.
type layout struct {
	form        *ondisk.BtreeForm
	first, size int // the first record or key, and the length of each
	ptrs, ptr   int // the first pointer, and the length of each
	max, min    int // how many entries there can be, and in all but the root are
}

// layouts are those of leaves and of nodes.
type layouts [2]layout

const (
	leaf = iota
	node
)

// newLayouts lays out blocks of so many bytes.
func newLayouts(k *Kind, form *ondisk.BtreeForm, size int) (l layouts) {
	room := size - form.Header
	n := room / k.Record
	l[leaf] = layout{form: form, first: form.Header, size: k.Record, max: n, min: n / 2}
	n = room / (k.Key + form.Pointer)
	l[node] = layout{
		form: form, first: form.Header, size: k.Key,
		ptrs: form.Header + n*k.Key, ptr: form.Pointer, max: n, min: n / 2,
	}
	return l
}

// entry is how many bytes an entry takes.
func (l *layout) entry() int { return l.size + l.ptr }

// of is the layout of a level.
func (l *layouts) of(level int) *layout {
	if level == 0 {
		return &l[leaf]
	}
	return &l[node]
}

// block is a block in memory, or the root in a fork, which looks like one.
type block struct {
	data []byte
	lay  *layout
	buf  *buffer.Buf // nil for the root in a fork
	ptr  uint64      // where it is, likewise
}

// live is the number of entries. It is never more than there is room for, even if another
// structure of a damaged filesystem has got the block meanwhile.
func (b *block) live() int { return min(ondisk.BtreeRecords(b.data), b.lay.max) }

func (b *block) setLive(n int) { ondisk.SetBtreeRecords(b.data, n) }
func (b *block) left() uint64  { return b.lay.form.Left(b.data) }
func (b *block) right() uint64 { return b.lay.form.Right(b.data) }
func (b *block) inFork() bool  { return b.buf == nil }
func (b *block) there() bool   { return b.data != nil }
func (b *block) leaf() bool    { return b.lay.ptr == 0 }

// entry is the record or key in slot i.
func (b *block) entry(i int) []byte {
	at := b.lay.first + i*b.lay.size
	return b.data[at : at+b.lay.size : at+b.lay.size]
}

// below is the pointer in slot i of a node.
func (b *block) below(i int) uint64 { return b.lay.form.Ptr(b.data[b.lay.ptrs+i*b.lay.ptr:]) }

func (b *block) setBelow(i int, ptr uint64) { b.lay.form.PutPtr(b.data[b.lay.ptrs+i*b.lay.ptr:], ptr) }

// put fills slot i. ptr is of nodes.
func (b *block) put(i int, entry []byte, ptr uint64) {
	copy(b.entry(i), entry)
	if b.lay.ptr > 0 {
		b.setBelow(i, ptr)
	}
}

// open moves the n entries in slots from i on up by one, and closed those in the
// slots from i+1 on down by one, over what is in slot i. What has moved away
// stays in the last slot.
func (b *block) open(i, n int)   { b.slide(i+1, i, n) }
func (b *block) closed(i, n int) { b.slide(i, i+1, n) }

func (b *block) slide(to, from, n int) { b.copyFrom(to, b, from, n) }

// copyFrom copies n entries of another block.
func (b *block) copyFrom(to int, other *block, from, n int) {
	l := b.lay
	copyPart(b.data, other.data, l.first, other.lay.first, l.size, to, from, n)
	if l.ptr > 0 {
		copyPart(b.data, other.data, l.ptrs, other.lay.ptrs, l.ptr, to, from, n)
	}
}

func copyPart(dst, src []byte, dstFirst, srcFirst, size, to, from, n int) {
	copy(dst[dstFirst+to*size:][:n*size], src[srcFirst+from*size:])
}
