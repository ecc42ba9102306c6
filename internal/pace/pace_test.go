package pace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

const mib = 1 << 20

// run zeroes n bytes of a device of so many bytes a second, and tells how many
// pieces it took and the longest time of one.
func run(l Limits, n int64, rate func(off int64) int64) (pieces int, longest time.Duration) {
	end := int64(7)
	err := l.Each(context.Background(), 7, n, func(off, n int64) error {
		if off != end || n <= 0 {
			panic("a piece is out of order")
		}
		took := time.Duration(float64(n) / float64(rate(off)) * float64(time.Second))
		time.Sleep(took)
		pieces, longest, end = pieces+1, max(longest, took), off+n
		return nil
	})
	if err != nil || end != 7+n {
		panic("not all was done")
	}
	return pieces, longest
}

func TestRates(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    func(int64) int64
		pieces  int // at most, for 2 GiB
		longest time.Duration
	}{
		{"1 MiB/s", func(int64) int64 { return mib }, 2048, time.Second},
		{"100 MiB/s", func(int64) int64 { return 100 * mib }, 40, time.Second},
		{"at once", func(int64) int64 { return 1 << 60 }, 12, time.Millisecond},
		{"a cache of 512 MiB", func(off int64) int64 {
			if off < 512*mib {
				return 1 << 40
			}
			return 64 * mib
		}, 40, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			pieces, longest := run(Zeroing, 2<<30, c.rate)
			if pieces > c.pieces || longest > c.longest {
				t.Errorf("%s: %d pieces, the longest takes %v", c.name, pieces, longest)
			}
		})
	}
}

// Whatever the times, pieces are multiples of the least, but for the last, and
// within the limits.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Least: rapid.Int64Range(1, 9*mib).Draw(t, "least")}
		l.Most = l.Least + rapid.Int64Range(0, 1<<34).Draw(t, "more")
		step := l.Least
		for range 20 {
			step = l.next(step, time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")))
			if step < l.Least || step > l.Most || step%l.Least != 0 {
				t.Fatalf("%+v: a piece of %d", l, step)
			}
		}
	})
}

func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	full := errors.New("full")
	calls := 0
	err := Zeroing.Each(ctx, 0, 1<<40, func(int64, int64) error { calls++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if err := Zeroing.Each(context.Background(), 0, 5, func(int64, int64) error { return full }); err != full {
		t.Error(err)
	}
	if err := Zeroing.Each(context.Background(), 0, 0, func(int64, int64) error { return full }); err != nil {
		t.Error(err)
	}
}
