package memtree

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// span is a record with an end.
type span struct{ start, length int }

var bySpan = &Order[span]{
	Less: func(a, b span) bool { return a.start < b.start },
	High: func(s span) span { return span{start: s.start + s.length - 1} },
}

// ends are the first and the last record below a block.
func ends(b *Block[span]) (first, last span) {
	left, right := b, b
	for left.Level > 0 {
		left, right = left.Below[0], right.Below[right.Live-1]
	}
	return left.Records[0], right.Records[right.Live-1]
}

// places numbers blocks from 1000 on.
func places() Alloc {
	at := uint64(999)
	return func(uint64) (uint64, bool) { at++; return at, true }
}

// check checks all that a tree promises.
func check(t *rapid.T, tree *Tree[span], want []span) {
	got := slices.Collect(tree.Records)
	if !slices.Equal(got, want) {
		t.Fatalf("records\n got %v\nwant %v", got, want)
	}
	blocks, seen := 0, map[uint64]bool{}
	for b := range tree.All {
		root := b == tree.root
		if !root || tree.size.Fork == 0 {
			blocks++
			if seen[b.At] {
				t.Fatalf("two blocks are at %d", b.At)
			}
			seen[b.At] = true
		}
		least := tree.size.Leaf / 2
		if b.Level > 0 {
			least = tree.size.Node / 2
		}
		// A tree in a fork begins with one block below the root.
		if b.Live > tree.room(b) || !root && b.Live < least && (tree.size.Fork == 0 || b.up.Live > 1) {
			t.Fatalf("level %d: a block of %d, of at most %d", b.Level, b.Live, tree.room(b))
		}
		if b.Right != nil && b.Right.Left != b {
			t.Fatalf("level %d: the right neighbour does not point back", b.Level)
		}
		for i, child := range b.Below[:min(b.Live, len(b.Below))] {
			if child.Live == 0 { // all of a tree in a fork was removed
				continue
			}
			low, last := ends(child)
			high := bySpan.High(last)
			if child.Level != b.Level-1 || b.Low[i] != low || b.High[i] != high || child.up != b {
				t.Fatalf("level %d, slot %d: keys %v %v, level %d; the block has %v %v", b.Level, i, b.Low[i], b.High[i], child.Level, low, high)
			}
		}
	}
	if blocks != tree.Blocks() {
		t.Fatalf("%d blocks, says %d", blocks, tree.Blocks())
	}
}

func TestInsert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size{
			Leaf: rapid.IntRange(4, 11).Draw(t, "leaf"), Node: rapid.IntRange(4, 11).Draw(t, "node"),
			Fork: rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "fork"),
		}
		alloc := places()
		tree := New(bySpan, size, 1, nil)
		if size.Fork > 0 {
			tree = InFork(bySpan, size, 1, nil)
		}
		var want []span
		for range rapid.IntRange(0, 200).Draw(t, "records") {
			r := span{10 * rapid.IntRange(0, 200).Draw(t, "start"), rapid.IntRange(1, 10).Draw(t, "length")}
			i, there := slices.BinarySearchFunc(want, r, func(a, b span) int { return a.start - b.start })
			p := tree.Find(r)
			switch {
			case !there:
				if rapid.Bool().Draw(t, "right") {
					p = p.Next()
				}
				if !tree.Insert(p, r, alloc) {
					t.Fatal("no room")
				}
				want = slices.Insert(want, i, r)
			case rapid.Bool().Draw(t, "remove"):
				if tree.Remove(p) {
					want = slices.Delete(want, i, i+1)
				}
			default:
				tree.Update(p, r)
				want[i] = r
			}
			check(t, tree, want)
		}
	})
}

