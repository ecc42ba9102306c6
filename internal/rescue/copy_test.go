package rescue

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"mkfs/internal/recovery"
)

var errFault = errors.New("a fault")

// memRing is a device in memory: requests end in any order, when they are reaped.
type memRing struct {
	b             []byte
	rand          *rand.Rand
	flying        []func()
	most          int
	writes, syncs int
	order         []int64            // offsets of writes; -1 is a flush
	sees          func(off, n int64) // each read; nil for nobody
	failRead      int64              // the read of this byte fails; 0 for none
	failWrite     int                // the write that fails, from 1
	err           error
}

func (r *memRing) request(do func() error, done func(error)) error {
	if r.err != nil {
		return r.err
	}
	r.flying = append(r.flying, func() {
		err := do()
		if err != nil && r.err == nil {
			r.err = err
		}
		done(err)
	})
	r.most = max(r.most, len(r.flying))
	return nil
}

func (r *memRing) Read(off int64, vec [][]byte, done func(error)) error {
	p := vec[0]
	if r.sees != nil {
		r.sees(off, int64(len(p)))
	}
	return r.request(func() error {
		if r.failRead != 0 && off <= r.failRead && r.failRead < off+int64(len(p)) {
			return errFault
		}
		copy(p, r.b[off:])
		return nil
	}, done)
}

func (r *memRing) Write(off int64, vec [][]byte, done func(error)) error {
	r.writes++
	bad := r.writes == r.failWrite
	vec = slices.Clone(vec)
	return r.request(func() error {
		if bad {
			return errFault
		}
		at := off
		for _, p := range vec {
			at += int64(copy(r.b[at:], p))
		}
		r.order = append(r.order, off)
		return nil
	}, done)
}

func (r *memRing) Reap(n int) error {
	for ; n > 0 && len(r.flying) > 0; n-- {
		i := r.rand.IntN(len(r.flying))
		f := r.flying[i]
		r.flying = append(r.flying[:i], r.flying[i+1:]...)
		f()
	}
	return r.err
}

func (r *memRing) Sync() error {
	r.Reap(1 << 30)
	r.syncs++
	r.order = append(r.order, -1)
	return r.err
}

func memory(n int) ([]byte, func() error, error) {
	b := make([]byte, n)
	return b, func() error { clear(b); return nil }, nil
}

// copies returns two devices; the first has random bytes, and zeros here and there.
func copies(seed uint64) (from, to *memRing, spans []recovery.Span) {
	r := rand.New(rand.NewPCG(seed, 3))
	size := 9*chunk + r.IntN(2*chunk)
	from = &memRing{b: make([]byte, size), rand: r}
	to = &memRing{b: make([]byte, size), rand: r}
	for i := range from.b {
		from.b[i] = byte(r.Uint32() | 1)
	}
	for range 20 {
		at := r.IntN(size)
		clear(from.b[at:min(size, at+r.IntN(10*Unit))])
	}
	cut := int64(3 * chunk)
	return from, to, []recovery.Span{{Off: 0, Len: cut}, {Off: cut + 5*Unit, Len: int64(size) - cut - 5*Unit}}
}

func device(name string, r *memRing) recovery.Device {
	return recovery.Device{Name: name, Ring: r, Size: int64(len(r.b)), Align: 512}
}

func TestCopy(t *testing.T) {
	for seed := range uint64(20) {
		from, to, spans := copies(seed)
		last := int64(-1)
		n, err := Copy(context.Background(), device("from", from), device("to", to), spans, CopyOptions{
			Depth: 4, Memory: memory,
			Progress: func(done, total int64) {
				if total != Bytes(spans) || done < last || done > total {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			},
		})
		if err != nil || n <= 0 || n >= Bytes(spans) || last != Bytes(spans) {
			t.Fatalf("seed %d: %d bytes written, %d bytes read: %v", seed, n, last, err)
		}
		want := bytes.Clone(from.b)
		clear(want[spans[0].End():spans[1].Off])
		if !bytes.Equal(to.b, want) {
			t.Fatalf("seed %d: the copy differs", seed)
		}
		if from.most < 2 || from.most > 4 {
			t.Errorf("seed %d: %d reads were in flight", seed, from.most)
		}
		// The start comes after a flush behind all others.
		o := to.order
		if k := len(o); k < 3 || o[k-1] != -1 || o[k-2] != 0 || o[k-3] != -1 {
			t.Errorf("seed %d: the end is %v", seed, o[max(0, len(o)-4):])
		}
	}
}

func TestCopyFaults(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(from, to *memRing)
		says string
	}{
		"read":  {func(from, _ *memRing) { from.failRead = 2*chunk + 7 }, "from: a fault"},
		"write": {func(_, to *memRing) { to.failWrite = 3 }, "to: a fault"},
	} {
		from, to, spans := copies(5)
		c.set(from, to)
		_, err := Copy(context.Background(), device("from", from), device("to", to), spans, CopyOptions{Depth: 4, Memory: memory})
		if !errors.Is(err, errFault) || err.Error() != c.says {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
		if len(from.flying)+len(to.flying) > 0 || to.b[0] != 0 {
			t.Errorf("%s: requests are in flight, or the start was written", name)
		}
	}
	from, to, spans := copies(6)
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errFault)
	if _, err := Copy(ctx, device("from", from), device("to", to), spans, CopyOptions{Depth: 4, Memory: memory}); !errors.Is(err, errFault) {
		t.Errorf("cancelled: %v", err)
	}
}
