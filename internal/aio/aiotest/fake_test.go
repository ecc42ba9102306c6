package aiotest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"mkfs/internal/aio"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func drawFaults(t *rapid.T) (uint64, Faults) {
	percent := rapid.IntRange(0, 90)
	return rapid.Uint64().Draw(t, "seed"), Faults{
		Depth: rapid.IntRange(1, 40).Draw(t, "depth"),
		Short: percent.Draw(t, "short"),
		Retry: rapid.IntRange(0, 40).Draw(t, "retry"),
		Busy:  percent.Draw(t, "busy"),
		Now:   percent.Draw(t, "now"),
	}
}

// Whatever the order, the shortness and the retries: the store ends up as if
// every request had been a plain copy, and reads see what is there.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 1 << 14
		seed, f := drawFaults(t)
		store, model := NewMem(size), make([]byte, size)
		r, err := Open(store, seed, f)
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		taken, ran := 0, 0
		held := make([]bool, size) // bytes of the store in flight
		for range rapid.IntRange(0, 80).Draw(t, "requests") {
			off := rapid.IntRange(0, size-1).Draw(t, "off")
			n := rapid.IntRange(1, min(size-off, 2000)).Draw(t, "len")
			read := rapid.Bool().Draw(t, "read")
			for i := off; i < off+n; i++ {
				if held[i] { // overlap: the contract wants a barrier
					if err := r.Reap(taken - ran); err != nil {
						t.Fatal(err)
					}
					clear(held)
					break
				}
			}
			for i := off; i < off+n; i++ {
				held[i] = true
			}
			taken++
			if read {
				got, want := make([]byte, n), bytes.Clone(model[off:off+n])
				err = r.Read(int64(off), cut(rnd, got, 1+rnd.IntN(4)), func(err error) {
					ran++
					if err != nil || !bytes.Equal(got, want) {
						t.Fatalf("read of %d at %d: %v, or wrong data", n, off, err)
					}
				})
			} else {
				data := noise(rnd, n)
				copy(model[off:], data)
				vec := cut(rnd, data, 1+rnd.IntN(4))
				err = r.Write(int64(off), vec, func(err error) {
					ran++
					if err != nil {
						t.Fatal(err)
					}
				})
				clear(vec) // the pieces are the ring's, their slice is not
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := r.Stats().PeakDepth; n > f.Depth {
				t.Fatalf("%d in flight, depth %d", n, f.Depth)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if taken != ran {
			t.Fatalf("%d taken, %d done", taken, ran)
		}
		if !bytes.Equal(store.B, model) {
			t.Fatal("store differs from the model")
		}
	})
}

// With one failure: every request that was taken is done once, those that
// report success are on the store, the first error is the one injected, and
// (checked by the fake itself) nothing is started after it.
func TestFailNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n, slot = 60, 512
		seed, f := drawFaults(t)
		bad := int64(-1)
		switch rapid.IntRange(0, 1).Draw(t, "fault") {
		case 0:
			f.FailWrite = rapid.IntRange(1, n).Draw(t, "n")
		case 1:
			bad = rapid.Int64Range(0, n*slot-1).Draw(t, "bad")
			f.BadFrom, f.BadTo = bad, bad+1
		}
		store := NewMem(n * slot)
		r, err := Open(store, seed, f)
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		taken, ran := 0, 0
		var first error
		for i := range n {
			data := noise(rnd, slot)
			err := r.Write(int64(i*slot), [][]byte{data}, func(err error) {
				ran++
				if err == nil && !bytes.Equal(store.B[i*slot:(i+1)*slot], data) {
					t.Fatalf("request %d reports success and is not there", i)
				}
				if err != nil && first == nil {
					first = err
				}
			})
			if err != nil {
				break
			}
			taken++
		}
		err = r.Close()
		if taken != ran {
			t.Fatalf("%d taken, %d done", taken, ran)
		}
		if !errors.Is(err, unix.EIO) || err != first {
			t.Fatalf("Close returned %v, the first done with an error got %v", err, first)
		}
		if e := err.(*aio.Error); bad >= 0 && e.Off != bad {
			t.Fatalf("error at byte %d, want %d", e.Off, bad)
		}
	})
}

