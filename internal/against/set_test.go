package against

import (
	"math/rand/v2"
	"testing"
)

// A set has what was added, wherever the numbers are and wherever one looks from.
func TestSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s set
	for range 2 {
		has := map[uint64]bool{}
		bases := []uint64{0, maxLow*64 - 100, 1 << 40}
		for range 2000 {
			n := bases[random.IntN(len(bases))] + random.Uint64N(300)
			if s.add(n) == has[n] {
				t.Fatalf("%d is new, or not, where it is the other", n)
			}
			has[n] = true
			from := n - min(n, random.Uint64N(100))
			bits := s.from(from)
			for i := range uint64(64) {
				if (bits>>i&1 != 0) != has[from+i] || s.has(from+i) != has[from+i] {
					t.Fatalf("%d, from %d on: %v", from+i, from, !has[from+i])
				}
			}
		}
		s.reset()
		if s.from(0) != 0 || s.from(1<<40) != 0 {
			t.Error("it is not empty")
		}
	}
}
