package bmap

import (
	"errors"
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// ForkID is a fork of an inode.
type ForkID int

// The forks.
const (
	Data ForkID = iota
	Attr
)

func (id ForkID) String() string {
	if id == Attr {
		return "attribute fork"
	}
	return "data fork"
}

// of is the fork of an inode.
func (id ForkID) of(ip *inode.Inode) *inode.Fork { return ip.Fork(id == Attr) }

// Flags of Write, as those of xfs_bmapi_write.
type Flags uint

// The flags.
const (
	// Metadata: blocks of a directory, of attributes, of a symlink.
	Metadata Flags = 1 << iota
	// Contiguous: in one extent or not at all.
	Contiguous
	// Prealloc: new blocks are unwritten. Without it those that are unwritten become written.
	Prealloc
	// Convert, with Prealloc: blocks that are written become unwritten.
	Convert
	// Keep: Unmap does not free the blocks, which something else has (XFS_BMAPI_REMAP).
	Keep
)

// ErrNoRoom is what an operation ends with that needs a block and has none. What it was to change is as it was
// if the error is Unmap's; otherwise the transaction must be given up.
var ErrNoRoom = errors.New("no block for the btree of extents")

// Read maps n blocks from off on: the extents that there are, cut to the range. Holes are between them.
func Read(_ *live.Trans, ip *inode.Inode, id ForkID, off uint64, n geometry.Blocks) ([]inode.Extent, error) {
	f := id.of(ip)
	if err := hasExtents(ip, id); err != nil {
		return nil, err
	}
	var list []inode.Extent
	for i := f.Search(off); i < len(f.Extents); i++ {
		e, ok := cut(f.Extents[i], off, n)
		if !ok {
			break
		}
		list = append(list, e)
	}
	return list, nil
}

// Lookup is the extent that has a block of a fork, or the first behind it; ok is false if there is neither. It
// takes no memory and never fails, but the fork must not be local.
func Lookup(ip *inode.Inode, id ForkID, off uint64) (e inode.Extent, ok bool) {
	f := id.of(ip)
	if i := f.Search(off); i < len(f.Extents) {
		return f.Extents[i], true
	}
	return e, false
}

// LastOffset is the first block behind all extents of a fork below a limit, 0 if there are none.
func LastOffset(_ *live.Trans, ip *inode.Inode, id ForkID, below uint64) (uint64, error) {
	f := id.of(ip)
	if f.Format == ondisk.FormatLocal {
		return 0, nil
	}
	if err := hasExtents(ip, id); err != nil {
		return 0, err
	}
	i := f.Search(below)
	if i < len(f.Extents) && f.Extents[i].Offset < below {
		return below, nil
	}
	if i == 0 {
		return 0, nil
	}
	return f.Extents[i-1].End(), nil
}

// FirstUnused is the first place from low on where n blocks are not mapped. A local fork has none that are.
// (xfs_bmap_first_unused in libxfs.)
func FirstUnused(_ *live.Trans, ip *inode.Inode, id ForkID, n geometry.Blocks, low uint64) (uint64, error) {
	f := id.of(ip)
	if f.Format == ondisk.FormatLocal {
		return 0, nil
	}
	if err := hasExtents(ip, id); err != nil {
		return 0, err
	}
	first := low
	for i := f.Search(low); i < len(f.Extents); i++ {
		e := f.Extents[i]
		if e.Offset >= first+uint64(n) {
			break
		}
		first = e.End()
	}
	return first, nil
}

// hasExtents tells by an error that a fork has a form without extents.
func hasExtents(ip *inode.Inode, id ForkID) error {
	switch f := id.of(ip); f.Format {
	case ondisk.FormatExtents, ondisk.FormatBtree:
		return nil
	default:
		return fail(ip, id, "form %d has no extents", f.Format)
	}
}

// fail is an error of a fork.
func fail(ip *inode.Inode, id ForkID, format string, args ...any) error {
	return fmt.Errorf("inode %d, %v: %w", ip.Ino, id, fmt.Errorf(format, args...))
}

// cut is the part of an extent within n blocks from off on; ok is false if there is none.
func cut(e inode.Extent, off uint64, n geometry.Blocks) (_ inode.Extent, ok bool) {
	from, to := max(e.Offset, off), min(e.End(), off+uint64(n))
	if from >= to {
		return inode.Extent{}, false
	}
	e.Start += geometry.FSBlock(from - e.Offset)
	e.Offset, e.Blocks = from, geometry.Blocks(to-from)
	return e, true
}
