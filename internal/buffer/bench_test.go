package buffer

import (
	"fmt"
	"testing"

	"mkfs/internal/aio/aiotest"
)

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{16, 1024, 15 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			mem := aiotest.NewMem(n * 4096)
			ring, err := aiotest.Open(mem, 1, aiotest.Faults{})
			must(b, err)
			c := New(ring, Config{})
			for i := range n {
				f, err := c.Fresh(int64(i)*4096, 4096, plain)
				must(b, err)
				c.Unpin(f)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % n
				f, err := c.Get(int64(i)*4096, 4096, plain)
				if err != nil {
					b.Fatal(err)
				}
				c.Unpin(f)
			}
		})
	}
}

func BenchmarkDirty(b *testing.B) {
	c, _, _ := setup(b, Config{}, aiotest.Faults{})
	f, err := c.Fresh(0, 4096, plain)
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		c.Dirty(f)
	}
}

// BenchmarkOperation is one that changes five blocks that are in memory: two that all
// operations change, and three of many.
func BenchmarkOperation(b *testing.B) {
	const n = 4096
	mem := aiotest.NewMem(n * 4096)
	ring, err := aiotest.Open(mem, 1, aiotest.Faults{})
	must(b, err)
	c := New(ring, Config{Age: AtEnd})
	for i := range n {
		f, err := c.Fresh(int64(i)*4096, 4096, plain)
		must(b, err)
		c.Unpin(f)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 7919) % (n - 5)
		for _, k := range [5]int{0, 1, i + 2, i + 3, i + 4} {
			f, err := c.Get(int64(k)*4096, 4096, plain)
			if err != nil {
				b.Fatal(err)
			}
			c.Dirty(f)
			c.Unpin(f)
		}
		if err := c.Tick(); err != nil {
			b.Fatal(err)
		}
	}
}
