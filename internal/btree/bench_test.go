package btree

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"mkfs/internal/live"
)

// bench is a tree of two levels and blocks of 4 KiB, and its records in an order that is none.
func bench(b *testing.B, k *Kind) (*live.FS, *Tree, [][]byte) {
	b.Helper()
	fs, _ := small(true, 12)
	tr, trans := start(b, fs, k, 300)
	const n = 20000
	fill(b, tr, trans, n)
	if err := trans.Commit(); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([][]byte, 4096)
	for i := range list {
		list[i] = k.sample(rng.IntN(n), 1)
	}
	return fs, tr, list
}

func each(b *testing.B, do func(b *testing.B, fs *live.FS, tr *Tree, list [][]byte)) {
	for _, k := range []*Kind{Bnobt, Cntbt, Inobt, Rmapbt, Bmbt} {
		b.Run(k.Name, func(b *testing.B) {
			fs, tr, list := bench(b, k)
			b.ReportAllocs()
			b.ResetTimer()
			before := user(b)
			do(b, fs, tr, list)
			b.ReportMetric(float64(user(b)-before)/float64(b.N), "user-ns/op") // on a machine that has other things to do
		})
	}
}

// A lookup with a new cursor in a new transaction.
func BenchmarkLookup(b *testing.B) {
	each(b, func(b *testing.B, fs *live.FS, tr *Tree, list [][]byte) {
		for i := range b.N {
			trans := fs.Begin(0)
			var c Cursor
			c.Init(tr, trans)
			if _, err := c.Lookup(EQ, list[i%len(list)]); err != nil {
				b.Fatal(err)
			}
			if err := trans.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A lookup, and then the record is deleted, or if there is none inserted.
func BenchmarkChange(b *testing.B) {
	each(b, func(b *testing.B, fs *live.FS, tr *Tree, list [][]byte) {
		for i := range b.N {
			trans := fs.Begin(0)
			var c Cursor
			c.Init(tr, trans)
			r := list[i%len(list)]
			there, err := c.Lookup(EQ, r)
			if there {
				err = c.Delete()
			} else if err == nil {
				_, err = c.Insert(r)
			}
			if err == nil {
				err = trans.Commit()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRecords(b *testing.B) {
	each(b, func(b *testing.B, fs *live.FS, tr *Tree, list [][]byte) {
		trans := fs.Begin(0)
		for range b.N {
			n := 0
			for _, err := range tr.Records(trans) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.SetBytes(int64(n)) // MB/s is millions of records each second
		}
	})
}

// user is the processor time that the process has used.
func user(b *testing.B) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return r.Utime.Nano()
}
