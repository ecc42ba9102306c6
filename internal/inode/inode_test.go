package inode_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

const size = 300 << 20

// shapes are filesystems with inodes of all sizes, versions and counters.
var shapes = [][]string{
	nil,
	{"-m", "crc=0", "-b", "size=512"},
	{"-m", "crc=0", "-i", "size=1024"},
	{"-b", "size=1024"},
	{"-b", "size=64k", "-i", "size=2048"},
	{"-i", "size=1024,nrext64=0", "-m", "bigtime=0"},
	{"-i", "sparse=0", "-m", "finobt=0"},
	{"-n", "parent=0"},
	{"-m", "metadir=1"},
	{"-d", "projinherit=7,extszinherit=4,cowextsize=8,daxinherit=1"},
}

// proto is a directory of all sorts of files.
func proto(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "proto")
	text := "/stand/x\n0 0\nd--755 0 0\n" +
		"dir d--755 5 6\n$\nfifo p--644 1 2\nchar c--600 0 0 5 70000\nblock b--600 0 0 300 1\n" +
		"link l--777 0 0 where/it/points\nempty ---644 3 4 /dev/null\ndata -u-755 0 0 " + file + "\n$\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// inodes lists the inodes of AG 0 that are in use, in the first chunk.
func inodes(t testing.TB, fs *live.FS, d *livetest.Device) (list []geometry.Inode) {
	t.Helper()
	first := fs.G.RootInode()
	agno, agino := fs.G.InodeAddress(first)
	off := fs.Offset(agno, geometry.AGBlock(agino>>fs.G.InodeBlockLog()))
	b := make([]byte, 64*fs.G.InodeSize)
	_, _ = d.ReadAt(b, off)
	for i := range 64 {
		if mode := binary.BigEndian.Uint16(b[i*int(fs.G.InodeSize)+2:]); mode != 0 {
			list = append(list, first+geometry.Inode(i))
		}
	}
	return list
}

// Inodes that the reference has written are read, and written as they were but for
// the change count.
func TestFlushChangesNothing(t *testing.T) {
	file := proto(t)
	for _, args := range shapes {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			path := livetest.Reference(t, size, append(args, "-p", file)...)
			d := livetest.Open(t, path)
			fs := livetest.Load(t, d)
			list := inodes(t, fs, d)
			if len(list) < 8 {
				t.Fatalf("%d inodes", len(list))
			}
			for _, ino := range list {
				reflush(t, fs, ino)
			}
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			agno, agino := fs.G.InodeAddress(list[0])
			off := fs.Offset(agno, geometry.AGBlock(agino>>fs.G.InodeBlockLog()))
			was := livetest.Open(t, path)
			for i := range 64 {
				at := off + int64(i)*int64(fs.G.InodeSize)
				lessChange(was, at, fs)
				if diff := livetest.Differ(d, was, at, int64(fs.G.InodeSize)); diff != "" {
					t.Errorf("inode %d of the chunk: %s", i, diff)
				}
			}
		})
	}
}

// lessChange counts one more change of an inode in use, as a flush does.
func lessChange(d *livetest.Device, at int64, fs *live.FS) {
	b := make([]byte, fs.G.InodeSize)
	_, _ = d.ReadAt(b, at)
	if binary.BigEndian.Uint16(b[2:]) == 0 || !fs.V5 {
		return
	}
	binary.BigEndian.PutUint64(b[104:], binary.BigEndian.Uint64(b[104:])+1)
	ondisk.Seal(b, ondisk.InodeCRC)
	_, _ = d.WriteAt(b, at)
}

// reflush reads an inode and has it written.
func reflush(t testing.TB, fs *live.FS, ino geometry.Inode) {
	t.Helper()
	tr := fs.Begin(0)
	ip, err := inode.Read(tr, ino)
	if err != nil {
		t.Fatal(err)
	}
	ip.Log(tr)
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	ip.Release()
}

// An inode of version 1, which counts its links elsewhere, is one of version 2 from then on.
func TestVersion1(t *testing.T) {
	path := livetest.Reference(t, size, "-m", "crc=0", "-p", proto(t))
	d := livetest.Open(t, path)
	fs := livetest.Load(t, d)
	ino := fs.G.RootInode() + 4
	agno, agino := fs.G.InodeAddress(ino)
	off := fs.Offset(agno, 0) + int64(agino)*int64(fs.G.InodeSize)
	was, b := make([]byte, fs.G.InodeSize), make([]byte, fs.G.InodeSize)
	_, _ = d.ReadAt(was, off)
	copy(b, was)
	b[4] = 1                                       // version
	binary.BigEndian.PutUint16(b[6:], 1)           // links
	binary.BigEndian.PutUint32(b[16:], 0)          // links of version 2
	binary.BigEndian.PutUint32(b[20:], 0xdeadbeef) // project of version 2
	_, _ = d.WriteAt(b, off)
	reflush(t, fs, ino)
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	_, _ = d.ReadAt(b, off)
	if !bytes.Equal(b, was) {
		t.Errorf("%x, want %x", b, was)
	}
}
