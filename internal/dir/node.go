package dir

import (
	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// freeBlock is a block of the list of free space: how much each of some blocks of entries has at most.
type freeBlock struct {
	b []byte
	d *Dirs
}

func (f freeBlock) at(i int) int {
	if f.d.fs.V5 {
		return 48 + 4*i
	}
	return 4 + 4*i
}

// first is the number of the first block that is listed; count how many are, and used how many of these are there.
func (f freeBlock) first() int { return int(be.Uint32(f.b[f.at(0):])) }
func (f freeBlock) count() int { return int(be.Uint32(f.b[f.at(1):])) }
func (f freeBlock) used() int  { return int(be.Uint32(f.b[f.at(2):])) }

func (f freeBlock) setFirst(n int) { be.PutUint32(f.b[f.at(0):], uint32(n)) }
func (f freeBlock) setCount(n int) { be.PutUint32(f.b[f.at(1):], uint32(n)) }
func (f freeBlock) setUsed(n int)  { be.PutUint32(f.b[f.at(2):], uint32(n)) }

func (f freeBlock) best(i int) int { return int(be.Uint16(f.b[f.d.freeHead+i*ondisk.DirBestSize:])) }

func (f freeBlock) setBest(i, n int) {
	be.PutUint16(f.b[f.d.freeHead+i*ondisk.DirBestSize:], uint16(n))
}

// near is what a search for the place of a name has found: the block of free space that the
// last block with a name of its hash is listed in, and there the slot of one with room, -1 for none.
type near struct {
	fb    int // the number of the block of free space, -1 for none
	buf   *buffer.Buf
	index int
}

// freePlace is where a block of the list is in the fork.
func (d *Dirs) freePlace(fb int) da.Block { return d.free + d.place(fb) }

// freeIn reads a block of the list; nil if it is not there.
func (o *op) freeIn(fb int) (*buffer.Buf, freeBlock, error) {
	d := o.d
	b, err := d.tree.Try(o.t, o.dp, d.freePlace(fb), d.freeKind)
	if b == nil || err != nil {
		return nil, freeBlock{}, err
	}
	f := freeBlock{b.Data, d}
	if f.first() != fb*d.perFree {
		return nil, f, d.damaged(o.dp, "block %d of free space begins with block %d", fb, f.first())
	}
	return b, f, nil
}

// newFree is a new block of the list (xfs_dir3_free_get_buf).
func (o *op) newFree(fb int, inUse ...*buffer.Buf) (b *buffer.Buf, f freeBlock, ok bool, err error) {
	d := o.d
	at, ok, err := o.grow(d.freePlace(fb))
	if !ok || err != nil {
		return nil, f, ok, err
	}
	if at != d.freePlace(fb) {
		return nil, f, false, d.damaged(o.dp, "there is something at the place for block %d of free space", fb)
	}
	if b, err = o.fresh(at, d.freeKind, inUse...); err != nil {
		return nil, f, false, err
	}
	o.putHeader(b, d.magicOf(freeMagic))
	f = freeBlock{b.Data, d}
	f.setFirst(fb * d.perFree)
	return b, f, true, nil
}

// leafToNode makes the index the root of a btree, and moves the list of free space at its end to a block of
// its own (xfs_dir2_leaf_to_node).
func (o *op) leafToNode(lb *buffer.Buf, l leaf1) (ok bool, err error) {
	d := o.d
	n := l.bests()
	if uint64(n) > o.dp.Core.Size>>d.g.DirBlockLog || n > d.perFree {
		return false, d.damaged(o.dp, "the index lists %d blocks of entries", n)
	}
	_, f, ok, err := o.newFree(0, lb)
	if !ok || err != nil {
		return ok, err
	}
	used := 0
	for i := range n {
		best := l.best(i)
		if best != noBest {
			used++
		}
		f.setBest(i, best)
	}
	f.setCount(n)
	f.setUsed(used)
	d.known = known{} // which may be of another directory that had the inode
	l.v.SetMagic(uint16(d.magicOf(leafNMagic)))
	lb.Kind = &d.tree.Index.Kind
	o.t.Dirty(lb)
	return true, nil
}

// addNode enters a name into a directory whose index is a btree (xfs_dir2_node_addname).
func (o *op) addNode() (ok bool, err error) {
	d, s := o.d, &o.d.s
	s.Begin(d.tree, o.t, o.dp, o, o.hash, o.total)
	o.near = near{fb: -1, index: -1}
	if _, err := s.Lookup(); err != nil {
		return false, err
	}
	leaf := s.Path.Last()
	if o.total == 0 && d.full(leaf) {
		return false, nil
	}
	if ok, err := o.enterNode(); !ok || err != nil {
		return ok, err
	}
	s.Total = o.total
	if d.addSlot(leaf, o) {
		s.Touch(leaf.Buf)
		s.FixHashes(&s.Path)
		return true, nil
	}
	if s.Total == 0 {
		return false, nil
	}
	fit, err := s.Split()
	return fit == da.Fits, err
}

// enterNode puts the entry into a block of entries, and tells in o.address where
// (xfs_dir2_node_addname_int).
func (o *op) enterNode() (ok bool, err error) {
	d := o.d
	db, fb, f, err := o.blockForNode()
	if err != nil {
		return false, err
	}
	var b *buffer.Buf
	var k block
	if db < 0 {
		if o.total == 0 {
			return false, nil
		}
		if db, b, k, ok, err = o.growEntries(); !ok || err != nil {
			return ok, err
		}
		if fb, f, ok, err = o.listNew(db, b, k); !ok || err != nil {
			return ok, err
		}
		if onPath(&d.s, b) || onPath(&d.s, fb) {
			return false, d.damaged(o.dp, "a block of the index was free")
		}
	} else if b, k, err = o.get(db); err != nil {
		return false, err
	}
	at, err := o.enter(b, k)
	if err != nil {
		return false, err
	}
	o.setBest(f, db, k.longest())
	o.t.Dirty(fb)
	o.address = d.addressOf(db, at)
	return true, nil
}

// listNew enters a new block of entries into the list of free space (xfs_dir2_node_add_datablk).
func (o *op) listNew(db int, b *buffer.Buf, k block) (fb *buffer.Buf, f freeBlock, ok bool, err error) {
	number, i := db/o.d.perFree, db%o.d.perFree
	if fb, f, err = o.freeIn(number); err != nil {
		return nil, f, false, err
	}
	if fb == nil {
		if fb, f, ok, err = o.newFree(number, b); !ok || err != nil {
			return nil, f, ok, err
		}
	}
	if i >= f.count() {
		f.setCount(i + 1)
		f.setBest(i, noBest)
	}
	if f.best(i) == noBest {
		f.setUsed(f.used() + 1)
	}
	o.setBest(f, db, k.longest())
	return fb, f, true, nil
}

// blockForNode chooses the block for an entry: what the search has found, else the last one with room; -1 for
// none. (xfs_dir2_node_find_freeblk.)
func (o *op) blockForNode() (db int, fb *buffer.Buf, f freeBlock, err error) {
	d := o.d
	if o.near.index >= 0 {
		f = freeBlock{o.near.buf.Data, d}
		return f.first() + o.near.index, o.near.buf, f, nil
	}
	list := o.dp.Data.Extents
	end := list[len(list)-1].End()
	for number := int(end-uint64(d.free))/int(d.tree.Blocks) - 1; number >= 0; number-- {
		if number == o.near.fb {
			continue // the search has looked at it, as far as it goes
		}
		fb, f, err := o.freeIn(number)
		if err != nil {
			return -1, nil, f, err
		}
		if fb == nil {
			continue
		}
		if i := o.lastWithRoom(f, number); i >= 0 {
			return f.first() + i, fb, f, nil
		}
	}
	return -1, nil, f, nil
}

// lastWithRoom is the last block of entries with room that a block of the list has, -1 for none. It does not look
// where it has seen before that there is none.
func (o *op) lastWithRoom(f freeBlock, number int) int {
	k := o.d.known.of(o.dp.Ino, number)
	if o.size < k.size {
		*k = bound{}
	}
	i := f.count() - 1
	for ; i >= 0; i-- {
		if i < k.count && i > k.last {
			if i = k.last; i < 0 {
				break
			}
		}
		if best := f.best(i); best >= o.size && best != noBest {
			break
		}
	}
	*k = bound{f.count(), o.size, i}
	return i
}

// known is what is known of the list of free space of the directory that was searched last, by number of its block.
type known struct {
	ino    geometry.Inode
	blocks []bound
}

// bound tells that of the first count blocks of entries that are listed none behind the last has room for an entry
// of a size.
type bound struct{ count, size, last int }

func (k *known) of(ino geometry.Inode, number int) *bound {
	if k.ino != ino {
		k.ino, k.blocks = ino, k.blocks[:0]
	}
	for len(k.blocks) <= number {
		k.blocks = append(k.blocks, bound{})
	}
	return &k.blocks[number]
}

// changed notes that a block of entries has a free space of n bytes.
func (k *known) changed(ino geometry.Inode, number, i, n int) {
	if k.ino != ino || number >= len(k.blocks) {
		return
	}
	if b := &k.blocks[number]; i < b.count && i > b.last && n >= b.size {
		b.last = i
	}
}

// setBest changes what the list says of a block of entries.
func (o *op) setBest(f freeBlock, db, n int) {
	number, i := db/o.d.perFree, db%o.d.perFree
	f.setBest(i, n)
	o.d.known.changed(o.dp.Ino, number, i, n)
}
