// Package rmap keeps the reverse mapping of an AG: who owns its blocks. The rules are
// those of libxfs (xfs_rmap.c).
//
// The rmapbt has a record for each run of blocks that are of one owner, and in a file for
// each run that is one there, too. Records are sorted by block, owner and offset. Blocks of a file
// that it shares with others have a record for each owner: there records overlap.
// Nothing that is free has a record.
//
// What is entered becomes one with the records before and behind it, if they are of the
// same owner and go on in each other. The cursor moves as libxfs moves it, since that
// settles into which of two leaves a record goes that belongs between them.
//
// Where records overlap, the one before another in order need not be the one that ends where it begins, or has its
// blocks. Such a record is looked for among all that have a block (shared.go), and a record whose key changes is deleted
// and inserted.
package rmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Owner says whose blocks are. That whose Owner is 0 is nobody.
type Owner struct {
	Owner  uint64 // an inode or one of the ondisk.Own values
	Offset uint64 // within a file's fork, in blocks
	Attr   bool   // of the attribute fork
	Bmbt   bool   // of the btree of a fork, which has no offsets
	// Unwritten: preallocated blocks that hold no data yet.
	Unwritten bool
}

// record is the record of blocks of an owner.
func (o Owner) record(at geometry.AGBlock, n geometry.Blocks) record {
	r := record{start: at, blocks: n, owner: o.Owner, offset: o.Offset}
	for _, f := range [...]struct {
		on  bool
		bit uint64
	}{{o.Attr, ondisk.RmapAttr}, {o.Bmbt, ondisk.RmapBmbt}, {o.Unwritten, ondisk.RmapUnwritten}} {
		if f.on {
			r.offset |= f.bit
		}
	}
	return r
}

// Map enters blocks of an AG, at once. Without an rmapbt it does nothing.
// (xfs_rmap_map in libxfs.)
func Map(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	return change(t, agno, at, n, func(c *cursor) error { return c.enter(o.record(at, n)) })
}

// Unmap removes blocks of an AG, at once. If the owner is ondisk.OwnUnknown it does not
// matter whose they are, and whether they are anybody's. (xfs_rmap_unmap in libxfs.)
func Unmap(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	return change(t, agno, at, n, func(c *cursor) error { return c.remove(o.record(at, n)) })
}

// Convert makes blocks of a file's data fork unwritten, or written, as the owner says.
// (xfs_rmap_convert in libxfs.)
func Convert(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	return change(t, agno, at, n, func(c *cursor) error { return c.convert(o.record(at, n)) })
}

// MapShared, UnmapShared and ConvertShared are Map, Unmap and Convert for blocks of a file's data fork that other files,
// or the file itself at another offset, may have, too. (xfs_rmap_map_shared, xfs_rmap_unmap_shared and
// xfs_rmap_convert_shared in libxfs.)
func MapShared(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	return change(t, agno, at, n, func(c *cursor) error { return c.enterShared(o.record(at, n)) })
}

// UnmapShared: see MapShared.
func UnmapShared(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	return change(t, agno, at, n, func(c *cursor) error { return c.removeShared(o.record(at, n)) })
}

// ConvertShared: see MapShared.
func ConvertShared(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks, o Owner) error {
	return change(t, agno, at, n, func(c *cursor) error { return c.convertShared(o.record(at, n)) })
}

// change does something to the rmapbt of an AG, if there is one.
func change(t *live.Trans, agno geometry.AGNumber, at geometry.AGBlock, n geometry.Blocks,
	do func(*cursor) error) error {
	if !t.G.Features.Rmapbt {
		return nil
	}
	c, err := open(t, agno)
	if err != nil {
		return err
	}
	if !c.Has(at, n) {
		return c.errorf("%d blocks at %d, in an AG of %d", n, at, c.Length())
	}
	return do(c)
}
