package buffer

import (
	"fmt"

	"mkfs/internal/delwri"
)

// copies is memory for what is being written.
type copies struct {
	memory  []byte
	release func() error
	used    int
	batch   int64 // of the list, the last that it has copies of
}

// Dirty says that a pinned block was changed, or is about to be. It is written
// some time after it is unpinned.
func (c *Cache) Dirty(b *Buf) {
	if b.changed != c.now {
		c.change(b)
	}
}

func (c *Cache) change(b *Buf) {
	if b.gone {
		return
	}
	if b.pins == 0 {
		panic(fmt.Sprintf("buffer: %v at byte %d is changed while it is not pinned", c.place(b.Off, b.Kind), b.Off))
	}
	b.changed = c.now
	c.stats.Changes++
	for i := range b.count() {
		p := b.part(i)
		if !p.Queued() {
			p.Place = c.place(p.Off, b.Kind)
			c.list.Add(&p.Buffer)
		}
	}
}

// Tick says that an operation has ended; every changed block is one tick older. Those
// that are old are issued, if they are enough.
func (c *Cache) Tick() error {
	c.now++
	if c.list.Tick(); c.list.Due() < c.least {
		return c.err
	}
	return c.issue(func() bool { return c.list.Due() < c.least }, c.list.IssueDue)
}

// Flush writes what was changed and waits for it.
func (c *Cache) Flush() error {
	if c.cfg.ReadOnly {
		return c.err
	}
	c.flushing = true
	err := c.issue(func() bool { return c.list.Queued() == 0 }, c.list.Issue)
	c.flushing = false
	if err != nil {
		return err
	}
	return c.failed(c.list.Wait())
}

// issue has batches of the list written, until it is enough or only pinned blocks are
// left.
func (c *Cache) issue(enough func() bool, batch func() error) error {
	for c.err == nil && !c.cfg.ReadOnly && !enough() {
		s := &c.slabs[c.turn]
		if c.full || s.memory == nil {
			if err := c.nextSlab(); err != nil {
				return err
			}
			s = &c.slabs[c.turn]
		}
		c.round++
		before := c.list.Queued()
		err := batch()
		if s.batch = c.list.Issued(); err != nil {
			return c.failed(c.list.Wait())
		}
		if c.list.Queued() < before || c.full {
			continue
		}
		if c.list.Done() == c.list.Issued() {
			break // what is left is pinned
		}
		if err := c.waitOldest(); err != nil {
			return err
		}
	}
	return c.err
}

// nextSlab takes the next slab, once what was copied to it is written.
func (c *Cache) nextSlab() error {
	if c.slabs[c.turn].memory != nil {
		c.turn = (c.turn + 1) % slabs
	}
	s := &c.slabs[c.turn]
	if s.memory == nil {
		var err error
		if s.memory, s.release, err = c.cfg.Memory(c.cfg.Batch); err != nil {
			return err
		}
	}
	s.used, c.full = 0, false
	return c.failed(c.list.WaitFor(s.batch))
}

// waitOldest waits for the oldest batch in flight.
func (c *Cache) waitOldest() error { return c.failed(c.list.WaitFor(c.list.Done() + 1)) }

// failed keeps the first error of a write.
func (c *Cache) failed(err error) error {
	if c.err == nil {
		c.err = err
	}
	return c.err
}

// take gives the list a sealed copy of a block, or of a part of one. One that is
// pinned stays in the queue.
func (c *Cache) take(d *delwri.Buffer) ([]byte, bool) {
	b := d.Owner.(*Buf)
	if b.pins > 0 && !c.flushing {
		return nil, true
	}
	m := b.more
	if m == nil {
		p := c.seal(b)
		if p == nil {
			return nil, false
		}
		c.stats.Writes++
		return p, true
	}
	if m.round != c.round {
		if m.copy = c.seal(b); m.copy == nil {
			return nil, false
		}
		m.round = c.round
	}
	if d == &b.first.Buffer {
		c.stats.Writes++
	}
	at := 0
	for _, p := range m.parts {
		if &p.Buffer == d {
			break
		}
		at += len(p.Data)
	}
	return m.copy[at:][:len(d.Data)], true
}

// seal puts a block's checksum in, and returns a copy of it in the slab, nil if that
// is full. The block is clean with that.
func (c *Cache) seal(b *Buf) []byte {
	s := &c.slabs[c.turn]
	align := min(classSize(classOf(len(b.Data))), maxAlign)
	at := (s.used + align - 1) &^ (align - 1)
	if at+len(b.Data) > len(s.memory) {
		c.full = true
		return nil
	}
	s.used = at + len(b.Data)
	if b.Kind != nil && b.Kind.Seal != nil {
		b.Kind.Seal(b.Data)
	}
	copy(s.memory[at:], b.Data)
	b.changed = -1
	return s.memory[at:s.used]
}

// maxAlign is what memory for direct IO is aligned to, if the block is as long.
const maxAlign = 4096
