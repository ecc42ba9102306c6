package bmap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// part is a run of bytes of a file.
type part struct{ off, n int64 }

// writeChunk is how much of a file the reference copies at a time.
const writeChunk = 128 << 10

// sparse makes a file that has data in some parts only.
func sparse(t *testing.T, path string, parts []part) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range parts {
		b := make([]byte, p.n)
		for i := range b {
			b[i] = byte(1 + i%251)
		}
		if _, err := f.WriteAt(b, p.off); err != nil {
			t.Fatal(err)
		}
	}
}

// every makes count parts of n bytes, one each step bytes.
func every(step, n int64, count int) (parts []part) {
	for i := range int64(count) {
		parts = append(parts, part{i * step, n})
	}
	return parts
}

// withFile has the reference make a filesystem with a file /0 that is of a type of protofiles: "-" with a source, "r"
// with a size.
func withFile(t *testing.T, size int64, kind, arg string, args ...string) string {
	t.Helper()
	return withFiles(t, size, []string{kind + "--755 0 0 " + arg}, args...)
}

// withFiles has the reference make a filesystem with files /0, /1 and so on, as a protofile tells of them.
func withFiles(t *testing.T, size int64, files []string, args ...string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("/\n0 0\nd--755 0 0\n")
	for i, f := range files {
		fmt.Fprintf(&text, "%d %s\n", i, f)
	}
	proto := filepath.Join(t.TempDir(), "proto")
	if err := os.WriteFile(proto, []byte(text.String()+"$\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return livetest.Reference(t, size, slices.Concat(args, []string{"-p", proto})...)
}

// numbers are the inodes of the files of withFiles.
func numbers(t *testing.T, image string, n int) (list []geometry.Inode) {
	t.Helper()
	args := []string{"-r"}
	for i := range n {
		args = append(args, "-c", fmt.Sprintf("path /%d", i), "-c", "inode")
	}
	out, err := livetest.Run(t, "xfs_db", append(args, image)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || len(lines) != n {
		t.Fatalf("xfs_db: %v\n%s", err, out)
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		ino, err := strconv.ParseUint(fields[len(fields)-1], 10, 64)
		if err != nil {
			t.Fatalf("xfs_db: %v\n%s", err, out)
		}
		list = append(list, geometry.Inode(ino))
	}
	return list
}

// sameMetadata compares two devices but for the superblocks and for what files have: so many bytes of the first AG,
// where the files are, and the first MiB of the others.
func sameMetadata(t *testing.T, fs *live.FS, got, want *livetest.Device, first int64, files ...*inode.Inode) {
	t.Helper()
	g := fs.G
	for agno := range g.AGCount {
		n := min(first, int64(g.Bytes(g.AGLength(agno))))
		if agno > 0 {
			n = 1 << 20
		}
		from := int64(g.Offset(agno, 0))
		for off := from + int64(g.SectorSize); off < from+n; {
			end := min(from+n, off&^(1<<18-1)+1<<18)
			if livetest.Differ(got, want, off, end-off) == "" || sameBlocks(t, fs, got, want, off, end, files) {
				off = end
				continue
			}
			return
		}
	}
}

// sameBlocks compares blocks of a range but for what files have.
func sameBlocks(t *testing.T, fs *live.FS, got, want *livetest.Device, off, end int64, files []*inode.Inode) bool {
	t.Helper()
	size := int64(fs.G.BlockSize)
	for off < end {
		next := off&^(size-1) + size
		if e, ok := data(fs, off, files); ok {
			next = fs.Offset(fs.G.BlockAddress(e.Start)) + int64(fs.G.Bytes(e.Blocks))
		} else if livetest.Differ(got, want, off, next-off) != "" {
			t.Errorf("block %d differs: %s", off/size, differences(got, want, off, next-off))
			return false
		}
		off = next
	}
	return true
}

// differences lists the first bytes that differ.
func differences(got, want *livetest.Device, off, n int64) (text string) {
	a, b := make([]byte, n), make([]byte, n)
	_, _ = got.ReadAt(a, off)
	_, _ = want.ReadAt(b, off)
	for i, count := 0, 0; i < len(a) && count < 20; i++ {
		if a[i] != b[i] {
			text += fmt.Sprintf(" +%#x: %#x, want %#x;", i, a[i], b[i])
			count++
		}
	}
	return text
}

// data is the extent of a file that has a byte.
func data(fs *live.FS, off int64, files []*inode.Inode) (inode.Extent, bool) {
	for _, ip := range files {
		for _, e := range ip.Data.Extents {
			if at := fs.Offset(fs.G.BlockAddress(e.Start)); off >= at && off < at+int64(fs.G.Bytes(e.Blocks)) {
				return e, true
			}
		}
	}
	return inode.Extent{}, false
}

// read reads an inode, in a transaction of its own.
func read(t *testing.T, fs *live.FS, ino geometry.Inode) *inode.Inode {
	t.Helper()
	tr := fs.Begin(0)
	ip, err := inode.Read(tr, ino)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	return ip
}

// A file that is copied, hole by hole, has the extents that the reference gives it, in the same bytes, in all
// forms of the fork.
func TestCopy(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  int64
		args  []string
		parts []part
	}{
		{name: "one extent", parts: every(1<<20, 5000, 1)},
		{name: "large", parts: every(1<<20, 3<<20, 1)},
		{name: "a few", parts: every(64<<10, 4096, 10)},
		{name: "more than fit", parts: every(64<<10, 4096, 30)},
		{name: "a tree of two leaves", parts: every(8<<10, 4096, 400)},
		{name: "far apart", parts: every(60<<20, 4096, 40)},
		{name: "blocks of 1 KiB", args: []string{"-b", "size=1k"}, parts: every(8<<10, 4096, 300)},
		{name: "blocks of 1 KiB three levels", args: []string{"-b", "size=1k"}, parts: every(8<<10, 4096, 1500)},
		{name: "no rmapbt", args: []string{"-m", "rmapbt=0,reflink=0"}, parts: every(8<<10, 4096, 400)},
		{name: "small counters", args: []string{"-i", "nrext64=0,exchange=0"}, parts: every(8<<10, 4096, 400)},
		{name: "no parent pointers", args: []string{"-n", "parent=0"}, parts: every(8<<10, 4096, 400)},
		{name: "inodes of 2 KiB", args: []string{"-i", "size=2048"}, parts: every(8<<10, 4096, 400)},
		{name: "V4", args: []string{"-m", "crc=0"}, parts: every(8<<10, 4096, 600)},
		{name: "V4 blocks of 512", args: []string{"-m", "crc=0", "-b", "size=512"}, parts: every(8<<10, 4096, 600)},
		{name: "blocks of 16 KiB", args: []string{"-b", "size=16k"}, parts: every(64<<10, 16<<10, 100)},
		{name: "stripes", size: 2 << 30, args: []string{"-d", "su=64k,sw=4"}, parts: every(256<<10, 100<<10, 50)},
		{name: "stripes short parts", size: 2 << 30, args: []string{"-d", "su=64k,sw=4"}, parts: every(256<<10, 20<<10, 50)},
		{name: "extent size hint", args: []string{"-d", "extszinherit=16"}, parts: every(40<<10, 4096, 100)},
		{name: "extent size hint far apart", args: []string{"-d", "extszinherit=16"}, parts: every(200<<10, 8192, 100)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			size := max(c.size, 400<<20)
			source, empty := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "empty")
			sparse(t, source, c.parts)
			sparse(t, empty, nil)
			want := livetest.Open(t, withFile(t, size, "-", source, c.args...))
			before := withFile(t, size, "-", empty, c.args...)
			got := livetest.Open(t, before)
			fs := livetest.Load(t, got)
			ip := read(t, fs, numbers(t, before, 1)[0])
			copyParts(t, fs, ip, c.parts)
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			sameMetadata(t, fs, got, want, 24<<20, ip)
		})
	}
}

