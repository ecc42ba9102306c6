package dir_test

import (
	"fmt"
	"slices"
	"testing"

	"mkfs/internal/da"
)

// steps changes a directory one by one, and compares it each time.
func (p *pair) steps(t *testing.T, list []change) {
	t.Helper()
	for _, c := range list {
		p.change(t, []change{c})
	}
}

// An index becomes a btree, and is one block again, at the same number of names as with the reference. Slots and the list of
// ten blocks of entries are as long as a block when there are 501 entries.
func TestDatabaseLeafIsFull(t *testing.T) {
	t.Parallel()
	p := newPair(t, filesystems[0])
	var there, more, gone []change
	for i := range 500 { // four others take the rest of a leaf
		name := fmt.Sprintf("%068d", i)
		if add := (change{"add", name, "f"}); i < 493 {
			there = append(there, add)
		} else {
			more = append(more, add)
			gone = append(gone, change{"remove", name, ""})
		}
	}
	p.change(t, there)
	p.steps(t, more)
	slices.Reverse(gone)
	p.steps(t, gone)

	// A leaf with no room, one or two stale slots, and a name that needs another block.
	for stale := range 2 {
		p.change(t, more[:4])
		for i := range 1 + stale {
			p.steps(t, []change{{"remove", there[100+i].name, ""}})
		}
		long := fmt.Sprintf("%0255d", stale)
		p.steps(t, []change{{"add", long, "g"}, {"remove", long, ""}})
		p.change(t, there[100:101+stale])
		p.change(t, gone[len(gone)-4:])
	}
}

// A leaf is joined with another when it is less than 37 % full: of 64 KiB, which is the only size of which that is a whole
// number of slots, with 3022 of them.
func TestDatabaseJoinBelow(t *testing.T) {
	t.Parallel()
	const bound = 3023
	p := newPair(t, filesystems[6])
	var all []change
	for _, name := range names(9000, 3) {
		all = append(all, change{"add", name, "f"})
	}
	p.change(t, all)
	last, live := p.leaves(t)
	if len(live) != 2 {
		t.Fatalf("%d leaves", len(live))
	}
	var gone, step []change
	for _, c := range all {
		c.verb = "remove"
		i, left := 0, bound+1
		if da.Hash(c.name) > last[0] {
			i, left = 1, bound+60
		}
		if live[i] > left {
			live[i]--
			gone = append(gone, c)
		} else if i == 0 && len(step) < 3 {
			step = append(step, c)
		}
	}
	p.change(t, gone)
	for i, c := range step {
		before := p.root.Core.Blocks
		p.steps(t, []change{c})
		if joined := p.root.Core.Blocks < before; joined != (i == 1) {
			t.Errorf("with %d names a leaf is joined: %v", bound-i, joined)
		}
	}
}
