package dir

import (
	"errors"
	"fmt"

	"mkfs/internal/da"
	"mkfs/internal/ondisk"
)

// checkEntries walks over a block of entries (__xfs_dir3_data_check).
func (d *Dirs) checkEntries(b []byte) error {
	k := block{b, d, d.header}
	if k.whole() {
		if n := k.indexed(); n < 2 || n > (len(b)-d.header-blockTail)/hashSize || k.stale() < 0 || k.stale() >= n {
			return fmt.Errorf("an index of %d slots, %d of them stale", n, k.stale())
		}
	}
	end := k.end()
	live, wasFree := 0, false
	var sizes [bests]int
	for at := d.header; at < end; {
		n, free, err := k.checkAt(at, end)
		switch {
		case err != nil:
			return err
		case free && wasFree:
			return fmt.Errorf("two free spaces meet at byte %d", at)
		case free && !k.listed(at, n, &sizes):
			return fmt.Errorf("the free space of %d bytes at byte %d is longer than one that is listed", n, at)
		case !free:
			live++
		}
		wasFree = free
		at += n
	}
	for i := range bests {
		if at, n := k.best(i); n != sizes[i] || n == 0 && at != 0 || i > 0 && n > k.bestOf(i-1).n {
			return errors.New("the list of free spaces is damaged")
		}
	}
	if !k.whole() {
		return nil
	}
	if n := k.indexed(); live != n-k.stale() {
		return fmt.Errorf("%d entries, and an index of %d slots of which %d are stale", live, n, k.stale())
	}
	return checkIndex(k.index(), k.indexed(), k.stale(), func(address uint32) bool {
		at := int64(address) * addressUnit
		return at >= int64(d.header) && at < int64(end)
	})
}

// checkAt checks the entry or free space at a place, and tells how long it is.
func (k block) checkAt(at, end int) (n int, free bool, err error) {
	switch {
	case at+8 > end:
	case k.isFree(at):
		if n = k.freeLength(at); n >= 8 && n%8 == 0 && at+n <= end && k.before(at+n) == at {
			return n, true, nil
		}
	case at+9 <= end && k.b[at+8] != 0 && be.Uint64(k.b[at:]) != 0:
		if n = k.sizeAt(at); at+n <= end && k.before(at+n) == at {
			return n, false, nil
		}
	}
	return 0, false, fmt.Errorf("what is at byte %d is no entry and no free space", at)
}

// listed notes the length of a free space that is one of the longest; others are no longer than those.
func (k block) listed(at, n int, sizes *[bests]int) bool {
	if i := k.find(at); i >= 0 {
		sizes[i] = n
		return true
	}
	_, third := k.best(bests - 1)
	return n <= third
}

// checkIndex checks n slots of an index: in order, so many stale, and live ones of places that can be.
func checkIndex(list ondisk.Hashes, n, stale int, can func(address uint32) bool) error {
	if !list.Sorted(n) {
		return errors.New("the index is not in order")
	}
	for i := range n {
		if at := list.Value(i); at == 0 {
			stale--
		} else if !can(at) {
			return fmt.Errorf("slot %d of the index is of address %d", i, at)
		}
	}
	if stale != 0 {
		return errors.New("another number of slots is stale than it says")
	}
	return nil
}

// checkLeaf checks a leaf of an index (xfs_dir3_leaf_check_int).
func (d *Dirs) checkLeaf(b []byte, off int64, magic [2]uint32) error {
	v := d.view(b)
	if err := da.CheckHeader(d.fs, v, off, uint16(d.magicOf(magic))); err != nil {
		return err
	}
	n, stale := v.Count(), v.Level()
	room := len(b) - ondisk.DAHeaderSize(d.fs.V5)
	if magic == leafMagic {
		l := leaf1{b, v}
		if l.bests() > room/ondisk.DirBestSize {
			return fmt.Errorf("%d blocks of entries", l.bests())
		}
		room -= l.tail()
	}
	if n*hashSize > room || stale > n {
		return fmt.Errorf("%d slots, %d of them stale", n, stale)
	}
	return checkIndex(v.Entries(), n, stale, func(address uint32) bool {
		return int64(address)*addressUnit < leafOffset
	})
}

// checkFree checks a block of the list of free space (xfs_dir3_free_header_check).
func (d *Dirs) checkFree(b []byte) error {
	f := freeBlock{b, d}
	n, used := f.count(), f.used()
	if n > d.perFree || used > n || f.first()%d.perFree != 0 {
		return fmt.Errorf("%d slots from block %d on, %d of them used", n, f.first(), used)
	}
	return nil
}
