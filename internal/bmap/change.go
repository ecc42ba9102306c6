package bmap

import (
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
)

// edges say how blocks meet what is around them.
type edges uint8

const (
	fillsLeft  edges = 1 << iota // they begin where the extent that has them begins
	fillsRight                   // they end where it ends
	joinsLeft                    // they go on with the extent before, as one
	joinsRight                   // the extent behind goes on with them
)

// kind is what happens to blocks.
type kind uint8

const (
	add     kind = iota // in a hole
	convert             // written to unwritten, or the other way
	remove
)

// verb is what is done at a place in the btree.
type verb uint8

const (
	find   verb = iota // go to a record that is there
	absent             // go to the place of one that is not there
	update
	insert
	drop
	next
	prev
)

// which names an extent of a change, before it or after it.
type which uint8

const (
	none   which = iota
	left         // the extent before
	old          // the extent that has the blocks
	right        // the extent behind
	whole        // the blocks, as one with the neighbours that they join
	head         // what is left of the old extent before them
	tail         // and behind them
	places       // their number
)

// step is one of the things that a change does in the btree.
type step struct {
	verb verb
	what which
}

// steps are what a change does in the btree. The order is that of libxfs, since it shows where blocks are split
// or merged: xfs_bmap_add_extent_hole_real, xfs_bmap_add_extent_unwritten_real and xfs_bmap_del_extent_real.
// What cannot be has no row.
var steps = [...]map[edges][]step{
	add: {
		joinsLeft | joinsRight: {{find, right}, {drop, right}, {prev, none}, {update, whole}},
		joinsLeft:              {{find, left}, {update, whole}},
		joinsRight:             {{find, right}, {update, whole}},
		0:                      {{absent, whole}, {insert, whole}},
	},
	convert: {
		fillsLeft | fillsRight | joinsLeft | joinsRight: {
			{find, right}, {drop, right}, {prev, none}, {drop, old}, {prev, none}, {update, whole},
		},
		fillsLeft | fillsRight | joinsLeft:  {{find, old}, {drop, old}, {prev, none}, {update, whole}},
		fillsLeft | fillsRight | joinsRight: {{find, right}, {drop, right}, {prev, none}, {update, whole}},
		fillsLeft | fillsRight:              {{find, old}, {update, whole}},
		fillsLeft | joinsLeft:               {{find, old}, {update, tail}, {prev, none}, {update, whole}},
		fillsLeft:                           {{find, old}, {update, tail}, {insert, whole}},
		fillsRight | joinsRight:             {{find, old}, {update, head}, {next, none}, {update, whole}},
		fillsRight:                          {{find, old}, {update, head}, {absent, whole}, {insert, whole}},
		0: {
			{find, old}, {update, tail}, {insert, head}, {absent, whole}, {insert, whole},
		},
	},
	remove: {
		fillsLeft | fillsRight: {{find, old}, {drop, old}},
		fillsLeft:              {{find, old}, {update, tail}},
		fillsRight:             {{find, old}, {update, head}},
		0:                      {{find, old}, {update, head}, {next, none}, {insert, tail}},
	},
}

// change is a change at one place of a fork.
type change struct {
	kind  kind
	edges edges
	// extents are those of the place, by name.
	extents [places]inode.Extent
	// first and n are the extents in memory that go, and put those that come instead.
	first, n int
	put      [3]inode.Extent
	puts     int
	// at is the index that the blocks have after the change, or that the extent before them had if they
	// were removed.
	at int
}

func (c *change) has(e edges) bool { return c.edges&e != 0 }

// keep puts an extent in the place of those that go.
func (c *change) keep(e inode.Extent) {
	c.put[c.puts] = e
	c.puts++
}

// added is the change that puts an extent into the hole before the i-th.
func added(list []inode.Extent, i int, e inode.Extent) change {
	c := change{kind: add, first: i}
	c.extents[whole] = e
	c.meet(list, i-1, i)
	c.keep(c.extents[whole])
	c.at = c.first
	return c
}

// converted is the change of blocks of the i-th extent to another state, which they have in e.
func converted(list []inode.Extent, i int, e inode.Extent) change {
	c := change{kind: convert, first: i, n: 1}
	c.extents[whole] = e
	c.split(list[i], e)
	c.meet(list, i-1, i+1)
	if !c.has(fillsLeft) {
		c.keep(c.extents[head])
	}
	c.at = c.first + c.puts
	c.keep(c.extents[whole])
	if !c.has(fillsRight) {
		c.keep(c.extents[tail])
	}
	return c
}

// removed is the change that takes away blocks of the i-th extent.
func removed(list []inode.Extent, i int, e inode.Extent) change {
	c := change{kind: remove, first: i, n: 1, at: i}
	c.split(list[i], e)
	switch {
	case c.has(fillsLeft) && c.has(fillsRight):
		c.at = i - 1
	case c.has(fillsLeft):
		c.keep(c.extents[tail])
	case c.has(fillsRight):
		c.keep(c.extents[head])
	default:
		c.keep(c.extents[head])
		c.keep(c.extents[tail])
	}
	return c
}

// split finds what is left of the extent that has the blocks.
func (c *change) split(o, e inode.Extent) {
	c.extents[old] = o
	if o.Offset == e.Offset {
		c.edges |= fillsLeft
	} else {
		c.extents[head], _ = cut(o, o.Offset, geometry.Blocks(e.Offset-o.Offset))
	}
	if o.End() == e.End() {
		c.edges |= fillsRight
	} else {
		c.extents[tail], _ = cut(o, e.End(), geometry.Blocks(o.End()-e.End()))
	}
}

// meet finds whether the blocks are one with the extents of two indexes, and makes them one with those that
// they are. An extent is never longer than its record can tell, so that they may be one with the extent before them
// and not with that behind them.
func (c *change) meet(list []inode.Extent, l, r int) {
	e := &c.extents[whole]
	if l >= 0 && follows(list[l], *e) {
		c.extents[left] = list[l]
		c.edges |= joinsLeft
		c.first, c.n = c.first-1, c.n+1
		e.Offset, e.Start, e.Blocks = list[l].Offset, list[l].Start, e.Blocks+list[l].Blocks
	}
	if r < len(list) && follows(*e, list[r]) {
		c.extents[right] = list[r]
		c.edges |= joinsRight
		c.n++
		e.Blocks += list[r].Blocks
	}
}

// follows tells whether an extent goes on in another, as one.
func follows(a, b inode.Extent) bool {
	return a.End() == b.Offset && a.Start+geometry.FSBlock(a.Blocks) == b.Start && a.Unwritten == b.Unwritten &&
		a.Blocks+b.Blocks <= inode.MaxExtent
}

// apply makes the change in memory.
func (c *change) apply(f *inode.Fork) {
	f.Extents = slices.Replace(f.Extents, c.first, c.first+c.n, c.put[:c.puts]...)
}
