package btree

import (
	"bytes"
	"slices"
	"testing"
)

// Without the first of the blocks that an insert takes nothing happens, and without a
// later one it is an error.
func TestNoRoom(t *testing.T) {
	for _, k := range allKinds {
		t.Run(k.Name, func(t *testing.T) {
			for _, v5 := range []bool{true, false} {
				if !v5 && k.MagicV4 == 0 {
					continue
				}
				most := 0
				for _, n := range splits(t, k, v5, 600) {
					most = max(most, noRoom(t, k, v5, n))
				}
				if most < 3 {
					t.Errorf("no insert took more than %d blocks", most)
				}
			}
		})
	}
}

// splits are the sizes of a tree that grows at its end at which the next record takes blocks.
func splits(t *testing.T, k *Kind, v5 bool, most int) (list []int) {
	t.Helper()
	fs, _ := tiny(k, v5)
	tr, trans := start(t, fs, k, rootHeader+2*(k.Key+8))
	p := tr.Root.(*pool)
	var c Cursor
	c.Init(tr, trans)
	for i := range most {
		before := len(p.used)
		insert(t, &c, k.sample(20+20*i, 1))
		if len(p.used) > before {
			list = append(list, i)
		}
	}
	return list
}

// noRoom inserts into a tree of n records, once for each block that this takes, and
// returns how many these are.
func noRoom(t *testing.T, k *Kind, v5 bool, n int) int {
	t.Helper()
	for allowed := 0; ; allowed++ {
		fs, _ := tiny(k, v5)
		tr, trans := start(t, fs, k, rootHeader+2*(k.Key+8))
		var c Cursor
		c.Init(tr, trans)
		p := tr.Root.(*pool)
		for i := range n {
			insert(t, &c, k.sample(20+20*i, 1))
		}
		before := sound(t, tr, trans)
		r := k.sample(20+20*n, 2)
		if there, err := c.Lookup(EQ, r); there || err != nil {
			t.Fatal(there, err)
		}
		p.left = allowed
		ok, err := c.Insert(r)
		switch {
		case ok && err == nil:
			p.left = 1 << 30
			if after := sound(t, tr, trans); len(after) != len(before)+1 {
				t.Fatalf("%d records, want one more than %d", len(after), len(before))
			}
			return allowed
		case ok || allowed > MaxLevels:
			t.Fatalf("%d blocks: %v, %v", allowed, ok, err)
		case (err == nil) != (allowed == 0):
			t.Fatalf("%d blocks are there: %v", allowed, err)
		}
		if allowed == 0 {
			if after := sound(t, tr, trans); !slices.EqualFunc(after, before, bytes.Equal) {
				t.Fatal("the tree has changed")
			}
		}
	}
}
