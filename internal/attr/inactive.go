package attr

import (
	"mkfs/internal/bmap"
	"mkfs/internal/inode"
)

// Inactivate frees the attribute fork of a file that is freed, in transactions of its own, without a look at the
// attributes (xfs_attr_inactive).
func (f *FS) Inactivate(ip *inode.Inode) error {
	if ip.ForkOffset == 0 {
		return nil
	}
	if len(ip.Attr.Extents) > 0 {
		if err := bmap.FreeAll(f.fs, ip, bmap.Attr, true); err != nil {
			return damaged(ip, err)
		}
	}
	t := f.fs.Begin(0)
	dropFork(ip)
	ip.Log(t)
	return t.Commit()
}
