package ialloc

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
)

// lastSearch is how far a search of the inobt from a directory's inode went to both
// sides. (pagl_pagino, pagl_leftrec and pagl_rightrec of the kernel.)
type lastSearch struct{ near, left, right uint32 }

// mostRecords is how many records a search looks at before the newest chunk will do,
// and one more.
const mostRecords = 10

// takeSearched takes an inode of an AG without a finobt (xfs_dialloc_ag_inobt).
func (g *group) takeSearched(near uint32, same bool) (uint32, error) {
	var c *btree.Cursor
	var r record
	var err error
	if same {
		c, r, err = g.around(near)
	}
	if err == nil && c == nil {
		c, r, err = g.newestOrFirst()
	}
	if err != nil {
		return 0, err
	}
	i := r.first()
	r.take(i)
	return r.Start + i, g.put(c, &r)
}

// newestOrFirst finds the record of the newest chunk, if it has a free inode, else the
// first that has one.
func (g *group) newestOrFirst() (*btree.Cursor, record, error) {
	c := g.at(&g.left, &g.ino)
	if at := g.NewInode(); at != geometry.NullAGInode {
		if ok, err := g.lookup(c, btree.EQ, at); err != nil {
			return nil, record{}, err
		} else if ok {
			if r, err := g.record(c); err != nil || r.FreeCount > 0 {
				return c, r, err
			}
		}
	}
	ok, err := g.lookup(c, btree.GE, 0)
	for ; err == nil && ok; ok, err = c.Next() {
		if r, err := g.record(c); err != nil || r.FreeCount > 0 {
			return c, r, err
		}
	}
	if err == nil {
		err = g.errorf("inobt", "it has no free inode, while the AGI counts %d", g.FreeCount())
	}
	return nil, record{}, err
}

// side is a search to one side.
type side struct {
	c    *btree.Cursor
	r    record
	done bool // there are no more records
}

// step moves on by a record, to the left or to the right.
func (g *group) step(s *side, left bool) error {
	move := s.c.Next
	if left {
		move = s.c.Prev
	}
	ok, err := move()
	if s.done = !ok; err != nil || !ok {
		return err
	}
	s.r, err = g.record(s.c)
	return err
}

// jump moves to the record that begins at an inode.
func (g *group) jump(s *side, start uint32) error {
	ok, err := g.lookup(s.c, btree.EQ, start)
	if s.done = !ok; err != nil || !ok {
		return err
	}
	s.r, err = g.record(s.c)
	return err
}

// around searches the record of an inode, and from there on to both sides for one that
// has a free inode; it goes on where the last search from there ended. The cursor is nil
// if none is near.
func (g *group) around(near uint32) (*btree.Cursor, record, error) {
	for again := false; ; again = true {
		c, r, whole, err := g.sides(near)
		if err != nil || c != nil || !whole {
			return c, r, err
		}
		if again { // it began at the inode and saw all
			return nil, record{}, g.errorf("inobt", "it has no free inode, while the AGI counts %d", g.FreeCount())
		}
		delete(g.last, g.agno)
	}
}

// sides is one search. If it finds none, whole tells that it came to both ends.
func (g *group) sides(near uint32) (c *btree.Cursor, _ record, whole bool, err error) {
	l, r := side{c: g.at(&g.left, &g.ino)}, side{c: g.at(&g.right, &g.ino)}
	ok, err := g.lookup(r.c, btree.LE, near)
	if err == nil && !ok {
		err = g.errorf("inobt", "there is no record of the directory's inode %d", near)
	}
	if err != nil {
		return nil, record{}, false, err
	}
	if r.r, err = g.record(r.c); err != nil || r.r.FreeCount > 0 {
		return r.c, r.r, false, err
	}
	if err := g.begin(&l, &r, near); err != nil {
		return nil, record{}, false, err
	}
	left := mostRecords
	for left--; left > 0 && !(l.done && r.done); left-- {
		useLeft := !l.done
		if !l.done && !r.done {
			useLeft = near-(l.r.Start+chunk-1) < r.r.Start-near
		}
		s := &r
		if useLeft {
			s = &l
		}
		if s.r.FreeCount > 0 {
			g.last[g.agno] = lastSearch{near, l.r.Start, r.r.Start}
			return s.c, s.r, false, nil
		}
		if err := g.step(s, useLeft); err != nil {
			return nil, record{}, false, err
		}
	}
	if left > 0 {
		return nil, record{}, true, nil
	}
	g.last[g.agno] = lastSearch{near, l.r.Start, r.r.Start}
	return nil, record{}, false, nil
}

// begin moves both sides to where a search begins: where the last one from this inode
// ended, else beside its record, where the right one is.
func (g *group) begin(l, r *side, near uint32) error {
	if last, ok := g.last[g.agno]; ok && last.near == near && near != geometry.NullAGInode &&
		last.left != geometry.NullAGInode && last.right != geometry.NullAGInode {
		if err := g.jump(l, last.left); err != nil {
			return err
		}
		return g.jump(r, last.right)
	}
	*l.c = *r.c
	if err := g.step(l, true); err != nil {
		return err
	}
	return g.step(r, false)
}
