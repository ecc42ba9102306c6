package attr

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/da"
	"mkfs/internal/ondisk"
)

// newTestLeaf is an empty leaf.
func newTestLeaf(block int, v5 bool) leaf {
	l := leaf(make([]byte, block))
	magic := uint16(ondisk.AttrLeafMagicV4)
	if v5 {
		magic = ondisk.AttrLeafMagic
	}
	ondisk.DABlock{B: l, V5: v5}.SetMagic(magic)
	l.init()
	return l
}

func testKey(name string, space Space) key {
	return key{space: space, name: []byte(name), hash: da.Hash(name)}
}

// put enters an attribute where it belongs.
func (l leaf) set(k *key, value []byte) bool {
	at, _ := l.search(k)
	return l.add(at, &addition{k.hash, ondisk.AttrFlags(k.space), k.name, value})
}

// contents are the attributes of a leaf, in order, and whether their values are with them.
func (l leaf) contents() (list []string) {
	for i := range l.count() {
		e := l.entry(i)
		s := fmt.Sprintf("%08x %d:%s", e.hash(), e.space(), l.name(e))
		if e.local() {
			s += fmt.Sprintf("=%x", l.value(e))
		} else {
			s += fmt.Sprintf("@%d+%d", l.remote(e).at, l.remote(e).length)
		}
		list = append(list, s)
	}
	return list
}

// sound checks what the header promises beyond check.
func (l leaf) sound(t interface{ Fatalf(string, ...any) }) {
	if err := l.check(); err != nil {
		t.Fatalf("%v: %+v", err, l.header())
	}
	h, first := l.header(), len(l)
	for i := range h.Count {
		first = min(first, l.entry(i).at())
	}
	if h.FirstUsed > first { // it may be lower after a split
		t.Fatalf("names begin at %d: %+v", first, h)
	}
	if !h.Holes && h.FirstUsed+h.UsedBytes != len(l) {
		t.Fatalf("there are holes: %+v", h)
	}
	for _, f := range h.Free {
		if !bytes.Equal(l[f.Base:f.Base+f.Size], make([]byte, f.Size)) {
			t.Fatalf("something is left in a free region: %+v", h)
		}
	}
}

// Whatever is entered and removed, a leaf has that, in order, and its header is right.
func TestLeafModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SampledFrom([]int{512, 1024, 4096, 65536}).Draw(t, "block")
		l := newTestLeaf(block, block != 512)
		model := map[string]string{} // by what contents begins with
		name := rapid.StringMatching(`[a-c]{1,3}|[d-f]{40}`)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			k := testKey(name.Draw(t, "name"), rapid.SampledFrom([]Space{User, Root, Secure}).Draw(t, "space"))
			id := fmt.Sprintf("%08x %d:%s", k.hash, k.space, k.name)
			at, found := l.search(&k)
			if _, want := model[id]; found != want {
				t.Fatalf("%s is there: %t", id, found)
			}
			if found {
				l.remove(at)
				delete(model, id)
			} else {
				value := bytes.Repeat([]byte{'v'}, rapid.IntRange(0, block).Draw(t, "value"))
				size, local := entrySize(block, len(k.name), len(value))
				h := l.header()
				fits := l.end(h.Count+1)+h.UsedBytes+size <= block
				if added := l.add(at, &addition{k.hash, ondisk.AttrFlags(k.space), k.name, value}); added != fits {
					t.Fatalf("%s, %d bytes: entered: %t, want %t; before it was %+v", id, size, added, fits, h)
				}
				if fits && local {
					model[id] = fmt.Sprintf("%s=%x", id, value)
				} else if fits {
					e := l.entry(at)
					e.setFlags(e.flags() &^ ondisk.AttrIncomplete)
					l.setRemote(e, remote{7, len(value)})
					model[id] = fmt.Sprintf("%s@7+%d", id, len(value))
				}
			}
			l.sound(t)
			got := l.contents()
			slices.Sort(got) // within equal hashes
			if want := slices.Sorted(maps.Values(model)); !slices.Equal(got, want) {
				t.Fatalf("got  %q\nwant %q", got, want)
			}
		}
	})
}

