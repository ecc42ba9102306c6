package buffer

import "fmt"

// Get returns the block of n bytes at a place, from disk if it has to, pinned.
func (c *Cache) Get(off int64, n int, k *Kind) (*Buf, error) {
	if p := c.index.find(off); p != nil {
		if b := p.buf; len(b.Data) == n && b.more == nil && b.Kind == k && !b.unchecked && b.pending == 0 && c.err == nil {
			b.pins++
			c.use(b)
			return b, nil
		}
	}
	return c.get([]Span{{off, n}}, k)
}

// Again is Get for a block that was got before and let go of since. It tells whether it is still in
// memory, as of that kind; else it is not pinned.
func (c *Cache) Again(b *Buf, k *Kind) bool {
	if b.gone || b.Kind != k || b.unchecked || b.pending > 0 || c.err != nil {
		return false
	}
	b.pins++
	c.use(b)
	return true
}

// GetSpans is Get for a block in several places, whose bytes follow each other in
// that order.
func (c *Cache) GetSpans(spans []Span, k *Kind) (*Buf, error) {
	if len(spans) == 1 {
		return c.Get(spans[0].Off, spans[0].Len, k)
	}
	return c.get(spans, k)
}

func (c *Cache) get(spans []Span, k *Kind) (*Buf, error) {
	b, err := c.lookup(spans, false)
	if err != nil {
		return nil, err
	}
	if b == nil {
		if b, err = c.read(spans, k); err != nil {
			return nil, err
		}
	}
	b.pins++
	c.use(b)
	if err = c.wait(b, k); err == nil {
		err = c.check(b, k)
	}
	if err != nil {
		c.Unpin(b)
		if b.pins == 0 && !b.gone && !b.Dirty() {
			c.drop(b)
		}
		return nil, err
	}
	return b, nil
}

// Ahead begins to read a block that will be wanted, unless it is there. It tells
// whether it could: not while Config.Depth blocks are being read, and not if there is no room,
// for to make some would be to let go of blocks that are wanted earlier; but see Config.Stream.
func (c *Cache) Ahead(off int64, n int) (bool, error) {
	if c.err != nil {
		return false, c.err
	}
	if p := c.index.find(off); p != nil && len(p.Data) == n {
		return true, nil
	}
	switch {
	case len(c.index.across(off, int64(n))) > 0: // it is not what will be there
		return true, nil
	case !c.cfg.Stream && c.bytes+int64(classSize(classOf(n))) > c.cfg.Limit, c.cfg.Depth > 0 && c.reading >= c.cfg.Depth, c.list.Flying(off, n):
		return false, nil
	}
	_, err := c.read([]Span{{off, n}}, nil)
	return err == nil, err
}

// Fresh returns the block of n bytes at a place with nothing but zeros in it,
// pinned. It is not read.
func (c *Cache) Fresh(off int64, n int, k *Kind) (*Buf, error) { return c.fresh([]Span{{off, n}}, k) }

// FreshSpans is Fresh for a block in several places.
func (c *Cache) FreshSpans(spans []Span, k *Kind) (*Buf, error) { return c.fresh(spans, k) }

func (c *Cache) fresh(spans []Span, k *Kind) (*Buf, error) {
	b, err := c.lookup(spans, true)
	if err != nil {
		return nil, err
	}
	if b == nil {
		if b, err = c.add(spans); err != nil {
			return nil, err
		}
	} else if err := c.wait(b, k); err != nil {
		return nil, err
	}
	b.pins++
	c.use(b)
	clear(b.Data)
	b.Kind, b.unchecked = k, false
	return b, nil
}

// Pin pins a block that its owner has let go of, and tells whether it is still there.
func (c *Cache) Pin(b *Buf) bool {
	if b.gone {
		return false
	}
	b.pins++
	return true
}

// Unpin lets go of a block.
func (c *Cache) Unpin(b *Buf) {
	if b.pins <= 0 {
		panic(fmt.Sprintf("buffer: the block at byte %d is unpinned more often than pinned", b.Off))
	}
	if b.pins--; b.gone {
		c.free(b)
	}
}

// Forget drops the blocks that lie within n bytes that are freed: what was changed in
// them is not written. Who has one of them pinned may use it until it is unpinned.
func (c *Cache) Forget(off, n int64) {
	for _, p := range c.index.across(off, n) {
		if b := p.buf; !b.gone && b.within(off, n) {
			c.drop(b)
		}
	}
}

// Drop is Forget for a pinned block that is freed, wherever its parts are.
func (c *Cache) Drop(b *Buf) {
	if !b.gone {
		c.drop(b)
	}
}

// within tells whether a block lies within n bytes.
func (b *Buf) within(off, n int64) bool {
	for i := range b.count() {
		if p := b.part(i); p.Off < off || p.Off+int64(len(p.Data)) > off+n {
			return false
		}
	}
	return true
}

