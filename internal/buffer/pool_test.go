package buffer

import "testing"

// Memory is asked for in small pieces at first, then in pieces as long as a huge page. Frames share none
// of it, and all of it is given back.
func TestPoolGrows(t *testing.T) {
	asked, released := []int{}, 0
	p := pool{get: func(n int) ([]byte, func() error, error) {
		asked = append(asked, n)
		return make([]byte, n), func() error { released += n; return nil }, nil
	}}
	const size, frames = 4096, (few*slabSize + 2*manySize) / 4096
	seen := map[*byte]bool{}
	var list []frame
	for range frames {
		b, f, err := p.take(size)
		if err != nil || len(b) != size || cap(b) != size || seen[&b[0]] {
			t.Fatalf("%d bytes, room for %d, seen %v: %v", len(b), cap(b), seen[&b[0]], err)
		}
		seen[&b[0]] = true
		list = append(list, f)
	}
	total := 0
	for i, n := range asked {
		total += n
		if i < few && n != slabSize || i >= few && n != manySize {
			t.Errorf("%d bytes are asked for at time %d", n, i)
		}
	}
	if total != frames*size {
		t.Errorf("%d bytes for %d", total, frames*size)
	}
	for _, f := range list {
		p.give(f)
	}
	for range frames / 16 { // of another class
		if b, _, err := p.take(MaxBlock); err != nil || len(b) != MaxBlock {
			t.Fatal(len(b), err)
		}
	}
	if err := p.release(); err != nil || released != total {
		t.Errorf("%d bytes of %d are given back: %v", released, total, err)
	}
}