// The records before and behind a place are those of the neighbouring leaf at
// its ends.
func TestNeighbours(t *testing.T) {
	tree := New(bySpan, Size{Leaf: 4, Node: 4}, 1, nil)
	alloc := places()
	for i := range 40 {
		r := span{2 * i, 1}
		tree.Insert(tree.Find(r), r, alloc)
	}
	for i := range 40 {
		p := tree.Find(span{2 * i, 0})
		if !p.Live() || p.Record().start != 2*i {
			t.Fatalf("%d: %+v", i, p)
		}
		if before := p.Before(); before.Live() != (i > 0) || i > 0 && before.Record().start != 2*i-2 {
			t.Errorf("before %d: %+v", i, before)
		}
		next := tree.Find(span{2*i + 1, 0}).Next()
		if next.Live() != (i < 39) || i < 39 && next.Record().start != 2*i+2 {
			t.Errorf("behind %d: %+v", i, next)
		}
	}
}

// A full leaf gives to its right neighbour first, then to its left, and what
// moves away stays in its old slot.
func TestRemains(t *testing.T) {
	tree := New(bySpan, Size{Leaf: 4, Node: 4}, 1, []span{{10, 1}, {20, 1}, {30, 1}, {40, 1}})
	alloc := places()
	insert := func(start int) {
		t.Helper()
		r := span{start, 1}
		if !tree.Insert(tree.Find(r), r, alloc) {
			t.Fatal("no room")
		}
	}
	want := func(slots ...[]int) {
		t.Helper()
		var got [][]int
		for b := range tree.All {
			if b.Level > 0 {
				continue
			}
			list := []int{b.Live}
			for _, r := range b.Records {
				list = append(list, r.start)
			}
			got = append(got, list)
		}
		if !slices.EqualFunc(got, slots, slices.Equal) {
			t.Errorf("leaves %v, want %v", got, slots)
		}
	}
	insert(50)
	want([]int{2, 10, 20, 30, 40}, []int{3, 30, 40, 50})
	insert(11)
	insert(12)
	want([]int{4, 10, 11, 12, 20}, []int{3, 30, 40, 50})
	insert(9) // the last moves to the right
	want([]int{4, 9, 10, 11, 12}, []int{4, 20, 30, 40, 50})
	insert(60) // nothing is to the right, and the left is full
	want([]int{4, 9, 10, 11, 12}, []int{2, 20, 30, 40, 50}, []int{3, 40, 50, 60})
	insert(25)
	insert(26)
	insert(13) // it would be the last: nothing moves to the right
	want([]int{2, 9, 10, 11, 12}, []int{3, 11, 12, 13}, []int{4, 20, 25, 26, 30}, []int{3, 40, 50, 60})
	insert(31) // behind all of a full leaf: its first moves to the left
	want([]int{2, 9, 10, 11, 12}, []int{4, 11, 12, 13, 20}, []int{4, 25, 26, 30, 31}, []int{3, 40, 50, 60})
}

// A leaf of an odd number of records is split so that the halves are equal with
// the new one, unless that is to be behind the middle.
func TestSplitOdd(t *testing.T) {
	for start, want := range map[int][2]int{5: {3, 3}, 25: {3, 3}, 35: {4, 2}, 45: {3, 3}, 55: {3, 3}} {
		tree := New(bySpan, Size{Leaf: 5, Node: 5}, 1, []span{{10, 1}, {20, 1}, {30, 1}, {40, 1}, {50, 1}})
		r := span{start, 1}
		tree.Insert(tree.Find(r), r, places())
		left := tree.Root().Below[0]
		if got := [2]int{left.Live, left.Right.Live}; got != want {
			t.Errorf("%d: %v, want %v", start, got, want)
		}
	}
}

// Whichever new block finds no place, the record is not inserted.
func TestNoPlace(t *testing.T) {
	for allowed := range 3 {
		tree := New(bySpan, Size{Leaf: 4, Node: 4}, 1, []span{{10, 1}, {20, 1}, {30, 1}, {40, 1}})
		left := allowed
		r := span{50, 1}
		ok := tree.Insert(tree.Find(r), r, func(uint64) (uint64, bool) { left--; return uint64(100 + left), left >= 0 })
		if ok != (allowed == 2) { // a leaf and a root
			t.Errorf("%d new blocks: %v", allowed, ok)
		}
	}
}
