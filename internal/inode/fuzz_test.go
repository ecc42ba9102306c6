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
	super := make([]byte, fs.G.SectorSize)
	_, _ = d.ReadAt(super, 0)
	super[ondisk.InProgressField] = 0
	ondisk.Seal(super, ondisk.SuperblockCRC)
	_, _ = d.WriteAt(super, 0)
	const ino = geometry.Inode(8192)
	cluster := inodeBytes(fs, ino)
	f.Add(cluster)
	f.Fuzz(func(t *testing.T, data []byte) {
		d := d.Clone()
		n := int64(fs.G.InodeSize)
		for i := range int64(64) {
			_, _ = d.WriteAt(inodeBytes(fs, ino+geometry.Inode(i)), int64(ino)*n+i*n)
		}
		b := inodeBytes(fs, ino)
		copy(b, data)
		ondisk.Seal(b, ondisk.InodeCRC)
		_, _ = d.WriteAt(b, int64(ino)*n)
		fs := livetest.Load(t, d)
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
