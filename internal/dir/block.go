package dir

import (
	"iter"

	"mkfs/internal/buffer"
)

// getBlock reads the block of a directory that has only one.
func (o *op) getBlock() (*buffer.Buf, block, error) {
	b, err := o.d.tree.Get(o.t, o.dp, 0, o.d.block)
	if err != nil {
		return nil, block{}, err
	}
	return b, o.d.blockIn(b), nil
}

// addBlock enters a name into a directory of one block, unless that has no room (xfs_dir2_block_addname).
func (o *op) addBlock() (ok bool, err error) {
	b, k, err := o.getBlock()
	if err != nil {
		return false, err
	}
	list, n := k.index(), k.indexed()
	if err := o.isNew(list, list.Search(n, o.hash), n, (*op).only); err != nil {
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
	list = k.index()
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

// entries goes over the places of all entries.
func (k block) entries() iter.Seq[int] {
	return func(yield func(at int) bool) {
		for at, end := k.header, k.end(); at < end; {
			if k.isFree(at) {
				at += k.freeLength(at)
				continue
			}
			if !yield(at) {
				return
			}
			at += k.sizeAt(at)
		}
	}
}
