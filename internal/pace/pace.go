// Package pace cuts long work on a range of bytes into pieces that take about a
// second each, whatever the device. A system call cannot be stopped half way: so
// long may a signal have to wait, and so often progress shows.
package pace

import (
	"context"
	"time"
)

// Second is how long a piece may take; one that took less than an eighth of it
// is followed by one eight times as long.
const Second = time.Second

const growth = 8

// Limits are the least and the most bytes of a piece. All but the last are
// multiples of Least.
type Limits struct{ Least, Most int64 }

// Zeroing begins with what a device that writes 1 MiB a second does in a second.
// The most is so much that no call is saved by more, and so little that a device
// whose cache is full does not surprise.
var Zeroing = Limits{1 << 20, 256 << 20}

// Each does a range piece by piece, from its start, until there is an error or ctx
// ends.
func (l Limits) Each(ctx context.Context, off, n int64, do func(off, n int64) error) error {
	step := l.Least
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := min(step, n)
		started := time.Now()
		if err := do(off, piece); err != nil {
			return err
		}
		step = l.next(step, time.Since(started))
		off, n = off+piece, n-piece
	}
	return nil
}

// next is how long the piece after one of step bytes is, which took so long.
func (l Limits) next(step int64, took time.Duration) int64 {
	if took < Second/growth {
		return max(l.Least, min(l.Most/l.Least, step/l.Least*growth)*l.Least)
	}
	for ; took > Second && step > l.Least; took /= 2 {
		step /= 2
	}
	return max(1, step/l.Least) * l.Least
}
