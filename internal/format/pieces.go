package format

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mkfs/internal/pace"
)

// A piece that is discarded is never longer than this, nor than the second if
// there is a limit of time, which only counts between two of them.
const mostDiscarded, mostLimited = 2 << 30, 128 << 20

// errLate ends discarding when its time is over.
var errLate = errors.New("the time to discard is over")

// discard tells the devices that what they hold is of no more use. That is a
// favour to them: an error ends it, as does the limit, and is otherwise ignored.
func (w *writer) discard(ctx context.Context) error {
	if !w.Discard {
		return nil
	}
	started := time.Now()
	late := func() bool { return w.DiscardLimit > 0 && time.Since(started) >= w.DiscardLimit }
	for _, d := range []Device{w.Data, w.Realtime, w.Log} {
		if d == nil {
			continue
		}
		size := d.Size()
		if d == w.Data {
			size = min(size, w.dataSize())
		}
		_ = w.discardDevice(ctx, d, size, late)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// discardDevice discards the first size bytes of a device, until it is late. What
// a device discards in units it ignores of a piece that is none.
func (w *writer) discardDevice(ctx context.Context, d Device, size int64, late func() bool) error {
	l := pace.Limits{Least: pace.Zeroing.Least, Most: mostDiscarded}
	if w.DiscardLimit > 0 {
		l.Most = mostLimited
	}
	if unit := d.DiscardUnit(); unit > 0 {
		l.Least = (l.Least + unit - 1) / unit * unit
		l.Most = max(l.Least, l.Most)
	}
	return l.Each(ctx, 0, size, func(off, n int64) error {
		if err := d.Discard(off, n); err != nil {
			return err
		}
		w.step(PhaseDiscard, off+n, size)
		if rest := size - off - n; rest > 0 && late() {
			w.undiscarded += rest
			return errLate
		}
		return nil
	})
}

// zeroLog makes the log's whole area read as zeros: its head is found by the
// cycle numbers in it.
func (w *writer) zeroLog(ctx context.Context) error {
	g := w.Geometry
	d, start, size := w.Data, int64(0), int64(g.Bytes(g.Log.Blocks))
	if w.Log != nil {
		d = w.Log
	} else {
		start = int64(g.Offset(g.Log.AG, g.Log.Start))
	}
	return pace.Zeroing.Each(ctx, start, size, func(off, n int64) error {
		if err := d.Zero(off, n); err != nil {
			return fmt.Errorf("%s: zeroing the log, %d bytes at byte %d: %w", d.Name(), n, off, err)
		}
		w.step(PhaseLog, off+n-start, size)
		return nil
	})
}
