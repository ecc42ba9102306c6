package recovery

import (
	"errors"
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
	"mkfs/internal/xlog"
)

// blocks are the blocks of the filesystem that are in memory, and what the log has
// changed in them. Items that touch the same block share it.
//
// A block that is got or made stays in memory until letGo.
type blocks struct {
	*buffer.Cache
	held    []*buffer.Buf
	touched []change            // by the checkpoint being replayed
	last    map[*buffer.Buf]int // of those, the number of each block
	kinds   map[*ondisk.Described]*buffer.Kind
	seen    []Span // all places that had a block, if that is noted
	stats   Stats
}

// change is a block that a checkpoint has changed.
type change struct {
	b    *buffer.Buf
	lsn  xlog.LSN          // of that checkpoint
	kind *ondisk.Described // nil for one without a number
}

// unknown is a block that is written as it is.
var unknown = &buffer.Kind{Name: "block"}

// newBlocks makes those of a device. agOf names the AG of a byte.
func newBlocks(opts *Options, agOf func(off int64) int64) *blocks {
	c := &blocks{last: map[*buffer.Buf]int{}, kinds: map[*ondisk.Described]*buffer.Kind{}}
	cfg := buffer.Config{
		Device: opts.Data.Name, Limit: opts.Limit, Age: buffer.AtEnd, Depth: opts.Depth, ReadOnly: opts.DryRun, Memory: opts.Memory,
		Place: agOf,
	}
	if opts.DryRun && opts.Look != nil {
		cfg.Seen = func(off int64, n int) { c.seen = append(c.seen, Span{off, int64(n)}) }
	}
	c.Cache = buffer.New(opts.Data.Ring, cfg)
	return c
}

// kind is a block that the table of described ones has; unknown for nil.
func (c *blocks) kind(d *ondisk.Described) *buffer.Kind {
	if d == nil {
		return unknown
	}
	k := c.kinds[d]
	if k == nil {
		crc := d.CRC
		k = &buffer.Kind{Name: d.Name, Seal: func(b []byte) { ondisk.Seal(b, crc) }}
		c.kinds[d] = k
	}
	return k
}

// get returns the block at a place, from disk if it has to.
func (c *blocks) get(off int64, n int) (*buffer.Buf, error) { return c.hold(c.Get(off, n, unknown)) }

// fresh returns the block at a place with nothing but zeros in it.
func (c *blocks) fresh(off int64, n int) (*buffer.Buf, error) {
	return c.hold(c.Fresh(off, n, unknown))
}

func (c *blocks) hold(b *buffer.Buf, err error) (*buffer.Buf, error) {
	if errors.Is(err, buffer.ErrFull) {
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if err == nil {
		c.held = append(c.held, b)
	}
	return b, err
}

// letGo unpins what was got.
func (c *blocks) letGo() {
	for i, b := range c.held {
		c.Unpin(b)
		c.held[i] = nil
	}
	c.held = c.held[:0]
}

// peek returns n bytes at a place from whatever block has them, else from
// that of the block around them.
func (c *blocks) peek(off int64, n int, block int64, size int) ([]byte, error) {
	if p, err := c.Peek(off, n); p != nil {
		return p, err
	}
	b, err := c.get(block, size)
	if err != nil {
		return nil, err
	}
	return b.Data[off-block:][:n], nil
}

// mark says that a block was changed by a checkpoint, and what it is now.
func (c *blocks) mark(b *buffer.Buf, lsn xlog.LSN, kind *ondisk.Described) {
	i, ok := c.last[b]
	if !ok {
		i = len(c.touched)
		c.touched = append(c.touched, change{})
		c.last[b] = i
	}
	c.touched[i] = change{b, lsn, kind}
	c.rewrite(b, kind)
}

// rewrite says that a block was changed, but not by the log.
func (c *blocks) rewrite(b *buffer.Buf, kind *ondisk.Described) {
	b.Kind = c.kind(kind)
	c.Dirty(b)
}

// endCheckpoint notes in all blocks that a checkpoint has changed that it
// has, so that they need not be replayed once they are on disk. One that had to
// be written before keeps its old number there, and would be replayed.
func (c *blocks) endCheckpoint() {
	for _, t := range c.touched {
		if t.kind != nil && c.Pin(t.b) {
			c.Dirty(t.b)
			t.kind.SetLSN(t.b.Data, uint64(t.lsn))
			c.Unpin(t.b)
		}
	}
	clear(c.touched)
	clear(c.last)
	c.touched = c.touched[:0]
}

// counts are the work so far.
func (c *blocks) counts() Stats {
	s, of := c.stats, c.Stats()
	s.Reads, s.Written = of.Reads, of.Writes
	return s
}
