package btree

import (
	"slices"
	"testing"
)

// leaves are the starts of the records of each leaf of a bnobt, from the left, with what is left
// behind the live ones: how many these are comes first.
func leaves(t *testing.T, c *Cursor) (list [][]uint32) {
	t.Helper()
	err := c.Tree.Visit(c.t, func(level int, _ uint64, data []byte) error {
		if level > 0 {
			return nil
		}
		b := block{data: data, lay: c.Tree.blocks.of(0)}
		one := []uint32{uint32(b.live())}
		for i := range b.lay.max {
			one = append(one, be.Uint32(b.entry(i)))
		}
		list = append(list, one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// full is a bnobt of one leaf with no room, of the records 10, 20, 30 and so on.
func full(t *testing.T, v5 bool) (*Cursor, int) {
	t.Helper()
	fs, _ := tiny(Bnobt, v5)
	tr, trans := start(t, fs, Bnobt, 0)
	c := tr.Cursor(trans)
	n := tr.blocks[leaf].max
	for i := range n {
		insert(t, c, Bnobt.sample(10+10*i, 1))
	}
	return c, n
}

// A leaf of an odd number of records is split so that the halves are equal with the new
// one, unless that is to be right behind the middle. Of an even number each half keeps as many.
func TestSplit(t *testing.T) {
	for _, v5 := range []bool{true, false} {
		_, n := full(t, v5)
		for slot := range n + 1 {
			c, _ := full(t, v5)
			insert(t, c, Bnobt.sample(5+10*slot, 1))
			got := leaves(t, c)
			left := n / 2
			switch {
			case n%2 == 1 && slot == n/2+1:
				left = n/2 + 2
			case n%2 == 1 || slot <= n/2:
				left = n/2 + 1
			}
			if len(got) != 2 || got[0][0] != uint32(left) || got[1][0] != uint32(n+1-left) {
				t.Errorf("%d records and one at slot %d: %d and %d, want %d on the left", n, slot, got[0][0], got[1][0], left)
			}
		}
	}
}

// A full leaf gives to its right neighbour first, then to its left, but no record at which the new one
// goes in; and what moves away stays in its old slot.
func TestHandOver(t *testing.T) {
	c, n := full(t, false) // 14 records: 10 to 140
	put := func(starts ...int) {
		t.Helper()
		for _, s := range starts {
			insert(t, c, Bnobt.sample(s, 1))
		}
	}
	want := func(slots ...[]uint32) {
		t.Helper()
		for i, got := range leaves(t, c) {
			for len(slots[i]) <= n {
				slots[i] = append(slots[i], 0) // never used
			}
			if !slices.Equal(got, slots[i]) {
				t.Errorf("leaf %d: %d, want %d", i, got, slots[i])
			}
		}
	}
	put(150)
	want([]uint32{7, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140},
		[]uint32{8, 80, 90, 100, 110, 120, 130, 140, 150})
	put(11, 12, 13, 14, 15, 16, 17)
	want([]uint32{14, 10, 11, 12, 13, 14, 15, 16, 17, 20, 30, 40, 50, 60, 70},
		[]uint32{8, 80, 90, 100, 110, 120, 130, 140, 150})
	put(9) // the last moves to the right
	want([]uint32{14, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 30, 40, 50, 60},
		[]uint32{9, 70, 80, 90, 100, 110, 120, 130, 140, 150})
	put(55) // it goes in before the last, which does not move then; and nothing is on the left
	want([]uint32{7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 30, 40, 50, 60},
		[]uint32{8, 16, 17, 20, 30, 40, 50, 55, 60},
		[]uint32{9, 70, 80, 90, 100, 110, 120, 130, 140, 150})
	put(18, 19, 21, 22, 23, 24) // it is full now, with 60 as its last
	put(61)                     // behind all: the first moves to the left
	want([]uint32{8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 30, 40, 50, 60},
		[]uint32{14, 17, 18, 19, 20, 21, 22, 23, 24, 30, 40, 50, 55, 60, 61},
		[]uint32{9, 70, 80, 90, 100, 110, 120, 130, 140, 150})
}

// A record that goes in before the first of a full leaf, where a step from the last of the leaf on
// the left leads, goes in there: nothing moves to the left.
func TestInsertBeforeAll(t *testing.T) {
	c, _ := full(t, false)
	for _, s := range []int{150, 160, 170, 180, 190, 200, 210} { // 7 and 14
		insert(t, c, Bnobt.sample(s, 1))
	}
	r := Bnobt.sample(75, 1)
	if ok, err := c.Lookup(LE, r); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := c.Next(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := c.Insert(r); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := leaves(t, c); len(got) != 3 || got[0][0] != 7 || got[1][0] != 8 || got[1][1] != 75 {
		t.Errorf("leaves are %d", got)
	}
	sound(t, c.Tree, c.t)
}

// A leaf with too few records takes one from the right, else from the left, or else is joined
// with the left one; and the root gives way.
func TestRefill(t *testing.T) {
	c, _ := full(t, false)
	remove := func(starts ...int) {
		t.Helper()
		for _, s := range starts {
			if ok, err := c.Lookup(EQ, Bnobt.sample(s, 1)); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if err := c.Delete(); err != nil {
				t.Fatal(err)
			}
		}
	}
	live := func(want ...uint32) {
		t.Helper()
		var got []uint32
		for _, l := range leaves(t, c) {
			got = append(got, l[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("leaves have %d records, want %d", got, want)
		}
	}
	for i := range 15 { // 7, 7, and 15 on the way from 10 to 290
		insert(t, c, Bnobt.sample(150+10*i, 1))
	}
	live(14, 7, 8)
	remove(240) // of the last: nothing is on its right, and it has enough
	live(14, 7, 7)
	remove(250) // it takes one from the left, which would have too few then: they are joined
	live(14, 13)
	remove(10, 20, 30, 40, 50, 60, 70)
	live(7, 13)
	remove(80) // the right has more than enough
	live(7, 12)
	remove(190, 200, 210, 220, 230)
	live(7, 7)
	remove(90)
	live(13)
	if _, levels := c.Tree.Root.Root(); levels != 1 {
		t.Errorf("the tree has %d levels", levels)
	}
}
