package rescue

import (
	"math/rand/v2"
	"testing"

	"mkfs/internal/recovery"
)

// without keeps each byte that is not free, and what is kept all the same, and
// leaves out each unit that is free as a whole.
func TestWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		size := int64(1 + r.IntN(40*Unit))
		some := func(n int) (list []recovery.Span, in []bool) {
			in = make([]bool, size)
			for range n {
				off := r.Int64N(size)
				s := recovery.Span{Off: off, Len: r.Int64N(min(8*Unit, size-off) + 1)}
				list = append(list, s)
				for i := s.Off; i < s.End(); i++ {
					in[i] = true
				}
			}
			return list, in
		}
		free, isFree := some(r.IntN(6))
		keep, kept := some(r.IntN(3))
		spans := without(size, free, keep)
		copied := make([]bool, size)
		at := int64(-1)
		for _, s := range spans {
			if s.Off <= at || s.Len <= 0 || s.End() > size || s.Off%Unit != 0 || s.End()%Unit != 0 && s.End() != size {
				t.Fatalf("%d bytes: spans %v", size, spans)
			}
			at = s.End()
			for i := s.Off; i < s.End(); i++ {
				copied[i] = true
			}
		}
		for u := int64(0); u < size; u += Unit {
			need := false
			for i := u; i < min(u+Unit, size); i++ {
				need = need || !isFree[i] || kept[i]
			}
			if need != copied[u] {
				t.Fatalf("%d bytes, free %v, keep %v: the unit at byte %d is copied: %v; spans %v", size, free, keep, u, copied[u], spans)
			}
		}
	}
}
