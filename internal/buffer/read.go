package buffer

import (
	"errors"
	"fmt"
)

// read begins to read a block.
func (c *Cache) read(spans []Span, k *Kind) (*Buf, error) {
	for _, s := range spans {
		for c.list.Flying(s.Off, s.Len) {
			if err := c.waitOldest(); err != nil {
				return nil, err
			}
		}
	}
	b, err := c.add(spans)
	if err != nil {
		return nil, err
	}
	b.Kind, b.unchecked = k, true
	c.stats.Reads++
	c.noteReread(b.Off)
	done := func(err error) {
		c.reading--
		if b.pending--; err != nil && b.err == nil {
			b.err = err
		}
		if b.gone {
			c.free(b)
		}
	}
	for i := range spans {
		b.pending++
		c.reading++
		if err := c.ring.Read(spans[i].Off, [][]byte{b.part(i).Data}, done); err != nil {
			b.pending--
			c.reading--
			c.drop(b)
			return nil, c.unread(b, k, err)
		}
	}
	return b, nil
}

// wait waits for a block that is being read.
func (c *Cache) wait(b *Buf, k *Kind) error {
	for b.pending > 0 {
		if err := c.ring.Reap(1); err != nil && b.pending > 0 {
			return c.unread(b, k, err)
		}
	}
	if b.err != nil {
		return c.unread(b, k, b.err)
	}
	return nil
}

// unread is an error of reading a block. One that knows better where it happened, by
// a method Offset, has said so: what is left to say is why.
func (c *Cache) unread(b *Buf, k *Kind, err error) error {
	off, cause := b.Off, err
	var at interface {
		Offset() int64
		Unwrap() error
	}
	if errors.As(err, &at) && at.Unwrap() != nil {
		off, cause = at.Offset(), at.Unwrap()
	}
	return fmt.Errorf("read %s: %w", c.cfg.Device, c.faulty(off, k, cause))
}

// check looks at a block that comes from disk, or that is asked for as another kind
// than before: one that is changed is sealed for it as what it is.
func (c *Cache) check(b *Buf, k *Kind) error {
	if b.Kind == k && !b.unchecked {
		return nil
	}
	if k != nil && k.Check != nil {
		if b.Kind != nil && b.Kind.Seal != nil && b.Dirty() {
			b.Kind.Seal(b.Data)
		}
		if err := k.Check(b.Data, b.Off); err != nil {
			return c.faulty(b.Off, k, err)
		}
	}
	b.unchecked = false
	if b.Kind == nil || k != nil && (k.Seal != nil || b.Kind.Seal == nil) {
		b.Kind = k
	}
	return nil
}