// Peek returns n bytes at a place from whatever block in memory has them, which may
// be used until the next call; nil if there is none.
func (c *Cache) Peek(off int64, n int) ([]byte, error) {
	for _, p := range c.index.across(off, int64(n)) {
		if p.Off <= off && off+int64(n) <= p.Off+int64(len(p.Data)) {
			return p.Data[off-p.Off:][:n], c.wait(p.buf, p.buf.Kind)
		}
	}
	return nil, nil
}

// Changed calls f for each dirty block that has any of n bytes at a place. It must not
// call the Cache.
func (c *Cache) Changed(off, n int64, f func(b *Buf)) {
	for _, p := range c.index.across(off, n) {
		if p.Queued() {
			f(p.buf)
		}
	}
}

// is tells whether a block lies in these places.
func (b *Buf) is(spans []Span) bool {
	if b.count() != len(spans) {
		return false
	}
	for i, s := range spans {
		if p := b.part(i); p.Off != s.Off || len(p.Data) != s.Len {
			return false
		}
	}
	return true
}

// lookup returns the block in some places, nil if it is not in memory. What lies
// across them is gone then; over says that all of it will be written over.
func (c *Cache) lookup(spans []Span, over bool) (*Buf, error) {
	if c.err != nil {
		return nil, c.err
	}
	if p := c.index.find(spans[0].Off); p != nil && p.buf.is(spans) {
		return p.buf, nil
	}
	length(spans)
	for i, s := range spans {
		for _, o := range spans[:i] {
			if s.Off < o.Off+int64(o.Len) && o.Off < s.Off+int64(s.Len) {
				return nil, fmt.Errorf("a block at byte %d of which two parts are at byte %d", spans[0].Off, max(s.Off, o.Off))
			}
		}
		for _, p := range c.index.across(s.Off, int64(s.Len)) {
			if b := p.buf; b.pins > 0 {
				return nil, c.faulty(b.Off, b.Kind, fmt.Errorf("%d bytes at byte %d are of it, while it is in use", s.Len, s.Off))
			}
		}
	}
	for _, s := range spans {
		if err := c.displace(s, over); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// displace lets go of the blocks that lie across a place, after writing them if they
// were changed, unless all of them will be written over.
func (c *Cache) displace(s Span, over bool) error {
	for {
		list := c.index.across(s.Off, int64(s.Len))
		if len(list) == 0 {
			return nil
		}
		b := list[0].buf
		if b.Dirty() && !(over && b.within(s.Off, int64(s.Len))) {
			if err := c.write(b); err != nil {
				return err
			}
		}
		c.drop(b)
	}
}

// length is how many bytes a block has. There is no block of a length that is none.
func length(spans []Span) int {
	n := 0
	for _, s := range spans {
		if s.Len <= 0 || s.Off < 0 {
			panic(fmt.Sprintf("buffer: %d bytes at byte %d are no block", s.Len, s.Off))
		}
		n += s.Len
	}
	if n > MaxBlock || n == 0 {
		panic(fmt.Sprintf("buffer: a block of %d bytes at byte %d", n, spans[0].Off))
	}
	return n
}

// add makes a block, after making room for it.
func (c *Cache) add(spans []Span) (*Buf, error) {
	n := length(spans)
	if err := c.room(int64(classSize(classOf(n)))); err != nil {
		return nil, err
	}
	data, frame, err := c.pool.take(n)
	if err != nil {
		return nil, err
	}
	b := &Buf{Off: spans[0].Off, Data: data, frame: frame, used: c.now, changed: -1}
	if len(spans) > 1 {
		b.more = &spread{parts: make([]*part, len(spans))}
		more := make([]part, len(spans)-1)
		for i := range b.more.parts {
			if b.more.parts[i] = &b.first; i > 0 {
				b.more.parts[i] = &more[i-1]
			}
		}
	}
	for i, s := range spans {
		p := b.part(i)
		p.Off, p.Data, p.Owner, p.buf = s.Off, data[:s.Len], b, b
		data = data[s.Len:]
		c.index.add(p)
		if c.cfg.Seen != nil {
			c.cfg.Seen(s.Off, s.Len)
		}
	}
	c.bytes += int64(classSize(frame.slab.class))
	c.front(b)
	return b, nil
}

// drop takes a block out of the cache. Its memory is free when nobody uses it. If it
// is being read that is waited for: its place may be written next.
func (c *Cache) drop(b *Buf) {
	_ = c.wait(b, b.Kind) // it is of no interest any more
	for i := range b.count() {
		p := b.part(i)
		c.list.Remove(&p.Buffer)
		c.index.remove(p)
	}
	b.newer.older, b.older.newer = b.older, b.newer
	b.gone, b.changed = true, -1
	c.free(b)
}

// free gives the memory of a block back that is gone.
func (c *Cache) free(b *Buf) {
	if b.pins == 0 && b.pending == 0 && b.Data != nil {
		c.bytes -= int64(classSize(b.frame.slab.class))
		c.pool.give(b.frame)
		b.Data = nil
	}
}
