package ondisk

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// Search finds the first of the entries whose hash is not below one, however many there are of it.
func TestHashesSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 1100 {
		if n > 300 {
			n = 300 + random.IntN(8000)
		}
		list, h := make([]uint32, n), make(Hashes, n*HashSize)
		most := []uint32{3, uint32(n) + 1, 1 << 31}[random.IntN(3)]
		for i := range list {
			list[i] = random.Uint32N(most) * (^uint32(0) / most)
		}
		slices.Sort(list)
		for i, hash := range list {
			h.Put(i, hash, 0)
		}
		for range 20 {
			hash := random.Uint32()
			if n > 0 && random.IntN(4) > 0 {
				hash = list[random.IntN(n)] + random.Uint32N(3) - 1
			}
			want := sort.Search(n, func(i int) bool { return list[i] >= hash })
			if got := h.Search(n, hash); got != want {
				t.Fatalf("%#x among %d: %d, want %d", hash, n, got, want)
			}
		}
	}
}

func BenchmarkHashesSearch(b *testing.B) {
	const n = 500
	for _, blocks := range []int{1, 10000} {
		b.Run(map[int]string{1: "in the cache", 10000: "in memory"}[blocks], func(b *testing.B) {
			all := make(Hashes, blocks*n*HashSize)
			for i := range blocks * n {
				all.Put(i, uint32(i%n)<<23, 0)
			}
			x := uint32(1)
			for b.Loop() {
				x = x*1664525 + 1013904223
				from := int(uint64(x)*uint64(blocks)>>32) * n * HashSize
				all[from:from+n*HashSize].Search(n, x*2654435761)
			}
		})
	}
}