func TestFakeFaults(t *testing.T) {
	open := func(f Faults) *aio.Ring {
		r, err := Open(NewMem(4096), 1, f)
		must(t, err)
		return r
	}
	r := open(Faults{FailRead: 2, Errno: unix.ENXIO})
	for i := range int64(3) {
		must(t, r.Read(i, [][]byte{{1}}, nil))
	}
	if err := r.Close(); !errors.Is(err, unix.ENXIO) || err.(*aio.Error).Off != 1 {
		t.Error(err)
	}
	r = open(Faults{FailSync: 2})
	must(t, r.Sync())
	if err := r.Sync(); !errors.Is(err, unix.EIO) {
		t.Error(err)
	}
	r = open(Faults{})
	must(t, r.Write(4000, [][]byte{make([]byte, 100)}, nil))
	if err := r.Reap(1); !errors.Is(err, unix.ENOSPC) || err.(*aio.Error).Off != 4096 {
		t.Error(err)
	}
}

// Without any fault it still completes out of order.
func TestFakeOrder(t *testing.T) {
	r, err := Open(NewMem(4096), 1, Faults{})
	must(t, err)
	var order []int
	for i := range 50 {
		must(t, r.Write(int64(i), [][]byte{{1}}, func(error) { order = append(order, i) }))
	}
	must(t, r.Close())
	if slices.IsSorted(order) {
		t.Error("completed in order")
	}
}

// The same seed and calls give the same order.
func TestFakeDeterministic(t *testing.T) {
	run := func(seed uint64) (order []int) {
		r, err := Open(NewMem(4096), seed, Faults{Depth: 20, Short: 50, Retry: 20, Busy: 20, Now: 10})
		must(t, err)
		for i := range 100 {
			must(t, r.Write(int64(i), [][]byte{{1}}, func(error) { order = append(order, i) }))
		}
		must(t, r.Close())
		return order
	}
	a, b, c := run(1), run(1), run(2)
	if !slices.Equal(a, b) {
		t.Error("the same seed gave another order")
	}
	if slices.Equal(a, c) {
		t.Error("another seed gave the same order")
	}
}

func TestFakeCatchesReuse(t *testing.T) {
	r, err := Open(NewMem(4096), 1, Faults{Depth: 8})
	must(t, err)
	defer func() {
		if recover() == nil {
			t.Error("a buffer changed in flight and nobody noticed")
		}
	}()
	b := make([]byte, 512)
	must(t, r.Write(0, [][]byte{b}, nil))
	b[17]++
	r.Reap(1)
}

func noise(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// cut cuts b into pieces, some of them empty.
func cut(rnd *rand.Rand, b []byte, pieces int) [][]byte {
	var vec [][]byte
	for ; pieces > 1; pieces-- {
		n := rnd.IntN(len(b) + 1)
		vec = append(vec, b[:n])
		b = b[n:]
	}
	return append(vec, b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Direct IO that is refused on the way, with requests in flight, loses none of them.
func TestDirectRefusedOnTheWay(t *testing.T) {
	const n, size = 50, 512
	for seed := range uint64(20) {
		for _, from := range []int{1, 7, n} {
			mem := NewMem(n * size)
			r, err := Open(mem, seed, Faults{Depth: 8, NoDirect: from, Short: 20})
			if err != nil {
				t.Fatal(err)
			}
			want := make([]byte, n*size)
			for i := range n {
				p := want[i*size:][:size]
				p[0], p[size-1] = byte(i+1), byte(i+1)
				if err := r.Write(int64(i*size), [][]byte{p}, func(err error) {
					if err != nil {
						t.Errorf("seed %d, refused from %d, write %d: %v", seed, from, i, err)
					}
				}); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mem.B, want) {
				t.Errorf("seed %d, refused from %d: blocks are missing", seed, from)
			}
			if !r.Stats().Buffered {
				t.Errorf("seed %d, refused from %d: Stats do not tell", seed, from)
			}
		}
	}
}

// The ring holds on to a request's memory until it is done, and lets go then.
func TestMemoryLifetime(t *testing.T) {
	r, err := Open(NewMem(4096), 1, Faults{})
	must(t, err)
	held := func() weak.Pointer[byte] {
		b := make([]byte, 4096)
		must(t, r.Write(0, [][]byte{b}, nil))
		return weak.Make(&b[0])
	}()
	runtime.GC()
	if held.Value() == nil {
		t.Error("memory collected in flight")
	}
	must(t, r.Reap(1))
	runtime.GC()
	if held.Value() != nil {
		t.Error("memory held after completion")
	}
	runtime.KeepAlive(r)
}
