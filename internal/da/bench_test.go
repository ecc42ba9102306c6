package da

import (
	"fmt"
	"syscall"
	"testing"
)

// user is the user time of the process so far, in ns: what is measured on a machine that others
// use as well.
func user() int64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r.Utime.Nano()
}

// perOp reports the user time of each of b's operations since start.
func perOp(b *testing.B, start int64) {
	b.ReportMetric(float64(user()-start)/float64(b.N), "user-ns/op")
}

// two is a tree of two levels with so many blocks of 4 KiB, all in memory.
func two(t testing.TB, leaves int) (*world, uint32) {
	w := newWorld(t, shape{block: 4096, bytes: 4096})
	n := uint32(0)
	for w.blocks() < leaves+1 {
		n++
		if ok, err := w.insert(record{n * 2654435761, n}, false); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	return w, n
}

func BenchmarkLookup(b *testing.B) {
	for _, leaves := range []int{10, 300} {
		b.Run(fmt.Sprint(leaves), func(b *testing.B) {
			w, n := two(b, leaves)
			o := &operation{}
			b.ReportAllocs()
			defer perOp(b, user())
			for i := uint32(0); b.Loop(); i++ {
				tx := w.fs.Begin(0)
				k := i*40503%n + 1
				o.record = record{k * 2654435761, k}
				w.s.Begin(w.tr, tx, w.ip, o, o.hash, 0)
				if found, err := w.s.Lookup(); !found || err != nil {
					b.Fatal(found, err)
				}
				if err := tx.Commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInsert(b *testing.B) {
	w, n := two(b, 3)
	b.ReportAllocs()
	defer perOp(b, user())
	for b.Loop() {
		n++
		if n%100000 == 0 { // it is large enough
			b.StopTimer()
			w.begin(shape{block: 4096, bytes: 4096})
			b.StartTimer()
		}
		if ok, err := w.insert(record{n * 2654435761, n}, false); !ok || err != nil {
			b.Fatal(n, ok, err)
		}
	}
}

// A lookup takes no memory.
func TestLookupAllocates(t *testing.T) {
	w, n := two(t, 5)
	o := &operation{}
	k := uint32(0)
	if got := testing.AllocsPerRun(1000, func() {
		k = k%n + 1
		o.record = record{k * 2654435761, k}
		tx := w.fs.Begin(0)
		w.s.Begin(w.tr, tx, w.ip, o, o.hash, 0)
		if found, err := w.s.Lookup(); !found || err != nil {
			t.Fatal(found, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("%v allocations", got)
	}
}