// copyParts does what the reference does to copy a file, but for the data.
func copyParts(t *testing.T, fs *live.FS, ip *inode.Inode, parts []part) {
	t.Helper()
	block := int64(fs.G.BlockSize)
	end := int64(0)
	for _, p := range parts {
		// The host tells of data by pages.
		n := (p.n + 4095) &^ 4095
		if p == parts[len(parts)-1] {
			n = p.n
		}
		for off := p.off; off < p.off+n; off += writeChunk {
			last := min(off+writeChunk, p.off+n)
			first, behind := off/block, (last+block-1)/block
			if ok, err := Fill(fs, ip, uint64(first), geometry.Blocks(behind-first), 0); err != nil || !ok {
				t.Fatalf("block %d: %v, %v", first, ok, err)
			}
		}
		end = p.off + n
	}
	ip.Core.ChangeCount-- // the reference has set the size of the empty file, too
	ip.Core.Size = uint64(end)
	touch(t, fs, ip)
}

// touch is a transaction that changes nothing but the inode.
func touch(t *testing.T, fs *live.FS, ip *inode.Inode) {
	t.Helper()
	tr := fs.Begin(0)
	ip.Log(tr)
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// Space that is reserved for a file is unwritten. Where it is nearly all that there is the last of it is taken from
// where
// there is any.
func TestReserved(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		blocks geometry.Blocks
		left   geometry.Blocks // of all free blocks, if blocks is 0
	}{
		{name: "small", blocks: 3},
		{name: "more than an AG", blocks: 70000},
		{name: "stripes", args: []string{"-d", "su=64k,sw=4"}, blocks: 1000},
		{name: "all but 1000 blocks", left: 1000},
		{name: "all but 100 blocks", left: 100},
		{name: "all but 30 blocks", left: 30},
		{name: "all but 100 blocks with stripes", args: []string{"-d", "su=64k,sw=4"}, left: 100},
		{name: "all but 100 blocks with a hint", args: []string{"-d", "extszinherit=16"}, left: 100},
		{name: "all but 100 blocks of V4", args: []string{"-m", "crc=0"}, left: 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const size = 1 << 30
			before := withFile(t, size, "-", os.DevNull, c.args...)
			got := livetest.Open(t, before)
			fs := livetest.Load(t, got)
			n := c.blocks
			if n == 0 {
				n = fs.Counts.FreeBlocks - c.left
			}
			want := livetest.Open(t, withFile(t, size, "r", fmt.Sprintf("%db", n), c.args...))
			ip := read(t, fs, numbers(t, before, 1)[0])
			if ok, err := Fill(fs, ip, 0, n, Prealloc); err != nil || !ok {
				t.Fatal(ok, err)
			}
			touch(t, fs, ip) // for times and flags, which are as they were
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			sameMetadata(t, fs, got, want, 1<<20, ip)
		})
	}
}
