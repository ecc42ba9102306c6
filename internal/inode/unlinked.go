package inode

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// NextUnlinked is the inode, within the AG, that follows one on its list of unlinked
// inodes, or geometry.NullAGInode.
func NextUnlinked(t *live.Trans, ino geometry.Inode) (agino uint32, err error) {
	_, b, err := get(t, ino)
	if err != nil {
		return 0, err
	}
	return ondisk.NextUnlinked(b), nil
}

// SetNextUnlinked changes NextUnlinked, in the block alone: it is no change of the
// file, and an inode in memory takes it from there (xfs_iunlink_log_inode).
func SetNextUnlinked(t *live.Trans, ino geometry.Inode, agino uint32) error {
	buf, b, err := get(t, ino)
	if err != nil {
		return err
	}
	ondisk.SetNextUnlinked(b, agino)
	t.Dirty(buf)
	return nil
}

// Clear makes an inode a free one, with the next generation number (xfs_inode_uninit).
func (ip *Inode) Clear(fs *live.FS) {
	core := &ip.Core
	core.Mode, core.Flags, core.Flags2 = 0, 0, newFlags(fs)
	core.Generation++
	ip.ForkOffset = 0
	ip.Data.Reset(ondisk.FormatExtents)
	ip.Attr.Reset(ondisk.FormatExtents)
}

// Drop says that the inode's chunk is freed: it is not put back any more.
func (ip *Inode) Drop() { ip.gone = true }

// newFlags are the flags of new inodes, which have large times and counters where the
// filesystem has.
func newFlags(fs *live.FS) (f ondisk.InodeFlags2) {
	if fs.G.Features.Bigtime {
		f |= ondisk.Flag2Bigtime
	}
	if fs.G.Features.Nrext64 {
		f |= ondisk.Flag2Nrext64
	}
	return f
}
