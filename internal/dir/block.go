package dir

import (
	"slices"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
)

// getBlock reads the block of a directory that has only one.
func (o *op) getBlock() (*buffer.Buf, block, error) {
	b, err := o.d.tree.Get(o.t, o.dp, 0, o.d.block)
	if err != nil {
		return nil, block{}, err
	}
	return b, o.d.blockIn(b), nil
}

// shortToBlock moves a shortform to a block (xfs_dir2_sf_to_block).
func (o *op) shortToBlock(s short) (ok bool, err error) {
	d, dp := o.d, o.dp
	old := short{slices.Clone(s.b), s.ftype}
	bmap.EmptyLocal(o.t, dp, bmap.Data)
	dp.Core.Size = 0
	_, b, k, ok, err := o.growEntries()
	if !ok || err != nil {
		return ok, err
	}
	b.Kind = &d.block.Kind
	be.PutUint32(b.Data, d.magicOf(blockMagic))
	n := old.count() + 2
	k.use(d.header, d.bytes-blockTail-n*hashSize, blockTail+n*hashSize)
	k.setIndexed(n)
	k.setStale(0)
	end := k.end()
	k.use(d.header, d.header, k.freeLength(d.header))
	list := k.index()

	place := d.header
	self := func(i int, name string, ino uint64) {
		putEntry(k, place, ino, name, dirType)
		list.Put(i, d.hash(name), d.addressOf(0, place))
		place += d.entrySize(len(name))
	}
	self(0, ".", uint64(dp.Ino))
	self(1, "..", uint64(old.parent()))
	from := old.header()
	for i := range old.count() {
		e, _ := old.entry(from)
		k.hole(place, e.place)
		putEntry(k, e.place, uint64(old.ino(e.inoAt)), e.name, e.ftype)
		list.Put(2+i, d.hash(string(e.name)), d.addressOf(0, e.place))
		from, place = from+e.size, e.place+d.entrySize(len(e.name))
	}
	k.hole(place, end)
	sortIndex(list, n)
	o.t.Dirty(b)
	return true, nil
}

// dirType is the type of a directory's entry.
const dirType = uint8(ondisk.DirDirectory)

// hole makes what is between two entries free.
func (k block) hole(from, to int) {
	if from < to {
		k.setFree(from, to-from)
		k.enter(from, to-from)
	}
}

// sortIndex sorts slots by hash.
func sortIndex(list ondisk.Hashes, n int) {
	slots := make([][2]uint32, n)
	for i := range slots {
		slots[i] = [2]uint32{list.Hash(i), list.Value(i)}
	}
	slices.SortStableFunc(slots, func(a, b [2]uint32) int {
		switch {
		case a[0] < b[0]:
			return -1
		case a[0] > b[0]:
			return 1
		}
		return 0
	})
	for i, s := range slots {
		list.Put(i, s[0], s[1])
	}
}

// addBlock enters a name into a directory of one block, unless that has no room (xfs_dir2_block_addname).
func (o *op) addBlock() (ok bool, err error) {
	b, k, err := o.getBlock()
	if err != nil {
		return false, err
	}
	free, compact, fits := k.spaceFor(o.size)
	if !fits {
		if o.total == 0 {
			return false, nil
		}
		if ok, err := o.blockToLeaf(b, k); !ok || err != nil {
			return ok, err
		}
		return o.addLeaf()
	}
	if compact {
		k.compact()
	}
	at := o.slotInBlock(k)
	list := k.index()
	list.Put(at, o.hash, o.d.addressOf(0, free))
	scan := k.use(free, free, o.size)
	putEntry(k, free, uint64(o.ino), o.name, o.ftype)
	if scan {
		k.scan()
	}
	o.t.Dirty(b)
	return true, nil
}

// spaceFor finds the free space for an entry of n bytes, and perhaps another slot of the index, in a
// directory of one block. compact tells that stale slots are to be dropped first, which
// leaves the space. (xfs_dir2_block_need_space.)
func (k block) spaceFor(n int) (free int, compact, fits bool) {
	index := k.end()
	last := k.before(index)
	best0, best1 := k.bestOf(0), k.bestOf(1)
	if stale := k.stale(); stale > 0 {
		if best0.n >= n {
			return best0.at, false, true
		}
		room := (stale - 1) * hashSize
		if k.isFree(last) {
			return last, true, room+k.freeLength(last) >= n
		}
		return index, true, room >= n
	}
	if !k.isFree(last) {
		return 0, false, false
	}
	switch {
	case best0.at != last:
		return best0.at, false, best0.n >= n
	case best0.n >= n+hashSize:
		return best0.at, false, true
	}
	return best1.at, false, best1.n >= n
}

// compact drops all stale slots of the index but the last (xfs_dir2_block_compact).
func (k block) compact() {
	list, n := k.index(), k.indexed()
	start, drop := k.end(), k.stale()-1
	to, kept := n-1, false
	for from := n - 1; from >= 0; from-- {
		if list.Value(from) == 0 {
			if kept {
				continue
			}
			kept = true
		}
		if from < to {
			list.Move(to, from, 1)
		}
		to--
	}
	k.setIndexed(n - drop)
	scan := k.release(start, drop*hashSize)
	k.setStale(1)
	if scan {
		k.scan()
	}
}

// slotInBlock makes a slot in the index of a directory of one block, and tells where: behind all of lower
// hash. It takes a stale one if there is one, the nearest, else space from the last free space.
func (o *op) slotInBlock(k block) int {
	list, n := k.index(), k.indexed()
	at := list.Search(n, o.hash)
	if k.stale() == 0 {
		last := k.before(k.end())
		scan := k.use(last, k.end()-hashSize, hashSize)
		k.setIndexed(n + 1)
		if scan {
			k.scan()
		}
		list = k.index()
		list.Move(0, 1, at)
		return at
	}
	mid := at - 1
	low := mid
	for low >= 0 && list.Value(low) != 0 {
		low--
	}
	high := mid + 1
	for high < n && list.Value(high) != 0 && (low < 0 || mid-low > high-mid) {
		high++
	}
	k.setStale(k.stale() - 1)
	if low >= 0 && (high == n || mid-low <= high-mid) {
		list.Move(low, low+1, mid-low)
		return mid
	}
	list.Move(at+1, at, high-at)
	return at
}