// A leaf that is split has nothing lost, and the new entry is where it belongs; merged it is one again.
func TestLeafSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SampledFrom([]int{512, 1024, 4096}).Draw(t, "block")
		l := newTestLeaf(block, block > 512)
		for n := 0; ; n++ {
			k := testKey(fmt.Sprint("n", n), User)
			value := make([]byte, rapid.IntRange(0, block/rapid.SampledFrom([]int{2, 8, 40}).Draw(t, "part")).Draw(t, "value"))
			at, _ := l.search(&k)
			a := addition{k.hash, 0, k.name, value}
			if l.add(at, &a) {
				continue
			}
			before := l.contents()
			upper := newTestLeaf(block, block > 512)
			size, _ := entrySize(block, len(k.name), len(value))
			lower, index, ok := l.splitTo(upper, at, size)
			if !ok {
				t.Fatalf("not split")
			}
			if got := slices.Concat(l.contents(), upper.contents()); !slices.Equal(got, before) {
				t.Fatalf("got  %q\nwant %q", got, before)
			}
			if l.after(upper) && upper.count() > 0 {
				t.Fatalf("the lower half is after the upper")
			}
			to := upper
			if lower {
				to = l
			}
			if got, _ := to.search(&k); got != index {
				t.Fatalf("the new entry would be at %d, not at %d", got, index)
			}
			if !to.add(index, &a) {
				return // it has to be split again
			}
			l.sound(t)
			upper.sound(t)
			all := slices.Concat(l.contents(), upper.contents())
			for i := l.count() - 1; i > 0 && !l.room(upper); i-- {
				l.remove(rapid.IntRange(0, i).Draw(t, "removed"))
				upper.remove(0)
				all = slices.Concat(l.contents(), upper.contents())
				if upper.count() == 0 {
					return
				}
			}
			if !l.room(upper) {
				return
			}
			keep, drop := l, upper
			if rapid.Bool().Draw(t, "down") {
				keep, drop = upper, l
			}
			if !keep.merge(drop) {
				t.Fatalf("not merged")
			}
			keep.sound(t)
			if got := keep.contents(); !slices.Equal(got, all) {
				t.Fatalf("got  %q\nwant %q", got, all)
			}
			return
		}
	})
}

// The limits are those of the format, to the byte.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		block, name, value int
		size               int
		local              bool
	}{
		{4096, 1, 0, 4, true},
		{4096, 1, 1, 8, true},
		{4096, 5, 3060, 3068, true},
		{4096, 5, 3061, 16, false}, // 3,072 are three quarters
		{4096, 255, 64 << 10, 268, false},
		{512, 10, 367, 380, true},
		{512, 10, 368, 24, false},
		{64 << 10, 1, 49144, 49148, true},
		{64 << 10, 1, 49145, 12, false},
	} {
		if n, local := entrySize(c.block, c.name, c.value); n != c.size || local != c.local {
			t.Errorf("%+v: %d, %t", c, n, local)
		}
	}
	for _, c := range []struct {
		block int
		v5    bool
		n     int
		want  int
	}{
		{4096, true, 1, 1}, {4096, true, 4040, 1}, {4096, true, 4041, 2}, {4096, true, MaxValue, 17}, {4096, false, 4096, 1},
		{4096, false, 4097, 2}, {4096, false, MaxValue, 16}, {64 << 10, true, MaxValue, 2}, {64 << 10, false, MaxValue, 1},
	} {
		if got := valueBlocks(c.block, c.v5, c.n); int(got) != c.want {
			t.Errorf("%d bytes in blocks of %d: %d, want %d", c.n, c.block, got, c.want)
		}
	}
}

// filled is a leaf with n entries of so many bytes each.
func filled(t *testing.T, block, n, size int) leaf {
	l := newTestLeaf(block, true)
	for i := range n {
		k := testKey(fmt.Sprintf("%04d", i), User)
		if !l.set(&k, make([]byte, size-ondisk.AttrLocalHeader-4)) {
			t.Fatal("no room")
		}
	}
	return l
}

// A leaf is merged if at most half of it is in use, and two of them then leave a quarter of a block free.
func TestMergeThresholds(t *testing.T) {
	// A header of 80, and 48 for each entry with its name.
	for n, half := range map[int]bool{41: false, 42: true} {
		if got := filled(t, 4096, n, 40).halfFull(); got != half {
			t.Errorf("%d entries: half full: %t", n, got)
		}
	}
	for size, half := range map[int]bool{48: false, 52: true} {
		l := filled(t, 4096, 40, 40) // 2,000 bytes, and 48 to the half
		k := testKey("zzzz", User)
		l.set(&k, make([]byte, size-8-ondisk.AttrLocalHeader-4))
		if got := l.halfFull(); got != half {
			t.Errorf("%d bytes more: half full: %t", size, got)
		}
	}
	// Of 3,072 bytes the header leaves 2,992, for 62 entries of 48.
	for n, room := range map[int]bool{32: true, 33: false} {
		if got := filled(t, 4096, 30, 40).room(filled(t, 4096, n, 40)); got != room {
			t.Errorf("%d and 30 entries: room: %t", n, got)
		}
	}
}

