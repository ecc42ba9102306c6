package ialloc

import (
	"math"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
)

// take takes a free inode of the AG, which has some (xfs_dialloc_ag). parent is the
// directory, 0 for none.
func (g *group) take(parent geometry.Inode) (agino uint32, err error) {
	agno, near := g.t.G.InodeAddress(parent)
	if near == 0 { // the root of a tree, for which a chunk was made
		near = g.NewInode()
	}
	if g.finobt() {
		agino, err = g.takeListed(near, agno == g.agno)
	} else {
		agino, err = g.takeSearched(near, agno == g.agno)
	}
	if err != nil {
		return 0, err
	}
	g.AddFreeCount(-1)
	g.changed()
	g.t.Counts.FreeInodes--
	return agino, nil
}

// takeListed takes an inode that the finobt has: near another, or where inodes were last
// made.
func (g *group) takeListed(near uint32, same bool) (uint32, error) {
	if same {
		if agino, ok, err := g.takeAgain(near); ok || err != nil {
			return agino, err
		}
	}
	var c *btree.Cursor
	var r record
	var err error
	var of reach
	if same {
		c, r, of, err = g.nearest(near)
	} else {
		c, r, err = g.newest()
	}
	if err != nil {
		return 0, err
	}
	i := r.first()
	r.take(i)
	if r.FreeCount > 0 {
		err = g.put(c, &r)
	} else {
		err = c.Delete()
	}
	if err != nil {
		return 0, err
	}
	if err := g.takeInobt(&r, i); err != nil {
		return 0, err
	}
	if same && r.FreeCount > 0 {
		g.keep(c, of)
	}
	return r.Start + i, nil
}

// takeInobt takes an inode in the inobt that was taken in the finobt
// (xfs_dialloc_ag_update_inobt).
func (g *group) takeInobt(fino *record, i uint32) error {
	c := g.at(&g.cursor, &g.ino)
	r, err := g.find(c, fino.Start)
	if err != nil {
		return err
	}
	r.take(i)
	if r.Free != fino.Free || r.FreeCount != fino.FreeCount {
		return g.errorf("inobt", "the record of the inodes from %d on is not that of the finobt", r.Start)
	}
	return g.put(c, &r)
}

// nearest finds the record of the finobt that has an inode, or is nearest to it
// (xfs_dialloc_ag_finobt_near), and the inodes of which that is true.
func (g *group) nearest(near uint32) (*btree.Cursor, record, reach, error) {
	left := g.at(&g.left, &g.fino)
	hasLeft, err := g.lookup(left, btree.LE, near)
	if err != nil {
		return nil, record{}, reach{}, err
	}
	var l, r record
	if hasLeft {
		if l, err = g.record(left); err != nil || l.has(near) {
			return left, l, reach{l.Start, l.Start + chunk - 1}, err
		}
	}
	right := g.at(&g.right, &g.fino)
	hasRight, err := g.lookup(right, btree.GE, near)
	if err != nil {
		return nil, record{}, reach{}, err
	}
	if hasRight {
		if r, err = g.record(right); err != nil {
			return nil, record{}, reach{}, err
		}
	}
	switch {
	case !hasLeft && !hasRight:
		return nil, record{}, reach{}, g.errorf("finobt", "it is empty, while the AGI counts %d free inodes", g.FreeCount())
	case !hasLeft:
		return right, r, reach{0, r.Start + chunk - 1}, nil
	case !hasRight:
		return left, l, reach{l.Start, math.MaxUint32}, nil
	case near-l.Start+chunk-1 > r.Start-near:
		return right, r, reach{near, r.Start + chunk - 1}, nil
	}
	return left, l, reach{l.Start, near}, nil
}

// newest finds the record of the newest chunk in the finobt, else its first
// (xfs_dialloc_ag_finobt_newino).
func (g *group) newest() (*btree.Cursor, record, error) {
	c := g.at(&g.left, &g.fino)
	if at := g.NewInode(); at != geometry.NullAGInode {
		if ok, err := g.lookup(c, btree.EQ, at); err != nil {
			return nil, record{}, err
		} else if ok {
			r, err := g.record(c)
			return c, r, err
		}
	}
	ok, err := g.lookup(c, btree.GE, 0)
	if err != nil {
		return nil, record{}, err
	}
	if !ok {
		return nil, record{}, g.errorf("finobt", "it is empty, while the AGI counts %d free inodes", g.FreeCount())
	}
	r, err := g.record(c)
	return c, r, err
}
