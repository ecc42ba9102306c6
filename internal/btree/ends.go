package btree

import "bytes"

// Where records may overlap a node has with each pointer the last end of all records
// below, which any of these may have.

// lastEnd is the last end of a block's records, or of those below it.
func (tr *Tree) lastEnd(end []byte, b *block) {
	kind := node
	if b.leaf() {
		kind = leaf
	}
	tr.endOf(end, b.entry(tr.highest[kind](b.data[b.lay.first:], b.live())), kind)
}

// endOf is the end of a record, or of an entry of a node: nil in trees whose records
// cannot overlap.
func (tr *Tree) endOf(end, entry []byte, level int) []byte {
	if !tr.overlaps() {
		return nil
	}
	if level == 0 {
		tr.putHigh(end, entry)
	} else {
		copy(end, tr.high(entry)[:tr.Key/2])
	}
	return end
}

// raiseEnds is raiseKeys for a block of which all is known but for one entry, whose end
// has gone or come. Most often that tells the last end; if not all of the block is looked
// at, as the kernel always does, with the same result.
func (c *Cursor) raiseEnds(level int, gone, come []byte) error {
	tr := c.Tree
	key := tr.room.raised[:tr.Key]
	for ; level+1 < c.levels; level++ {
		b, up := &c.path[level].block, &c.path[level+1]
		if up.at < 0 || up.at >= up.live() {
			return tr.damagedBlock(up.ptr, errBeside)
		}
		known := up.entry(up.at)
		tr.firstKey(key, b)
		switch last := tr.high(known); {
		case come != nil && tr.compareKeys(come, last) >= 0:
			copy(tr.high(key), come[:tr.Key/2])
		case gone == nil || tr.compareKeys(gone, last) < 0:
			copy(tr.high(key), last)
		default:
			tr.lastEnd(tr.high(key), b)
		}
		if tr.sameKeys(known, key) {
			return nil
		}
		gone = tr.endOf(tr.room.gone[:], known, level+1)
		come = tr.endOf(tr.room.come[:], key, level+1)
		copy(known, key)
		c.dirty(&up.block)
	}
	return nil
}

// compareKeys orders two keys.
func (tr *Tree) compareKeys(a, b []byte) int {
	_, sign := tr.Kind.keys(a, 1, tr.Key, b)
	return sign
}

// sameKeys tells whether two pairs of keys are equal.
func (tr *Tree) sameKeys(a, b []byte) bool {
	return bytes.Equal(a, b) || tr.compareKeys(a, b) == 0 && tr.compareKeys(tr.high(a), tr.high(b)) == 0
}
