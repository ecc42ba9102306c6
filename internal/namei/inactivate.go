package namei

import (
	"fmt"

	"mkfs/internal/bmap"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
)

// Inactivate frees a file that has no name any more: its blocks, its attributes and its inode, each in
// transactions of their own. If it ends early the rest can be done later, since the inode stays on the list of
// unlinked ones to the end. (xfs_inactive.)
func (n *Names) Inactivate(ip *inode.Inode) error {
	if ip.Core.Nlink != 0 {
		return fmt.Errorf("inode %d: it has %d links, and is not to be freed", ip.Ino, ip.Core.Nlink)
	}
	if err := n.freeData(ip); err != nil {
		return err
	}
	if err := n.Attrs.Inactivate(ip); err != nil {
		return err
	}
	t := n.fs.Begin(n.Space.FreeInode())
	if err := ialloc.Free(t, ip); err != nil {
		return err
	}
	return t.Commit()
}

// freeData frees the blocks of the data fork, of two extents in a transaction.
// (xfs_inactive_truncate, xfs_inactive_symlink, xfs_inactive_dir.)
func (n *Names) freeData(ip *inode.Inode) error {
	kind := ip.Core.Mode & ondisk.ModeType
	if f := ip.Data.Format; f != ondisk.FormatExtents && f != ondisk.FormatBtree {
		return nil
	}
	t := n.fs.Begin(0)
	ip.Log(t)
	ip.Core.Size = 0
	if kind == ondisk.ModeSymlink {
		ip.Core.Mode = ip.Core.Mode&^ondisk.ModeType | ondisk.ModeRegular // which may have no contents
		if err := symlink.Truncate(t, ip); err != nil {
			return err
		}
		return t.Commit()
	}
	if err := t.Commit(); err != nil {
		return err
	}
	return bmap.FreeAll(n.fs, ip, bmap.Data, kind == ondisk.ModeDirectory)
}
