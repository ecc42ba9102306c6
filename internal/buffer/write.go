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

// Flush writes what was changed and waits for it. Nothing changes meanwhile, so that
// blocks are written from where they are.
func (c *Cache) Flush() error {
	if c.err != nil || c.cfg.ReadOnly {
		return c.err
	}
	c.flushing = true
	err := c.list.Submit()
	c.flushing = false
	return c.failed(err)
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

// Settle waits until none of n bytes at a place are being written, which is to be
// written past the cache: what a freed block held must not come behind that.
func (c *Cache) Settle(off int64, n int) error {
	for c.err == nil && c.list.Flying(off, n) {
		if err := c.waitOldest(); err != nil {
			return err
		}
	}
	return c.err
}

// failed keeps the first error of a write.
func (c *Cache) failed(err error) error {
	if c.err == nil {
		c.err = err
	}
	return c.err
}

// take gives the list the memory of a block, or of a part of one, that is written,
// sealed: a copy, but in a Flush. One that is pinned stays in the queue.
func (c *Cache) take(d *delwri.Buffer) (memory []byte, more bool) {
	b := d.Owner.(*Buf)
	switch {
	case c.flushing:
		b.seal()
		memory = d.Data
	case b.pins > 0:
		return nil, true
	case b.more == nil:
		memory = c.copy(b)
	default:
		memory = c.copyPart(b, d)
	}
	if memory != nil && d == &b.first.Buffer {
		c.stats.Writes++
	}
	return memory, memory != nil
}

// copyPart is copy for a part of a block, all of which is copied once for all parts that
// are issued together.
func (c *Cache) copyPart(b *Buf, d *delwri.Buffer) []byte {
	m := b.more
	if m.round != c.round {
		if m.copy = c.copy(b); m.copy == nil {
			return nil
		}
		m.round = c.round
	}
	at := 0
	for _, p := range m.parts {
		if &p.Buffer == d {
			break
		}
		at += len(p.Data)
	}
	return m.copy[at:][:len(d.Data)]
}

// seal puts a block's checksum in. The block is clean with that.
func (b *Buf) seal() {
	if b.Kind != nil && b.Kind.Seal != nil {
		b.Kind.Seal(b.Data)
	}
	b.changed = -1
}

// copy returns a sealed copy of a block in the slab, nil if that is full.
func (c *Cache) copy(b *Buf) []byte {
	s := &c.slabs[c.turn]
	align := min(classSize(classOf(len(b.Data))), maxAlign)
	at := (s.used + align - 1) &^ (align - 1)
	if at+len(b.Data) > len(s.memory) {
		c.full = true
		return nil
	}
	s.used = at + len(b.Data)
	b.seal()
	copy(s.memory[at:], b.Data)
	return s.memory[at:s.used]
}

// maxAlign is what memory for direct IO is aligned to, if the block is as long.
const maxAlign = 4096
