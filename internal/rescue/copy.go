package rescue

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mkfs/internal/recovery"
)

// chunk is how much is read at once.
const chunk = 512 << 10

// Copy reads spans, which are in order and multiples of 4096 bytes but at the end of
// the device, and writes all of them that is not zero to the same place of to,
// which reads as zeros. As many reads and writes as depth are in flight. It
// is durable when Copy returns. progress, which may be nil, counts bytes.
func Copy(ctx context.Context, from, to recovery.Device, spans []recovery.Span, opts CopyOptions) (written int64,
	err error) {
	c := &copier{ctx: ctx, from: from, to: to, total: Bytes(spans), CopyOptions: opts}
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	defer c.release()
	first, rest := split(spans)
	for _, c.spans = range [][]recovery.Span{rest, first} {
		if err := c.run(); err != nil {
			return c.written, err
		}
		if err := to.Ring.Sync(); err != nil {
			return c.written, fmt.Errorf("%s: flushing: %w", to.Name, err)
		}
	}
	return c.written, nil
}

// split takes the start of the device off: with the superblock a copy looks
// complete, so that comes last.
func split(spans []recovery.Span) (first, rest []recovery.Span) {
	if len(spans) == 0 || spans[0].Off != 0 {
		return nil, spans
	}
	n := min(Unit, spans[0].Len)
	first = []recovery.Span{{Off: 0, Len: n}}
	if rest = slices.Clone(spans); n == rest[0].Len {
		return first, rest[1:]
	}
	rest[0] = recovery.Span{Off: n, Len: rest[0].Len - n}
	return first, rest
}

// CopyOptions say how to copy.
type CopyOptions struct {
	Depth    int // reads in flight, at least 1
	Memory   func(size int) (slab []byte, release func() error, err error)
	Progress func(done, total int64)
}

// piece is a part of a span on its way.
type piece struct {
	buf     []byte
	off     int64
	n       int
	writing int // writes in flight
	err     error
}

type copier struct {
	CopyOptions
	ctx      context.Context
	from, to recovery.Device
	spans    []recovery.Span
	total    int64
	done     int64 // bytes read
	written  int64

	made, reading, writing int      // pieces made; reads and writes in flight
	free, read             []*piece // read: and not yet written
	failed                 error    // the first write that failed
	releases               []func() error
}

func (c *copier) run() error {
	for {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		if err := c.fill(); err != nil {
			return err
		}
		if err := c.write(); err != nil {
			return err
		}
		c.Progress(c.done, c.total)
		switch {
		case c.reading > 0:
			if err := c.to.Ring.Reap(0); err != nil {
				return fmt.Errorf("%s: %w", c.to.Name, err)
			}
			if err := c.from.Ring.Reap(1); err != nil {
				return fmt.Errorf("%s: %w", c.from.Name, err)
			}
		case c.writing > 0:
			if err := c.to.Ring.Reap(1); err != nil {
				return fmt.Errorf("%s: %w", c.to.Name, err)
			}
		case len(c.spans) == 0:
			return c.failed
		}
		if c.failed != nil {
			return c.failed
		}
	}
}

// fill starts as many reads as there are pieces for.
func (c *copier) fill() error {
	for len(c.spans) > 0 {
		p, err := c.take()
		if p == nil || err != nil {
			return err
		}
		s := &c.spans[0]
		p.off, p.n, p.err = s.Off, int(min(chunk, s.Len)), nil
		c.reading++
		err = c.from.Ring.Read(p.off, [][]byte{p.buf[:p.n]}, func(err error) {
			c.reading--
			p.err = err
			c.read = append(c.read, p)
		})
		if err != nil {
			c.reading--
			return fmt.Errorf("%s: reading %d bytes at byte %d: %w", c.from.Name, p.n, p.off, err)
		}
		if s.Off, s.Len = s.Off+int64(p.n), s.Len-int64(p.n); s.Len == 0 {
			c.spans = c.spans[1:]
		}
	}
	return nil
}

// take returns a piece that is free, nil if all are on their way.
func (c *copier) take() (*piece, error) {
	if n := len(c.free); n > 0 {
		p := c.free[n-1]
		c.free = c.free[:n-1]
		return p, nil
	}
	if c.made >= max(1, c.Depth) {
		return nil, nil
	}
	buf, release, err := c.Memory(chunk)
	if err != nil {
		return nil, err
	}
	c.made++
	c.releases = append(c.releases, release)
	return &piece{buf: buf}, nil
}

// write starts to write what was read.
func (c *copier) write() error {
	list := c.read
	c.read = nil
	for _, p := range list {
		if p.err != nil {
			return fmt.Errorf("%s: %w", c.from.Name, p.err)
		}
		c.done += int64(p.n)
		if err := c.writePiece(p); err != nil {
			return err
		}
	}
	return nil
}

// writePiece writes the runs of a piece that are not zero.
func (c *copier) writePiece(p *piece) error {
	p.writing = 1 // until all are started
	for at := 0; at < p.n; {
		from, to := run(p.buf[:p.n], at)
		if at = to; from == to {
			break
		}
		p.writing++
		c.writing++
		c.written += int64(to - from)
		err := c.to.Ring.Write(p.off+int64(from), [][]byte{p.buf[from:to]}, func(err error) {
			c.writing--
			if err != nil && c.failed == nil {
				c.failed = fmt.Errorf("%s: %w", c.to.Name, err)
			}
			c.letGo(p)
		})
		if err != nil {
			c.writing--
			return fmt.Errorf("%s: writing %d bytes at byte %d: %w", c.to.Name, to-from, p.off+int64(from), err)
		}
	}
	c.letGo(p)
	return nil
}

func (c *copier) letGo(p *piece) {
	if p.writing--; p.writing == 0 {
		c.free = append(c.free, p)
	}
}

var zeros [Unit]byte

// run is the first run of units in b from at on that are not all zero; both are len(b) if there is none.
func run(b []byte, at int) (from, to int) {
	zero := func(i int) bool { u := b[i:min(i+Unit, len(b))]; return bytes.Equal(u, zeros[:len(u)]) }
	for at < len(b) && zero(at) {
		at += Unit
	}
	from = min(at, len(b))
	for at < len(b) && !zero(at) {
		at += Unit
	}
	return from, min(at, len(b))
}

// release waits for all that is in flight and gives the memory back.
func (c *copier) release() {
	_ = c.from.Ring.Reap(1 << 30) // what they fail with has been said
	_ = c.to.Ring.Reap(1 << 30)
	for _, f := range c.releases {
		_ = f() // nothing else can be done with it
	}
}
