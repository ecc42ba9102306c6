// Package memtree grows the B+trees of XFS in memory, block by block as the
// kernel does, so that each block ends with the records that it would have on
// disk, and behind them with what records that have moved away have left there.
//
// A full block first hands a record to its right neighbour, then to its left,
// and is only then split in half. (xfs_btree_insrec in libxfs, and
// "Variable Length B+trees" in the XFS Algorithms & Data Structures.)
//
// The package knows nothing of what a record means and allocates nothing: the
// caller says where a new block is to be.
package memtree

import "slices"

// Order is how the records of a kind of tree are sorted.
type Order[R any] struct {
	Less func(a, b R) bool
	// High is the key of the end of a record in trees of a kind whose records may
	// overlap, nil in others. Nodes then have two keys for each pointer. In a new
	// filesystem none do overlap, so that the greatest key is that of the last.
	High func(R) R
}

// Size is how much a block holds.
type Size struct {
	Leaf, Node int // records and pointers
	// Fork is how many pointers a root in an inode's fork holds; 0 where the
	// root is a block like others.
	Fork int
}

// Block is a block of a tree.
type Block[R any] struct {
	At          uint64 // where it is, in the caller's units
	Level       int    // 0: leaf
	Live        int    // the number of records or pointers
	Left, Right *Block[R]
	// The slots, of which those from Live on are remains: of records in a leaf,
	// in a node of keys and pointers.
	Records   []R
	Low, High []R
	Below     []*Block[R]

	up *Block[R]
}

// Tree is a B+tree.
type Tree[R any] struct {
	order  *Order[R]
	size   Size
	root   *Block[R]
	blocks int // without a root in an inode
}

// Alloc gives a place for a new block, near that of another, or tells by false
// that there is none. It must not change the tree.
type Alloc func(near uint64) (at uint64, ok bool)

// New makes a tree of one leaf.
func New[R any](o *Order[R], s Size, at uint64, records []R) *Tree[R] {
	root := &Block[R]{At: at, Live: len(records), Records: slices.Clone(records)}
	return &Tree[R]{order: o, size: s, root: root, blocks: 1}
}

// InFork makes a tree of one leaf below a root in a fork.
func InFork[R any](o *Order[R], s Size, at uint64, records []R) *Tree[R] {
	t := New(o, s, at, records)
	t.above(t.root, 0)
	return t
}

// Root is the root.
func (t *Tree[R]) Root() *Block[R] { return t.root }

// Full tells whether the root has no room.
func (t *Tree[R]) Full() bool { return t.root.Live == t.room(t.root) }

// Levels is the height of the tree.
func (t *Tree[R]) Levels() int { return t.root.Level + 1 }

// Blocks is the number of blocks that the tree takes.
func (t *Tree[R]) Blocks() int { return t.blocks }

// All yields all blocks, from the root downwards and each level from the left.
func (t *Tree[R]) All(yield func(*Block[R]) bool) {
	for first := t.root; first != nil; first = first.first() {
		for b := first; b != nil; b = b.Right {
			if !yield(b) {
				return
			}
		}
	}
}

func (b *Block[R]) first() *Block[R] {
	if b.Level == 0 {
		return nil
	}
	return b.Below[0]
}

// Records yields all records in order.
func (t *Tree[R]) Records(yield func(R) bool) {
	b := t.root
	for b.Level > 0 {
		b = b.Below[0]
	}
	for ; b != nil; b = b.Right {
		for _, r := range b.Records[:b.Live] {
			if !yield(r) {
				return
			}
		}
	}
}

// Len is the number of records.
func (t *Tree[R]) Len() (n int) {
	for range t.Records {
		n++
	}
	return n
}

// Place is where a record is, or is to be, in a leaf, until the tree changes.
type Place[R any] struct {
	Leaf *Block[R]
	At   int
}

// Live tells whether there is a record at a place.
func (p Place[R]) Live() bool { return p.Leaf != nil && p.At >= 0 && p.At < p.Leaf.Live }

// Record is the record at a place.
func (p Place[R]) Record() R { return p.Leaf.Records[p.At] }

// Find gives the place of the first record of a leaf that is not below r, or
// behind the last one. It is the leaf where r is or would be.
func (t *Tree[R]) Find(r R) Place[R] {
	b := t.root
	for b.Level > 0 {
		i := count(b.Low[:b.Live], func(low R) bool { return !t.order.Less(r, low) })
		b = b.Below[max(0, i-1)]
	}
	return Place[R]{b, count(b.Records[:b.Live], func(x R) bool { return t.order.Less(x, r) })}
}

// count is how many of a list come before the first for which is does not hold.
func count[R any](list []R, is func(R) bool) int {
	low, high := 0, len(list)
	for low < high {
		if mid := (low + high) / 2; is(list[mid]) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// Before is the place before another, which may be in the leaf to the left.
func (p Place[R]) Before() Place[R] {
	if p.At > 0 || p.Leaf.Left == nil {
		return Place[R]{p.Leaf, p.At - 1}
	}
	return Place[R]{p.Leaf.Left, p.Leaf.Left.Live - 1}
}

// Next is a place itself, or if it is behind the last record of its leaf, the
// first of the leaf to the right.
func (p Place[R]) Next() Place[R] {
	if p.At >= p.Leaf.Live && p.Leaf.Right != nil {
		return Place[R]{p.Leaf.Right, 0}
	}
	return p
}

// Update changes the record at a place to one that keeps its order.
func (t *Tree[R]) Update(p Place[R], r R) {
	p.Leaf.Records[p.At] = r
	t.refresh(p.Leaf)
}

// Remove removes the record at a place. It returns false, and leaves the tree as
// it was, where that would make a block other than the root less than half full.
func (t *Tree[R]) Remove(p Place[R]) bool {
	b := p.Leaf
	if b != t.root && b.Live <= t.size.Leaf/2 {
		return false
	}
	copy(b.Records[p.At:], b.Records[p.At+1:b.Live])
	b.Live--
	t.refresh(b)
	return true
}
