package dir

import (
	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
)

// noBest stands in a list of free space for a block that is not there.
const noBest = 0xffff

// bestsTail is the length of the number of blocks that an index lists.
const bestsTail = 4

// leaf1 is an index that is one block: behind its slots, at the end, the longest free space of
// each block of entries, and how many of those there are.
type leaf1 struct {
	b []byte
	v ondisk.DABlock
}

func (l leaf1) bests() int { return int(be.Uint32(l.b[len(l.b)-bestsTail:])) }

func (l leaf1) setBests(n int) { be.PutUint32(l.b[len(l.b)-bestsTail:], uint32(n)) }

// tail is how long the list at the end is.
func (l leaf1) tail() int { return bestsTail + l.bests()*ondisk.DirBestSize }

func (l leaf1) bestAt(i int) int { return len(l.b) - l.tail() + i*ondisk.DirBestSize }
func (l leaf1) best(i int) int   { return int(be.Uint16(l.b[l.bestAt(i):])) }
func (l leaf1) setBest(i, n int) { be.PutUint16(l.b[l.bestAt(i):], uint16(n)) }
func (l leaf1) room(headerSize int) int {
	return len(l.b) - l.tail() - headerSize - l.v.Count()*hashSize
}

// addBest makes the list longer by one: it grows to the front.
func (l leaf1) addBest() {
	from, end := l.bestAt(0), l.bestAt(l.bests())
	copy(l.b[from-ondisk.DirBestSize:], l.b[from:end])
	l.setBests(l.bests() + 1)
}

// leafBlock reads the index of a directory in leaf form.
func (o *op) leafBlock() (*buffer.Buf, leaf1, error) {
	b, err := o.d.tree.Get(o.t, o.dp, o.d.leaf, o.d.leaf1)
	if err != nil {
		return nil, leaf1{}, err
	}
	return b, leaf1{b.Data, o.d.view(b.Data)}, nil
}

// blockToLeaf moves the index of a directory of one block to a block of its own (xfs_dir2_block_to_leaf).
func (o *op) blockToLeaf(b *buffer.Buf, k block) (ok bool, err error) {
	d := o.d
	at, ok, err := d.tree.Grow(o.t, o.dp, d.leaf, &o.total)
	if !ok || err != nil {
		return ok, err
	}
	lb, err := o.fresh(at, d.leaf1, b)
	if err != nil {
		return false, err
	}
	d.tree.InitHeader(lb, uint64(o.dp.Ino), uint16(d.magicOf(leafMagic)), ondisk.DAHeaderSize(d.fs.V5))
	l := leaf1{lb.Data, d.view(lb.Data)}
	n := k.indexed()
	l.v.SetCount(n)
	l.v.SetLevel(k.stale())
	l.v.Entries().CopyFrom(0, k.index(), 0, n)

	from := k.end()
	b.Kind = &d.data.Kind
	be.PutUint32(b.Data, d.magicOf(dataMagic))
	if k.release(from, d.bytes-from) {
		k.scan()
	}
	o.t.Dirty(b)
	l.setBests(1)
	l.setBest(0, k.longest())
	return true, nil
}

// addLeaf enters a name into a directory whose index is one block, unless that is full
// (xfs_dir2_leaf_addname).
func (o *op) addLeaf() (ok bool, err error) {
	d := o.d
	lb, l, err := o.leafBlock()
	if err != nil {
		return false, err
	}
	at, db, err := o.blockForLeaf(l)
	if err != nil {
		return false, err
	}
	need := 0
	if l.v.Level() == 0 {
		need += hashSize
	}
	fresh := db < 0 || l.best(db) == noBest
	if db < 0 {
		need += ondisk.DirBestSize
	}
	full := l.room(ondisk.DAHeaderSize(d.fs.V5)) < need
	switch {
	case full && l.v.Level() <= 1:
		if o.total == 0 {
			return false, nil
		}
		if ok, err := o.leafToNode(lb, l); !ok || err != nil {
			return ok, err
		}
		return o.addNode()
	case o.total == 0 && fresh:
		return false, nil
	}
	slot := leafSlot{v: l.v, at: at}
	if full {
		slot.compact()
	}
	var b *buffer.Buf
	var k block
	if fresh {
		if db, b, k, ok, err = o.growListed(lb, l, db < 0); !ok || err != nil {
			return ok, err
		}
	} else if b, k, err = o.get(db); err != nil {
		return false, err
	}
	place, err := o.enter(b, k)
	if err != nil {
		return false, err
	}
	l.setBest(db, k.longest())
	slot.insert(o.hash, d.addressOf(db, place))
	o.t.Dirty(lb)
	return true, nil
}

