package inode

import (
	"fmt"

	"mkfs/internal/btree"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// readTree reads the root of a btree of extents, and all of these.
// (xfs_iformat_btree and xfs_iread_extents in libxfs.)
func (f *Fork) readTree(t *live.Trans, ip *Inode, b []byte, extents uint64, attr bool) error {
	switch fit := uint64(len(b) / ondisk.FileExtentSize); {
	case extents <= fit:
		return fmt.Errorf("%d extents are in a btree, and %d would fit the inode", extents, fit)
	case extents > ip.Core.Blocks:
		return fmt.Errorf("%d extents of %d blocks", extents, ip.Core.Blocks)
	}
	if err := f.Root.Load(btree.Bmbt, b); err != nil {
		return err
	}
	tr := btree.Tree{Kind: btree.Bmbt, Owner: uint64(ip.Ino), Fork: &f.Root}
	for record, err := range tr.Records(t) {
		if err == nil && uint64(len(f.Extents)) == extents {
			err = fmt.Errorf("the btree has more than %d extents", extents)
		}
		if err == nil {
			err = f.add(t.FS, ip, DecodeExtent(record), attr)
		}
		if err != nil {
			return err
		}
	}
	if n := len(f.Extents); uint64(n) < extents {
		return fmt.Errorf("the btree has %d extents of %d", n, extents)
	}
	return nil
}
