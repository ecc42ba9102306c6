package inode

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Make is an inode that is made of a free one, with nothing in it but a generation
// number: a new one, or in V4 that which is there (libxfs_iget). New inodes of
// filesystems that have large times and counters have these.
func Make(t *live.Trans, ino geometry.Inode) (*Inode, error) {
	_, b, err := get(t, ino)
	if err != nil {
		return nil, err
	}
	if mode, ok := ondisk.InodeMode(b); !ok || mode != 0 {
		return nil, fmt.Errorf("inode %d: it is in use, while its record says that it is free", ino)
	}
	ip := New(ino)
	ip.Core.DataMigration = ondisk.DataMigration(b)
	if t.V5 {
		ip.Core.Version, ip.Core.Generation, ip.Core.Flags2 = 3, t.Generation(), newFlags(t.FS)
		return ip, nil
	}
	was, _ := ondisk.DecodeInode(b)
	ip.Core.Version, ip.Core.Generation, ip.Core.BigExtents = 2, was.Generation, was.BigExtents
	return ip, nil
}