// blockForLeaf chooses the block for an entry: one that has a name of the same hash, else the first
// with room, unless two before it are not there, else one that is not there; -1 for another. at is where the slot belongs.
func (o *op) blockForLeaf(l leaf1) (at, db int, err error) {
	list, n := l.v.Entries(), l.v.Count()
	at = list.Search(n, o.hash)
	if err := o.isNew(list, at, n, (*op).get); err != nil {
		return 0, 0, err
	}
	for ; at < n && list.Hash(at) == o.hash; at++ {
		if list.Value(at) == 0 {
			continue
		}
		db := o.d.blockOf(list.Value(at))
		if db >= l.bests() || l.best(db) == noBest {
			return 0, 0, o.d.damaged(o.dp, "the index names block %d, which is not there", db)
		}
		if l.best(db) >= o.size {
			return at, db, nil
		}
	}
	db = -1
	for i := range l.bests() {
		switch best := l.best(i); {
		case best == noBest && db < 0:
			db = i
		case best == noBest:
			return at, i, nil // the second that is not there ends the search
		case best >= o.size:
			return at, i, nil
		}
	}
	return at, db, nil
}

// growListed gives the directory another block of entries, which the index has a place for, or may get one at the end.
func (o *op) growListed(lb *buffer.Buf, l leaf1, longer bool) (db int, b *buffer.Buf, k block, ok bool, err error) {
	if db, b, k, ok, err = o.growEntries(lb); !ok || err != nil {
		return db, b, k, ok, err
	}
	switch n := l.bests(); {
	case longer && db == n:
		l.addBest()
	case db >= n:
		return db, b, k, false, o.d.damaged(o.dp, "block %d is new, and the index lists %d blocks", db, n)
	}
	return db, b, k, true, nil
}

// growEntries gives the directory another block of entries, which must be none of those in use.
func (o *op) growEntries(inUse ...*buffer.Buf) (db int, b *buffer.Buf, k block, ok bool, err error) {
	at, ok, err := o.grow(0)
	if !ok || err != nil {
		return 0, nil, k, ok, err
	}
	db = int(at / o.d.place(1))
	b, k, err = o.newBlock(db, inUse...)
	return db, b, k, err == nil, err
}

// leafSlot is where a slot is to be entered into a leaf.
type leafSlot struct {
	v  ondisk.DABlock
	at int
	// Once stale slots have been dropped, the one that is left is before the place or behind it;
	// the other is -1 and the number of slots.
	compacted bool
	low, high int
}

// stale finds the nearest stale slots before a place and from there on; what is farther away than the
// other is not looked for (xfs_dir3_leaf_find_stale).
func (s *leafSlot) stale() {
	list, n := s.v.Entries(), s.v.Count()
	for s.low = s.at - 1; s.low >= 0 && list.Value(s.low) != 0; {
		s.low--
	}
	for s.high = s.at; s.high < n && list.Value(s.high) != 0; s.high++ {
		if s.low >= 0 && s.at-s.low <= s.high-s.at {
			break
		}
	}
}

// compact drops all stale slots but one (xfs_dir3_leaf_compact_x1).
func (s *leafSlot) compact() {
	s.stale()
	list, n := s.v.Entries(), s.v.Count()
	keep := s.high
	if s.low >= 0 && (s.high == n || s.at-s.low <= s.high-s.at) {
		keep = s.low
	}
	to, at, kept := 0, -1, 0
	for from := range n {
		if from == s.at {
			at = to
		}
		if from != keep && list.Value(from) == 0 {
			continue
		}
		if from == keep {
			kept = to
		}
		if from > to {
			list.Move(to, from, 1)
		}
		to++
	}
	if at < 0 {
		at = to
	}
	s.v.SetCount(to)
	s.v.SetLevel(1)
	s.at, s.compacted, s.low, s.high = at, true, kept, to
	if kept >= at {
		s.low, s.high = -1, kept
	}
}

// insert enters a slot, in place of the nearest stale one if there is one (xfs_dir3_leaf_find_entry).
func (s *leafSlot) insert(hash, address uint32) {
	list, n := s.v.Entries(), s.v.Count()
	at := s.at
	switch {
	case s.v.Level() == 0:
		list.Move(at+1, at, n-at)
		s.v.SetCount(n + 1)
		list.Put(at, hash, address)
		return
	case !s.compacted:
		s.stale()
	}
	if s.low >= 0 && (s.high == n || at-s.low-1 < s.high-at) {
		list.Move(s.low, s.low+1, at-s.low-1)
		at--
	} else {
		list.Move(at+1, at, s.high-at)
	}
	s.v.SetLevel(s.v.Level() - 1)
	list.Put(at, hash, address)
}
