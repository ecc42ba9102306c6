package ialloc

import (
	"math"
	"math/bits"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// chunk is how many inodes a record has.
const chunk = geometry.InodesPerChunk

// allFree are the bits of a record whose inodes are all free.
const allFree = math.MaxUint64

// record is a record of either tree: Start is within the AG, and Count is of inodes
// that are there.
type record struct {
	ondisk.InodeRecord
}

// newRecord is that of a chunk without holes, all free.
func (g *group) newRecord(start uint32) record {
	return record{ondisk.InodeRecord{Start: start, Sparse: g.sparse, Count: chunk, FreeCount: chunk, Free: allFree}}
}

// there has a bit for each inode that is there.
func (r *record) there() uint64 {
	if r.HoleMask == 0 {
		return allFree
	}
	var m uint64
	for bit := range 16 {
		if r.HoleMask>>bit&1 == 0 {
			m |= (1<<ondisk.InodesPerHole - 1) << (ondisk.InodesPerHole * bit)
		}
	}
	return m
}

// first is the first free inode, counted from Start.
func (r *record) first() uint32 { return uint32(bits.TrailingZeros64(r.Free & r.there())) }

// has tells whether an inode is of the record.
func (r *record) has(agino uint32) bool { return agino >= r.Start && agino-r.Start < chunk }

// take takes an inode, counted from Start.
func (r *record) take(i uint32) {
	r.Free &^= 1 << i
	r.FreeCount--
}

// give gives one back.
func (r *record) give(i uint32) {
	r.Free |= 1 << i
	r.FreeCount++
}

// record is the record at a cursor, which is to be at one.
func (g *group) record(c *btree.Cursor) (record, error) {
	b, ok := c.Record()
	if !ok {
		return record{}, g.errorf(c.Tree.Name, "there is no record where one is to be")
	}
	return g.decode(c.Tree, b)
}

// decode is the record of a tree that is in some bytes.
func (g *group) decode(tr *btree.Tree, b []byte) (record, error) {
	r := record{ondisk.DecodeInodeRecord(b, g.sparse)}
	if !g.sparse {
		r.Count = chunk
	}
	return r, g.check(tr, &r)
}

// check tells what is wrong with a record (xfs_inobt_check_irec).
func (g *group) check(tr *btree.Tree, r *record) error {
	switch {
	case uint64(r.Start) < g.first || uint64(r.Start)+chunk > g.end:
		return g.errorf(tr.Name, "a record of inodes from %d on is outside of the AG", r.Start)
	case r.Count < ondisk.InodesPerHole || r.Count > chunk || r.FreeCount > chunk ||
		bits.OnesCount64(r.there()) != int(r.Count) || bits.OnesCount64(r.Free&r.there()) != int(r.FreeCount):
		return g.errorf(tr.Name, "the record of inodes from %d on counts %d, and %d free ones, which its bits do not",
			r.Start, r.Count, r.FreeCount)
	case r.FreeCount == 0 && tr.Kind == btree.Finobt:
		return g.errorf(tr.Name, "of the inodes from %d on none is free", r.Start)
	}
	return nil
}

// inodes are the numbers that inodes of an AG may have: behind the headers, in whole
// clusters (xfs_agino_range).
func inodes(fs *live.FS, agno geometry.AGNumber) (first, end uint64) {
	geo, align := fs.G, fs.InodeChunk().Align
	low := (geo.SectorBlocks() + align - 1) / align * align
	high := geo.AGLength(agno) / align * align
	return uint64(low) << geo.InodeBlockLog(), uint64(high) << geo.InodeBlockLog()
}

// lookup moves to the record that begins at an inode, or to that before or behind where it would be.
func (g *group) lookup(c *btree.Cursor, o btree.Order, agino uint32) (bool, error) {
	ondisk.InodeRecord{Start: agino}.Put(g.buf[:])
	return c.Lookup(o, g.buf[:])
}

// find is the record that begins at an inode, which is to be there.
func (g *group) find(c *btree.Cursor, start uint32) (record, error) {
	ok, err := g.lookup(c, btree.EQ, start)
	switch {
	case err != nil:
		return record{}, err
	case !ok:
		return record{}, g.errorf(c.Tree.Name, "there is no record of the inodes from %d on", start)
	}
	return g.record(c)
}

// put changes the record at a cursor.
func (g *group) put(c *btree.Cursor, r *record) error {
	r.Put(g.buf[:])
	return c.Update(g.buf[:])
}

// insert enters a record at a cursor.
func (g *group) insert(c *btree.Cursor, r *record) error {
	r.Put(g.buf[:])
	ok, err := c.Insert(g.buf[:])
	if err == nil && !ok {
		err = g.errorf(c.Tree.Name, "there is no block left for it to grow by")
	}
	return err
}