// Of the two ways to split that are nearest to the middle the one with less in the upper half is taken, for the
// one that follows is no worse if it is as near.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		n, index, size int
		stay           int
		lower          bool
	}{
		{10, 0, 40, 5, true},   // 11 entries of 48: 5 of them and the new one
		{10, 10, 40, 6, false}, // 528 / 2 = 264: 5 have 240, 6 have 288, which is as near
		{10, 5, 40, 5, true},
		{10, 6, 40, 6, false},
		{9, 9, 40, 5, false}, // 480 / 2: 5
		{1, 0, 3000, 0, true},
		{1, 1, 3000, 1, false},
		{2, 1, 3000, 1, true},
	} {
		l := filled(t, 4096, c.n, 40)
		if stay, lower := l.balance(c.index, c.size); stay != c.stay || lower != c.lower {
			t.Errorf("%+v: %d, %t", c, stay, lower)
		}
	}
}

// An entry of a table that grows into a free region takes its bytes; a region that is used up is none.
func TestTableGrows(t *testing.T) {
	l := newTestLeaf(1024, true)
	h := header{Count: 4, FirstUsed: 200}
	h.Free = [3]ondisk.AttrFree{{Base: 104, Size: 8}, {Base: 108, Size: 92}, {Base: 300, Size: 4}}
	l.tableGrew(&h)
	if want := [3]ondisk.AttrFree{{}, {Base: 112, Size: 88}, {Base: 300, Size: 4}}; h.Free != want || !h.Holes {
		t.Errorf("%+v", h)
	}
}

// Where the table may grow to the lowest name exactly, a name still goes to a hole.
func TestAddToHole(t *testing.T) {
	l := filled(t, 1024, 19, 40) // 80 + 19 * 8 = 232 and 1024 - 19 * 40 = 264
	k := testKey("0003", User)
	at, _ := l.search(&k)
	l.remove(at)
	for _, name := range []string{"a", "b"} { // 2 * (8 + 4) bytes of the gap of 40, which is 16 then
		k := testKey(name, User)
		if !l.set(&k, nil) {
			t.Fatal("no room")
		}
	}
	h := l.header()
	h.Free[0].Size, h.FirstUsed = 0, l.end(h.Count+1) // as if a name ended there
	h.Free[0].Base = 0
	l.put(&h)
	lowest := l.entry(0).at()
	for i := range h.Count {
		lowest = min(lowest, l.entry(i).at())
	}
	k = testKey("c", User)
	at, _ = l.search(&k)
	if !l.add(at, &addition{hash: k.hash, name: k.name}) {
		t.Fatal("no room")
	}
	found := false // the lowest name is where it was: the leaf was not packed
	for i := range l.count() {
		found = found || i != at && l.entry(i).at() == lowest
	}
	if !found || l.entry(at).at() < lowest {
		t.Errorf("the name is at %d: %+v, before %+v", l.entry(at).at(), l.header(), h)
	}
}

// A leaf may become a list if all its values are in it and short; attributes that are incomplete do not count.
func TestListSize(t *testing.T) {
	set := func(l leaf, name string, value int) entry {
		k := testKey(name, User)
		l.set(&k, make([]byte, value))
		at, _ := l.search(&k)
		if at == l.count() {
			at--
		}
		return l.entry(at)
	}
	l := newTestLeaf(4096, true)
	set(l, "name", 254)
	if n, ok := l.listSize(); n != 4+3+4+254 || !ok {
		t.Errorf("%d, %t", n, ok)
	}
	e := set(l, "other", 255)
	if _, ok := l.listSize(); ok {
		t.Error("a value of 255 bytes may be in a list")
	}
	e.setFlags(e.flags() | ondisk.AttrIncomplete)
	if n, ok := l.listSize(); n != 4+3+4+254 || !ok {
		t.Errorf("beside one that is incomplete: %d, %t", n, ok)
	}
	e = set(l, "third", 4000)
	e.setFlags(e.flags() &^ ondisk.AttrIncomplete)
	if _, ok := l.listSize(); ok {
		t.Error("a value with blocks may be in a list")
	}
}
