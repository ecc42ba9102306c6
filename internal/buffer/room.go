package buffer

import "fmt"

// use says that a block is used: it is the last to be evicted.
func (c *Cache) use(b *Buf) {
	if b.used != c.now {
		c.touch(b)
	}
}

func (c *Cache) touch(b *Buf) {
	b.used = c.now
	if c.lru.older != b && !b.gone {
		b.newer.older, b.older.newer = b.older, b.newer
		c.front(b)
	}
}

// front puts a block before all others, as the one that was used last.
func (c *Cache) front(b *Buf) {
	b.newer, b.older = &c.lru, c.lru.older
	b.newer.older, b.older.newer = b, b
}

// room makes room for n bytes. If all that is there is pinned there is more than
// the limit.
func (c *Cache) room(n int64) error {
	if c.bytes+n <= c.cfg.Limit {
		return nil
	}
	b := c.lru.newer
	for c.bytes+n > c.cfg.Limit && b != &c.lru {
		switch {
		case b.pins > 0:
			b = b.newer
		case b.pending > 0:
			if err := c.wait(b, b.Kind); err != nil {
				return err
			}
		case b.Dirty():
			if err := c.clean(b); err != nil {
				return err
			}
			b = c.lru.newer
		default:
			b = c.evict(b)
		}
	}
	return nil
}

// evict lets go of a clean block, and returns the next one.
func (c *Cache) evict(b *Buf) *Buf {
	next := b.newer
	if c.evicted == nil {
		c.evicted = new([4096]int64)
	}
	*c.slot(b.Off) = b.Off + 1
	c.stats.Evicted++
	c.drop(b)
	return next
}

// slot is where it is noted that a block was evicted.
func (c *Cache) slot(off int64) *int64 {
	return &c.evicted[uint64(off/unit)*0x9e3779b97f4a7c15>>52]
}

func (c *Cache) noteReread(off int64) {
	if c.evicted != nil && *c.slot(off) == off+1 {
		*c.slot(off) = 0
		c.stats.Reread++
	}
}

// clean writes a dirty block, and with it those that were used next after it, as many
// as make a batch.
func (c *Cache) clean(b *Buf) error {
	if c.cfg.ReadOnly {
		return fmt.Errorf("%w: %d bytes of blocks, or more", ErrFull, c.bytes)
	}
	for o, n := b, 0; o != &c.lru && n < c.cfg.Batch; o = o.newer {
		if o.pins == 0 && o.Dirty() {
			c.promote(o)
			n += len(o.Data)
		}
	}
	return c.write(b)
}

// write writes a block that is dirty and not pinned. When it returns the copy is in
// flight.
func (c *Cache) write(b *Buf) error {
	if c.cfg.ReadOnly {
		return fmt.Errorf("%w: %w", ErrFull, c.faulty(b.Off, b.Kind, fmt.Errorf("it has to be written")))
	}
	c.promote(b)
	return c.issue(func() bool { return !b.Dirty() }, c.list.IssueDue)
}

func (c *Cache) promote(b *Buf) {
	due := c.list.Due()
	for i := range b.count() {
		c.list.Promote(&b.part(i).Buffer)
	}
	if c.list.Due() > due {
		c.stats.Promoted++
	}
}
