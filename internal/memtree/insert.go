package memtree

import "slices"

// Insert puts a record at a place. It returns false if a new block was needed
// and there was no room for it; then the tree is not to be used any more.
func (t *Tree[R]) Insert(p Place[R], r R, alloc Alloc) bool {
	return t.insert(p.Leaf, p.At, entry[R]{record: r}, alloc)
}

// entry is what a slot holds: a record, or a block.
type entry[R any] struct {
	record R
	below  *Block[R]
}

// insert puts an entry into slot i of a block, and if that splits it, the new
// block into the one above.
func (t *Tree[R]) insert(b *Block[R], i int, e entry[R], alloc Alloc) bool {
	for {
		var right *Block[R]
		if b.Live == t.room(b) {
			var ok bool
			if b, i, right, ok = t.makeRoom(b, i, alloc); !ok {
				return false
			}
		}
		t.put(b, i, e)
		if b != right {
			t.refresh(b)
		}
		if right == nil {
			return true
		}
		left := right.Left
		if left.up == nil {
			at, ok := alloc(t.root.At)
			if !ok {
				return false
			}
			t.above(left, at)
			t.blocks++
		}
		b, i, e = left.up, left.slot()+1, entry[R]{below: right}
	}
}

// room is how many entries a block holds.
func (t *Tree[R]) room(b *Block[R]) int {
	switch {
	case b == t.root && t.size.Fork > 0:
		return t.size.Fork
	case b.Level > 0:
		return t.size.Node
	}
	return t.size.Leaf
}

// makeRoom makes room in a full block. It returns the block and the slot that
// the entry now belongs to, and the new block if there is one.
func (t *Tree[R]) makeRoom(b *Block[R], i int, alloc Alloc) (to *Block[R], at int, right *Block[R], ok bool) {
	switch {
	case b == t.root && t.size.Fork > 0:
		child, ok := t.pushDown(alloc)
		return child, i, nil, ok
	case t.shiftRight(b, i):
		return b, i, nil, true
	case t.shiftLeft(b, i):
		return b, i - 1, nil, true
	}
	if right, ok = t.split(b, i, alloc); !ok {
		return nil, 0, nil, false
	}
	if i > b.Live {
		return right, i - b.Live, right, true
	}
	return b, i, right, true
}

// pushDown moves what a root in a fork holds into a block below it.
func (t *Tree[R]) pushDown(alloc Alloc) (*Block[R], bool) {
	at, ok := alloc(t.root.Below[0].At)
	if !ok {
		return nil, false
	}
	child := t.root
	child.At = at
	for _, b := range child.Below[:child.Live] {
		b.up = child
	}
	t.blocks++
	t.above(child, 0)
	return child, true
}

// above puts a new root above the old one.
func (t *Tree[R]) above(old *Block[R], at uint64) {
	t.root = &Block[R]{At: at, Level: old.Level + 1}
	t.put(t.root, 0, entry[R]{below: old})
}

// shiftRight moves the last entry to the right neighbour if that has room and
// the new one is not to be behind it.
func (t *Tree[R]) shiftRight(b *Block[R], i int) bool {
	right := b.Right
	if right == nil || right.Live == t.room(right) || i >= b.Live-1 {
		return false
	}
	t.put(right, 0, b.entry(b.Live-1))
	b.Live--
	t.refresh(right)
	t.refresh(b)
	return true
}

// shiftLeft moves the first entry to the left neighbour if that has room and
// the new one is not to be before it.
func (t *Tree[R]) shiftLeft(b *Block[R], i int) bool {
	left := b.Left
	if left == nil || left.Live == t.room(left) || i == 0 {
		return false
	}
	t.put(left, left.Live, b.entry(0))
	b.take(0)
	t.refresh(b)
	t.refresh(left)
	return true
}

// split moves half of a block to a new one on its right. The halves are to be
// equal once the entry is in slot i.
func (t *Tree[R]) split(b *Block[R], i int, alloc Alloc) (*Block[R], bool) {
	at, ok := alloc(b.At)
	if !ok {
		return nil, false
	}
	t.blocks++
	n := b.Live / 2
	if b.Live%2 == 1 && i <= n {
		n++
	}
	right := &Block[R]{At: at, Level: b.Level, Left: b, Right: b.Right}
	for j := range n {
		t.put(right, j, b.entry(b.Live-n+j))
	}
	b.Live -= n
	if right.Right != nil {
		right.Right.Left = right
	}
	b.Right = right
	t.refresh(b)
	return right, true
}

// entry is what is in a slot.
func (b *Block[R]) entry(i int) entry[R] {
	if b.Level > 0 {
		return entry[R]{below: b.Below[i]}
	}
	return entry[R]{record: b.Records[i]}
}

// put makes room in slot i and fills it.
func (t *Tree[R]) put(b *Block[R], i int, e entry[R]) {
	if b.Level == 0 {
		b.Records = insertAt(b.Records, b.Live, i, e.record)
	} else {
		low, high := t.keys(e.below)
		b.Low = insertAt(b.Low, b.Live, i, low)
		b.High = insertAt(b.High, b.Live, i, high)
		b.Below = insertAt(b.Below, b.Live, i, e.below)
		e.below.up = b
	}
	b.Live++
}

// insertAt shifts the live slots from i on up by one and fills slot i.
func insertAt[E any](slots []E, live, i int, e E) []E {
	if live == len(slots) {
		slots = append(slots, e)
	}
	copy(slots[i+1:live+1], slots[i:live])
	slots[i] = e
	return slots
}

// take removes the entry in slot i of a block.
func (b *Block[R]) take(i int) {
	if b.Level == 0 {
		copy(b.Records[i:], b.Records[i+1:b.Live])
	} else {
		copy(b.Low[i:], b.Low[i+1:b.Live])
		copy(b.High[i:], b.High[i+1:b.Live])
		copy(b.Below[i:], b.Below[i+1:b.Live])
	}
	b.Live--
}

// slot is the index of a block in the one above.
func (b *Block[R]) slot() int { return slices.Index(b.up.Below[:b.up.Live], b) }

// keys are the least key below a block and, in trees of two keys, the greatest.
func (t *Tree[R]) keys(b *Block[R]) (low, high R) {
	switch {
	case b.Live == 0:
		return low, high
	case b.Level > 0:
		return b.Low[0], b.High[b.Live-1]
	}
	if t.order.High != nil {
		high = t.order.High(b.Records[b.Live-1])
	}
	return b.Records[0], high
}

// refresh makes the keys of a block known to those above it.
func (t *Tree[R]) refresh(b *Block[R]) {
	for ; b.up != nil; b = b.up {
		i := b.slot()
		if i < 0 { // not entered yet
			return
		}
		b.up.Low[i], b.up.High[i] = t.keys(b)
	}
}
