package ialloc

import (
	"bytes"

	"mkfs/internal/btree"
)

// kept is where an inode was taken near others, in both trees: as long as these have the same
// records the next one comes from there too, without a search.
type kept struct {
	reach
	ino, fino btree.Spot
}

// reach is a range of inodes, both ends in it, to all of which the same record of the finobt
// is nearest.
type reach struct{ first, last uint32 }

// keep keeps the record that an inode was taken from, which has more: it is at the cursor c in
// the finobt, and in the inobt at that of the group.
func (g *group) keep(c *btree.Cursor, of reach) {
	k := &g.kept
	fino := c.Spot()
	if k.fino.Is(&fino) { // it was kept for others
		of = reach{min(of.first, k.first), max(of.last, k.last)}
	}
	*k = kept{reach: of, ino: g.cursor.Spot(), fino: fino}
}

// takeAgain takes an inode of the record that is kept, unless another may be nearer, or it would
// be its last.
func (g *group) takeAgain(near uint32) (agino uint32, ok bool, err error) {
	k := &g.kept
	if near < k.first || near > k.last {
		return 0, false, nil
	}
	fino, ok := k.fino.Record(g.t)
	if !ok {
		return 0, false, nil
	}
	ino, ok := k.ino.Record(g.t)
	if !ok || !bytes.Equal(ino, fino) {
		return 0, false, nil
	}
	r, err := g.decode(&g.fino, fino)
	if err != nil || r.FreeCount < 2 {
		return 0, false, err
	}
	i := r.first()
	r.take(i)
	r.Put(g.buf[:])
	k.fino.Change(g.t, g.buf[:])
	k.ino.Change(g.t, g.buf[:])
	return r.Start + i, true, nil
}
