package inode_test

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// FuzzRead reads an inode of whatever bytes, and writes what it has read.
func FuzzRead(f *testing.F) {
	fs, d := livetest.New(f, livetest.Plan(f, 300<<20, nil))
	const ino = geometry.Inode(8192)
	n := int64(fs.G.InodeSize)
	f.Add(inodeBytes(fs, ino))
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := range int64(64) {
			_, _ = d.WriteAt(inodeBytes(fs, ino+geometry.Inode(i)), (int64(ino)+i)*n)
		}
		b := inodeBytes(fs, ino)
		copy(b, data)
		ondisk.Seal(b, ondisk.InodeCRC)
		_, _ = d.WriteAt(b, int64(ino)*n)
		fs.Cache.Forget(int64(ino)*n, 64*n)
		tr := fs.Begin(0)
		ip, err := inode.Read(tr, ino)
		if err != nil {
			return
		}
		ip.Log(tr)
		if err := tr.Commit(); err != nil {
			t.Error(err)
		}
	})
}

// inodeBytes is an empty file.
func inodeBytes(fs *live.FS, ino geometry.Inode) []byte {
	b := make([]byte, fs.G.InodeSize)
	i := ondisk.Inode{
		Mode: ondisk.ModeRegular, Version: 3, Format: ondisk.FormatExtents, AttrFormat: ondisk.FormatExtents,
		NextUnlinked: geometry.NullAGInode, Number: uint64(ino), UUID: fs.UUID,
	}
	i.Put(b)
	ondisk.Seal(b, ondisk.InodeCRC)
	return b
}
