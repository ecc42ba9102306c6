package bmap

import (
	"slices"

	"mkfs/internal/buffer"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// atOnce is how many extents FreeAll frees in a transaction (XFS_ITRUNC_MAX_EXTENTS).
const atOnce = 2

// FreeAll frees all blocks of a fork, from the end, in as many transactions as that takes. With cached, for blocks of
// metadata, what was changed in them in memory is forgotten. (xfs_itruncate_extents.)
func FreeAll(fs *live.FS, ip *inode.Inode, id ForkID, cached bool) error {
	for done := false; !done; {
		t := fs.Begin(0)
		list := id.of(ip).Extents
		last := slices.Clone(list[max(0, len(list)-atOnce):])
		var err error
		if done, err = Unmap(t, ip, id, 0, inode.MaxOffset+1, 0, atOnce); err != nil {
			return err
		}
		if cached {
			for _, e := range last {
				forget(t, e)
			}
		}
		ip.Log(t)
		if err := t.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// forget drops the blocks from memory that have a part in an extent: a directory block may lie in several.
func forget(t *live.Trans, e inode.Extent) {
	off, n := t.Offset(t.G.BlockAddress(e.Start)), int64(t.G.Bytes(e.Blocks))
	t.Cache.Forget(off, n)
	var across []*buffer.Buf
	t.Cache.Changed(off, n, func(b *buffer.Buf) { across = append(across, b) })
	for _, b := range across {
		t.Cache.Drop(b)
	}
}
