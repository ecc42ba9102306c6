package attr

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"

	"mkfs/internal/ondisk"
)

// randomLeaf is a leaf that has seen something.
func randomLeaf(r *rand.Rand, block int, v5 bool) leaf {
	l := newTestLeaf(block, v5)
	for range r.Intn(60) {
		k := testKey(fmt.Sprint("n", r.Intn(40)), User)
		if at, found := l.search(&k); found {
			l.remove(at)
		} else {
			l.add(at, &addition{k.hash, 0, k.name, make([]byte, r.Intn(block/8))})
		}
	}
	return l
}

// A damaged leaf is found to be so, or nothing that is done to it leaves its bytes.
func TestDamagedLeaf(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	taken := 0
	for n := range 20000 {
		block := []int{512, 1024, 4096}[r.Intn(3)]
		l := randomLeaf(r, block, block != 512)
		used := l.end(l.count())
		for range 1 + r.Intn(3) {
			switch at := 10 + r.Intn(used-10); r.Intn(4) {
			case 0:
				l[at] = byte(r.Intn(256))
			case 1:
				l[at] ^= 1 << r.Intn(8)
			case 2:
				binary.BigEndian.PutUint16(l[at&^1:], uint16(r.Intn(block)))
			case 3:
				l[used+r.Intn(block-used)] = byte(r.Intn(256))
			}
		}
		if l.check() != nil {
			continue
		}
		taken++
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Fatalf("%d: %v: %+v", n, e, l.header())
				}
			}()
			useLeaf(r, l)
		}()
	}
	if taken < 1000 || taken > 19000 {
		t.Errorf("%d of 20000 were taken", taken)
	}
}

// useLeaf does everything to a leaf.
func useLeaf(r *rand.Rand, l leaf) {
	other := randomLeaf(r, len(l), ondisk.AttrLeafV5(l))
	l.listSize()
	l.room(other)
	for range 20 {
		k := testKey(fmt.Sprint("n", r.Intn(40)), User)
		at, found := l.search(&k)
		switch {
		case found:
			l.remove(at)
		case r.Intn(10) == 0 && l.count() > 0:
			l.remove(r.Intn(l.count()))
		default:
			l.add(at, &addition{k.hash, 0, k.name, make([]byte, r.Intn(len(l)/4))})
		}
		for i := range l.count() {
			e := l.entry(i)
			_ = l.name(e)
			if e.local() {
				_ = l.value(e)
			}
		}
	}
	if r.Intn(2) == 0 {
		l.splitTo(newTestLeaf(len(l), ondisk.AttrLeafV5(l)), r.Intn(l.count()+1), 40)
	}
	if r.Intn(2) == 0 {
		l.merge(other)
	} else {
		other.merge(l)
	}
}

// Each rule of a leaf is checked.
func TestLeafChecks(t *testing.T) {
	make := func(change func(l leaf)) leaf {
		l := newTestLeaf(1024, true)
		for _, name := range []string{"a", "b", "c"} {
			k := testKey(name, User)
			l.set(&k, []byte("value"))
		}
		change(l)
		return l
	}
	head := func(change func(h *header)) func(l leaf) {
		return func(l leaf) {
			h := l.header()
			change(&h)
			l.put(&h)
		}
	}
	if err := make(func(leaf) {}).check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(l leaf){
		"names begin behind the block":   head(func(h *header) { h.FirstUsed = 1028 }),
		"names begin in the table":       head(func(h *header) { h.FirstUsed = 100 }),
		"names begin behind a name":      head(func(h *header) { h.FirstUsed += 4 }),
		"more entries":                   head(func(h *header) { h.Count = 200 }),
		"fewer bytes":                    head(func(h *header) { h.UsedBytes -= 4 }),
		"a free region behind the block": head(func(h *header) { h.Free[1] = ondisk.AttrFree{Base: 1020, Size: 8} }),
		"a free region in the table":     head(func(h *header) { h.Free[1] = ondisk.AttrFree{Base: 96, Size: 8} }),
		"a free region in a name":        head(func(h *header) { h.Free[1] = ondisk.AttrFree{Base: 1020, Size: 4} }),
		"a free region in another":       head(func(h *header) { h.Free[1] = ondisk.AttrFree{Base: 200, Size: 4} }),
		"an odd free region":             head(func(h *header) { h.Free[1] = ondisk.AttrFree{Base: 202} }),
		"hashes out of order":            func(l leaf) { l.entry(0).put(99<<24, l.entry(0).at(), ondisk.AttrLocal) },
		"a name behind the block":        func(l leaf) { l.entry(0).put(0, 1024, ondisk.AttrLocal) },
		"a name that is cut":             func(l leaf) { l[l.entry(0).at()+2] = 250 },
		"a remote name at the end":       func(l leaf) { l.entry(0).put(0, 1020, 0) },
		"two names at one place":         func(l leaf) { l.entry(0).put(0, l.entry(1).at(), ondisk.AttrLocal) },
		"no name":                        func(l leaf) { l[l.entry(0).at()+2], l[l.entry(0).at()+1] = 0, 6 },
		"a value in no block":            func(l leaf) { l.entry(0).put(0, l.entry(0).at(), 0) },
	} {
		if make(change).check() == nil {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// Each rule of a list is checked, and a damaged one is found to be so.
func TestListChecks(t *testing.T) {
	const good = "\x00\x12\x02\x00" + "\x03\x02\x02abcXY" + "\x01\x02\x00z01"
	if err := shortform(good).check(); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]string{
		"nothing":             "",
		"longer":              "\x00\x13" + good[2:],
		"shorter":             "\x00\x11" + good[2:],
		"one more":            good[:2] + "\x03" + good[3:],
		"one fewer":           good[:2] + "\x01" + good[3:],
		"no name":             "\x00\x0a\x01\x00" + "\x00\x03\x02XYZ",
		"two namespaces":      good[:6] + "\x06" + good[7:],
		"a flag of leaves":    good[:6] + "\x01" + good[7:],
		"a name that is long": good[:4] + "\x20" + good[5:],
	} {
		if shortform(list).check() == nil {
			t.Errorf("%s: nothing is found", name)
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		b := []byte(good)
		for range 1 + r.Intn(3) {
			b[r.Intn(len(b))] = byte(r.Intn(256))
		}
		s := shortform(b)
		if s.check() != nil {
			continue
		}
		k := testKey("abc", Root)
		if at, found := s.find(&k); found {
			s.cut(at)
		}
	}
}
