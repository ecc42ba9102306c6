package ialloc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

const size = 304 << 20

// proto is the description of a root directory of so many empty files, for the reference.
func proto(t testing.TB, dir string, files int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("/stand/x\n0 0\nd--755 0 0\n")
	for i := range files {
		fmt.Fprintf(&b, "%s ---644 %d %d /dev/null\n", name(i), i, 2*i)
	}
	b.WriteString("$\n")
	path := filepath.Join(dir, fmt.Sprint("proto", files))
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func name(i int) string { return fmt.Sprintf("f%05d", i) }

// Files that are added to a directory which does not grow by it get the inodes that
// the reference gives them, and AGs and inodes are the same to the byte.
func TestMoreFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args        []string
		first, last int
	}{
		{[]string{"-n", "size=64k"}, 100, 1500},
		{[]string{"-n", "size=64k,parent=0"}, 100, 2000},
		{[]string{"-n", "size=64k", "-m", "rmapbt=0"}, 100, 1500},
		{[]string{"-n", "size=64k", "-m", "finobt=0"}, 100, 1500},
		{[]string{"-n", "size=64k", "-i", "sparse=0"}, 100, 1500},
		{[]string{"-n", "size=64k", "-i", "size=2048"}, 200, 1500},
		{[]string{"-n", "size=64k", "-b", "size=1024"}, 100, 1500},
		{[]string{"-n", "size=64k", "-d", "su=64k,sw=2,agcount=2"}, 100, 1500},
		{[]string{"-b", "size=64k"}, 100, 1500},
		{[]string{"-n", "size=64k", "-m", "crc=0"}, 100, 2000},
		{[]string{"-n", "size=64k", "-m", "crc=0", "-b", "size=512"}, 100, 2000},
		{[]string{"-n", "size=64k", "-m", "crc=0", "-b", "size=512", "-i", "size=256,align=0"}, 100, 2000},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			d := livetest.Open(t, livetest.Reference(t, size, append(c.args, "-p", proto(t, dir, c.first))...))
			want := livetest.Open(t, livetest.Reference(t, size, append(c.args, "-p", proto(t, dir, c.last))...))
			fs := livetest.Load(t, d)
			tr := fs.Begin(0)
			root, err := inode.Read(tr, fs.G.RootInode())
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.Commit(); err != nil {
				t.Fatal(err)
			}
			for i := c.first; i < c.last; i++ {
				addFile(t, fs, root, i)
			}
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			compareAG(t, fs, d, want, 0, root)
			loaded := livetest.Load(t, want)
			if fs.Counts != loaded.Counts {
				t.Errorf("%+v, want %+v", fs.Counts, loaded.Counts)
			}
		})
	}
}

// addFile creates a file as the reference does, but for the name in the directory.
func addFile(t testing.TB, fs *live.FS, root *inode.Inode, i int) {
	t.Helper()
	tr := fs.Begin(0)
	ip := create(t, tr, root, ialloc.New{Mode: ondisk.ModeRegular | 0o644, UID: uint32(i), GID: uint32(2 * i)})
	if fs.G.Features.Parent {
		ip.Attr.Reset(ondisk.FormatLocal)
		attrs := []ondisk.Attr{{Flags: ondisk.AttrParent, Name: name(i), Value: ondisk.PutParent(uint64(root.Ino), 0)}}
		ondisk.PutAttrs(ip.Attr.Resize(ondisk.AttrsSize(attrs)), attrs)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	ip.Release()
}

func create(t testing.TB, tr *live.Trans, parent *inode.Inode, n ialloc.New) *inode.Inode {
	t.Helper()
	ino, ok, err := ialloc.Alloc(tr, parent, n.Mode)
	if err != nil || !ok {
		t.Fatalf("Alloc: %v %v", ok, err)
	}
	ip, err := ialloc.Create(tr, ino, parent, n)
	if err != nil {
		t.Fatal(err)
	}
	return ip
}

// compareAG compares the blocks of an AG in use, but for those of directories and the
// log, the superblock, and the inode of a directory.
func compareAG(t *testing.T, fs *live.FS, d, want *livetest.Device, agno geometry.AGNumber, dirs ...*inode.Inode) {
	t.Helper()
	skip := map[geometry.AGBlock]bool{}
	for _, dir := range dirs {
		for _, e := range dir.Data.Extents {
			for b := range e.Blocks {
				_, agbno := fs.G.BlockAddress(e.Start + geometry.FSBlock(b))
				skip[agbno] = true
			}
		}
	}
	for _, dir := range dirs {
		unlikeDir(fs, d, want, dir.Ino)
	}
	const piece = 1 << 20
	got, wanted := make([]byte, piece), make([]byte, piece)
	begin, end := fs.Offset(agno, 0), fs.Offset(agno, 0)+int64(fs.G.Bytes(fs.G.AGLength(agno)))
	for off, bad := begin, 0; off < end; off += piece {
		n := min(piece, end-off)
		_, _ = d.ReadAt(got[:n], off)
		_, _ = want.ReadAt(wanted[:n], off)
		if bytes.Equal(got[:n], wanted[:n]) {
			continue
		}
		step := int64(fs.G.BlockSize)
		for i := int64(0); i < n; i += step {
			agbno := geometry.AGBlock((off + i - begin) / step)
			a, b := got[i:i+step], wanted[i:i+step]
			if agbno == 0 { // the superblock
				clear(a[:min(step, int64(fs.G.SectorSize))])
				clear(b[:min(step, int64(fs.G.SectorSize))])
			}
			inLog := agno == fs.G.Log.AG && agbno >= fs.G.Log.Start && agbno < fs.G.Log.Start+geometry.AGBlock(fs.G.Log.Blocks)
			if skip[agbno] || inLog || bytes.Equal(a, b) {
				continue
			}
			if bad++; bad < 8 {
				t.Errorf("block %d of AG %d: %s", agbno, agno, livetest.Differ(d, want, off+i, step))
			}
		}
	}
}

// unlikeDir makes a directory's inode that of the other device.
func unlikeDir(fs *live.FS, d, want *livetest.Device, ino geometry.Inode) {
	agno, agino := fs.G.InodeAddress(ino)
	b := make([]byte, fs.G.InodeSize)
	off := fs.Offset(agno, 0) + int64(agino)*int64(fs.G.InodeSize)
	_, _ = want.ReadAt(b, off)
	if binary.BigEndian.Uint16(b) == ondisk.InodeMagic {
		_, _ = d.WriteAt(b, off)
	}
}
