package btree

import (
	"cmp"
	"math/bits"

	"mkfs/internal/ondisk"
)

// Records and keys are compared where they lie: this is the hottest code there is.
// What only calls a function to compare takes twice as long.

// searchStart is for what is ordered by the number of 32 bits that it begins with.
func searchStart(entries []byte, n, size int, key []byte) (i, sign int) {
	sought := be.Uint32(key)
	for n > 1 {
		half := n >> 1
		if be.Uint32(entries[(i+half)*size:]) <= sought {
			i += half
		}
		n -= half
	}
	return i, cmp.Compare(be.Uint32(entries[i*size:]), sought)
}

// count is a record of free space as a number that orders by length, and by place if
// that is the same.
func count(record []byte) uint64 {
	return bits.RotateLeft64(be.Uint64(record), 32) // start, then length
}

// searchCount is for free space by length.
func searchCount(entries []byte, n, size int, key []byte) (i, sign int) {
	sought := count(key)
	for n > 1 {
		half := n >> 1
		if count(entries[(i+half)*size:]) <= sought {
			i += half
		}
		n -= half
	}
	return i, cmp.Compare(count(entries[i*size:]), sought)
}

// searchExtent is for extents of a file, and searchOffset for keys of them.
func searchExtent(entries []byte, n, size int, key []byte) (i, sign int) {
	sought := be.Uint64(key)
	for n > 1 {
		half := n >> 1
		if extentOffset(entries[(i+half)*size:]) <= sought {
			i += half
		}
		n -= half
	}
	return i, cmp.Compare(extentOffset(entries[i*size:]), sought)
}

func searchOffset(entries []byte, n, size int, key []byte) (i, sign int) {
	sought := be.Uint64(key)
	for n > 1 {
		half := n >> 1
		if be.Uint64(entries[(i+half)*size:]) <= sought {
			i += half
		}
		n -= half
	}
	return i, cmp.Compare(be.Uint64(entries[i*size:]), sought)
}

// searchOwned is for owners of blocks, and searchOwnedKey for keys of them. Few
// begin at the same block.
func searchOwned(entries []byte, n, size int, key []byte) (i, sign int) {
	return searchRun(entries, n, size, rmapOwner, key)
}

func searchOwnedKey(entries []byte, n, size int, key []byte) (i, sign int) {
	return searchRun(entries, n, size, rmapKeyOwner, key)
}

// searchRun searches entries that have owner and offset at a place.
func searchRun(entries []byte, n, size, owner int, key []byte) (i, sign int) {
	i, sign = searchStart(entries, n, size, key)
	if sign != 0 {
		return i, sign
	}
	// It is the last of those that begin there.
	for {
		if sign = compareOwned(entries[i*size:], owner, key); sign <= 0 || i == 0 {
			return i, sign
		}
		i--
	}
}

func compareOwned(entry []byte, owner int, key []byte) int {
	if c := cmp.Compare(be.Uint32(entry), be.Uint32(key)); c != 0 {
		return c
	}
	if c := cmp.Compare(be.Uint64(entry[owner:]), be.Uint64(key[rmapKeyOwner:])); c != 0 {
		return c
	}
	return cmp.Compare(be.Uint64(entry[owner+8:])&^rmapUnwritten, be.Uint64(key[rmapKeyOffset:])&^rmapUnwritten)
}

// highestOwned finds, of owners of blocks, the one with the last end.
func highestOwned(entries []byte, n int) (best int) {
	var last uint32
	for i := range n {
		r := entries[i*ondisk.RmapRecordSize:]
		end := be.Uint32(r) + be.Uint32(r[rmapCount:]) - 1
		if end > last || end == last && i > 0 && endsAfter(r, entries[best*ondisk.RmapRecordSize:]) {
			best, last = i, end
		}
	}
	return best
}

// endsAfter tells whether one of two owners whose blocks end at the same place ends
// after the other.
func endsAfter(a, b []byte) bool {
	var x, y [ondisk.RmapKeySize]byte
	putRmapHigh(x[:], a)
	putRmapHigh(y[:], b)
	return compareOwned(x[:], rmapKeyOwner, y[:]) > 0
}

// highestOwnedKey finds the last of the high keys of a node.
func highestOwnedKey(entries []byte, n int) (best int) {
	const pair = 2 * ondisk.RmapKeySize
	high := entries[ondisk.RmapKeySize:]
	last := be.Uint32(high)
	for i := 1; i < n; i++ {
		key := high[i*pair:]
		end := be.Uint32(key)
		if end > last || end == last && compareOwned(key, rmapKeyOwner, high[best*pair:]) > 0 {
			best, last = i, end
		}
	}
	return best
}
