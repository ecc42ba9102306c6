package btree

// Query yields in order the records that meet a range: what a record stands for begins at or before the end of the
// range, and ends at or behind its beginning. low and high are records whose first keys are those of the range; they
// are not kept. The cursor is at what is yielded, which is not to be changed before yield has returned false. Where
// records may overlap, the keys of ends tell which blocks can have such records.
// (xfs_btree_query_range in libxfs.)
func (c *Cursor) Query(low, high []byte, yield func(record []byte) bool) error {
	tr := c.Tree
	tr.putKey(tr.room.low[:], low)
	tr.putKey(tr.room.high[:], high)
	if tr.overlaps() {
		return c.queryOverlaps(yield)
	}
	return c.querySimple(low, yield)
}

// querySimple is Query where no records overlap: they are neighbours.
// (xfs_btree_simple_query_range in libxfs.)
func (c *Cursor) querySimple(low []byte, yield func([]byte) bool) error {
	tr := c.Tree
	ok, err := c.Lookup(LE, low)
	if err == nil && (!ok || !c.reaches()) {
		ok, err = c.Next()
	}
	for ; ok && err == nil; ok, err = c.Next() {
		r, _ := c.Record()
		if tr.compare(r, tr.room.high[:]) > 0 || !yield(r) {
			return nil
		}
	}
	return err
}

// reaches tells whether the record at the cursor ends at or behind the beginning of the range.
func (c *Cursor) reaches() bool {
	tr := c.Tree
	r, _ := c.Record()
	if tr.putEnd == nil {
		return tr.compare(r, tr.room.low[:]) >= 0
	}
	end := tr.room.gone[:]
	tr.putEnd(end, r)
	return tr.compareKeys(end, tr.room.low[:]) >= 0
}

// queryOverlaps is Query where records may overlap: it goes through all blocks below which some end behind the beginning
// of the range. The blocks of a level come in order of their first keys, so that in a damaged tree none comes
// twice. (xfs_btree_overlapped_query_range in libxfs.)
func (c *Cursor) queryOverlaps(yield func([]byte) bool) error {
	tr := c.Tree
	ptr, err := c.begin()
	if err != nil {
		return err
	}
	level, below := c.levels-1, 0 // below is the number of the levels that have been reached
	if err := c.load(level, ptr); err != nil {
		return err
	}
	c.path[level].at = 0
	for level < c.levels {
		p := &c.path[level]
		if p.at >= p.live() || c.behind(level) {
			if level++; level < c.levels {
				c.path[level].at++
			}
			continue
		}
		entry := p.entry(p.at)
		switch end := tr.endOf(tr.room.gone[:], entry, level); {
		case tr.compareKeys(end, tr.room.low[:]) < 0:
			p.at++
		case level > 0:
			level--
			if err := c.descend(level, p.below(p.at), below < c.levels-level); err != nil {
				return err
			}
			below = max(below, c.levels-level)
		case !yield(entry):
			return nil
		default:
			p.at++
		}
	}
	return nil
}

// behind tells whether the entry at a level begins behind the range.
func (c *Cursor) behind(level int) bool {
	p, tr := &c.path[level], c.Tree
	if level == 0 {
		return tr.compare(p.entry(p.at), tr.room.high[:]) > 0
	}
	return tr.compareKeys(p.entry(p.at), tr.room.high[:]) > 0
}

// descend moves to the first entry of a block of a level, which is to have a first key behind that of the one before it,
// unless it is the first of its level.
func (c *Cursor) descend(level int, ptr uint64, first bool) error {
	tr := c.Tree
	if err := c.load(level, ptr); err != nil {
		return err
	}
	p := &c.path[level]
	p.at = 0
	if p.live() == 0 {
		return tr.damagedBlock(ptr, errEmpty)
	}
	key, last := tr.room.come[:], tr.room.visited[level][:]
	tr.firstKey(key, &p.block)
	if !first && tr.compareKeys(key, last) <= 0 {
		return tr.damagedBlock(ptr, errOrder)
	}
	copy(last, key)
	return nil
}
