package alloc

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// take takes a part of a free extent out of both trees, whose cursors are at the extent.
// The cntbt first: what is left before and behind the part becomes records of its own.
// In the bnobt the extent's record becomes the first of those.
// (xfs_alloc_fixup_trees in libxfs.)
func (g *group) take(cnt, bno *cursor, free, part geometry.Extent) error {
	if part.Blocks == 0 || part.Start < free.Start || part.End() > free.End() {
		return g.Errorf("free space", "%d blocks at %d are wanted of %d at %d", part.Blocks, part.Start, free.Blocks,
			free.Start)
	}
	left := []geometry.Extent{
		{Start: free.Start, Blocks: geometry.Blocks(part.Start - free.Start)},
		{Start: part.End(), Blocks: geometry.Blocks(free.End() - part.End())},
	}
	if left[1].Blocks == 0 {
		left = left[:1]
	}
	if left[0].Blocks == 0 {
		left = left[1:]
	}
	atEnd := cnt.Last()
	if err := cnt.Delete(); err != nil {
		return err
	}
	for _, e := range left {
		if err := cnt.put(e); err != nil {
			return err
		}
	}
	if err := bno.replace(left); err != nil {
		return err
	}
	if atEnd {
		return g.fixLongest(cnt)
	}
	return nil
}

// replace makes one record into those of what is left of its extent.
func (c *cursor) replace(left []geometry.Extent) error {
	if len(left) == 0 {
		return c.Delete()
	}
	if err := c.update(left[0]); err != nil || len(left) == 1 {
		return err
	}
	return c.put(left[1])
}

// fixLongest puts the length of the longest free extent into the AGF, after a change in
// the last leaf of the cntbt. (xfs_alloc_fixup_longest in libxfs.)
func (g *group) fixLongest(cnt *cursor) error {
	ok, err := cnt.lookup(btree.LE, 1<<32-1, 1<<32-1)
	if err != nil {
		return err
	}
	var e geometry.Extent
	if ok {
		if e, err = cnt.extent(); err != nil {
			return err
		}
	}
	g.Set(ondisk.AGFLongest, uint32(e.Blocks))
	return nil
}
