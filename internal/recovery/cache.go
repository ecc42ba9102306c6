package recovery

import (
	"fmt"

	"mkfs/internal/delwri"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// maxBuffer is the largest block of metadata there is.
const maxBuffer = 64 << 10

// buffer is a block of metadata in memory. Items that touch the same block
// share it.
type buffer struct {
	off     int64
	data    []byte
	pending bool // being read
	err     error

	dirty   bool
	touched bool              // by the checkpoint being replayed
	lsn     xlog.LSN          // of that checkpoint
	kind    *ondisk.Described // how to seal it; nil to write it as it is
}

func (b *buffer) end() int64 { return b.off + int64(len(b.data)) }

// cache holds blocks by their place. What has been changed is written to the
// delayed-write list, all at once: see flush.
type cache struct {
	dev    *Device
	list   *delwri.List // nil to keep everything in memory
	limit  int64
	memory arena

	frames  map[int64][]*buffer // by off / frameSize; a buffer is in each frame that it lies in
	bytes   int64
	reading int
	noting  bool   // of what is seen
	seen    []Span // all places that had a buffer
	dirty   []*buffer
	touched []*buffer
	stats   Stats
}

// frameSize is such that a buffer lies in two frames at most.
const frameSize = maxBuffer

func newCache(dev *Device, list *delwri.List, limit int64, memory func(int) ([]byte, func() error, error)) *cache {
	return &cache{dev: dev, list: list, limit: limit, memory: arena{get: memory}, frames: map[int64][]*buffer{}}
}

// lookup finds the buffer at a place, and whether others lie across it.
func (c *cache) lookup(off int64, n int) (b *buffer, across bool) {
	for f := off / frameSize; f <= (off+int64(n)-1)/frameSize; f++ {
		for _, o := range c.frames[f] {
			switch {
			case o.off == off && len(o.data) == n:
				return o, false
			case o.off < off+int64(n) && off < o.end():
				across = true
			}
		}
	}
	return nil, across
}

// ahead starts reading a block that will be wanted, unless it is there. It does
// not if there is no room: to make some would be to let go of blocks that are
// wanted earlier.
func (c *cache) ahead(off int64, n int) (room bool, err error) {
	if b, across := c.lookup(off, n); b != nil || across {
		return true, nil
	}
	if c.bytes+int64(n) > c.limit {
		return false, nil
	}
	_, err = c.start(off, n)
	return true, err
}

// get returns the block at a place, from disk if it has to.
func (c *cache) get(off int64, n int) (*buffer, error) {
	b, err := c.find(off, n)
	if err != nil {
		return nil, err
	}
	if b == nil {
		if b, err = c.start(off, n); err != nil {
			return nil, err
		}
	}
	if err := c.wait(b); err != nil {
		return nil, err
	}
	return b, nil
}

// peek returns n bytes at a place from whatever buffer has them, else from
// that of the block around them.
func (c *cache) peek(off int64, n int, block int64, size int) ([]byte, error) {
	for _, o := range c.frames[off/frameSize] {
		if o.off <= off && off+int64(n) <= o.end() {
			return o.data[off-o.off:][:n], c.wait(o)
		}
	}
	b, err := c.get(block, size)
	if err != nil {
		return nil, err
	}
	return b.data[off-block:][:n], nil
}

// fresh returns the block at a place with nothing but zeros in it.
func (c *cache) fresh(off int64, n int) (*buffer, error) {
	b, err := c.find(off, n)
	if err != nil {
		return nil, err
	}
	if b == nil {
		if b, err = c.add(off, n); err != nil {
			return nil, err
		}
	} else if err := c.wait(b); err != nil {
		return nil, err
	}
	clear(b.data)
	return b, nil
}

// find is lookup for one that will be used: buffers that lie across it, since
// what is there had another size before, are written and let go of.
func (c *cache) find(off int64, n int) (*buffer, error) {
	b, across := c.lookup(off, n)
	if !across {
		return b, nil
	}
	return nil, c.empty()
}

// add makes a buffer, after making room for it.
func (c *cache) add(off int64, n int) (*buffer, error) {
	if c.bytes+int64(n) > c.limit {
		if err := c.empty(); err != nil {
			return nil, err
		}
	}
	data, err := c.memory.take(n)
	if err != nil {
		return nil, err
	}
	b := &buffer{off: off, data: data}
	for f := off / frameSize; f <= (b.end()-1)/frameSize; f++ {
		c.frames[f] = append(c.frames[f], b)
	}
	c.bytes += int64(n)
	if c.noting {
		c.seen = append(c.seen, Span{off, int64(n)})
	}
	return b, nil
}

// start begins to read a block.
func (c *cache) start(off int64, n int) (*buffer, error) {
	b, err := c.add(off, n)
	if err != nil {
		return nil, err
	}
	b.pending = true
	c.reading++
	c.stats.Reads++
	err = c.dev.Ring.Read(off, [][]byte{b.data}, func(err error) {
		b.pending, b.err = false, err
		c.reading--
	})
	if err != nil {
		b.pending = false
		c.reading--
		return nil, fmt.Errorf("reading %d bytes at byte %d: %w", n, off, err)
	}
	return b, nil
}

func (c *cache) wait(b *buffer) error {
	for b.pending {
		if err := c.dev.Ring.Reap(1); err != nil {
			return err
		}
	}
	return b.err
}

// mark says that a buffer was changed by a checkpoint, and what it is now.
func (c *cache) mark(b *buffer, lsn xlog.LSN, kind *ondisk.Described) {
	b.lsn, b.kind = lsn, kind
	if !b.touched {
		b.touched = true
		c.touched = append(c.touched, b)
	}
	c.rewrite(b)
}

// rewrite says that a buffer was changed, but not by the log.
func (c *cache) rewrite(b *buffer) {
	if !b.dirty {
		b.dirty = true
		c.dirty = append(c.dirty, b)
	}
}

// endCheckpoint notes in all buffers that a checkpoint has changed that it
// has, so that they need not be replayed once they are on disk.
func (c *cache) endCheckpoint() {
	for _, b := range c.touched {
		b.touched = false
		if b.kind != nil {
			b.kind.SetLSN(b.data, uint64(b.lsn))
		}
	}
	c.touched = c.touched[:0]
}

// flush writes what was changed. Within a checkpoint that is harmless: a block
// keeps the number of the change before, so that it would be replayed again.
func (c *cache) flush() error {
	if c.list == nil {
		return nil
	}
	for _, b := range c.dirty {
		if b.kind != nil {
			ondisk.Seal(b.data, b.kind.CRC)
		}
		c.list.Add(&delwri.Buffer{Off: b.off, Data: b.data, Place: c.dev.place(b)})
		b.dirty = false
	}
	c.stats.Written += int64(len(c.dirty))
	c.dirty = c.dirty[:0]
	return c.list.Submit()
}

// empty writes what was changed and lets go of everything.
func (c *cache) empty() error {
	for c.reading > 0 {
		if err := c.dev.Ring.Reap(c.reading); err != nil {
			return err
		}
	}
	if c.list == nil && len(c.dirty) > 0 {
		return fmt.Errorf("%w: %d bytes of blocks, or more, would have to be kept in memory", ErrTooLarge, c.bytes)
	}
	if err := c.flush(); err != nil {
		return err
	}
	// What the checkpoint has touched so far keeps its old number.
	for _, b := range c.touched {
		b.touched = false
	}
	c.touched = c.touched[:0]
	clear(c.frames)
	c.bytes = 0
	c.memory.reset()
	return nil
}
