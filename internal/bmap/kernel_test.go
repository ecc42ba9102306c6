package bmap

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// deed is something that is done to a file: by the kernel, and by us.
type deed struct {
	verb   string
	off, n uint64 // in blocks
}

// command is the deed for xfs_io.
func (d deed) command(block geometry.Bytes) string {
	verb, n := d.verb, d.n*uint64(block)
	if verb == "pwrite" {
		verb = fmt.Sprintf("pwrite -b %d", n) // in one piece
	}
	return fmt.Sprintf("%s %d %d", verb, d.off*uint64(block), n)
}

// do does it as the kernel does (xfs_alloc_file_space, xfs_free_file_space, and for direct IO
// xfs_iomap_write_direct and xfs_iomap_write_unwritten).
func (d deed) do(t *testing.T, fs *live.FS, ip *inode.Inode) {
	t.Helper()
	n := geometry.Blocks(d.n)
	switch d.verb {
	case "falloc":
		if ok, err := Fill(fs, ip, d.off, n, Prealloc); err != nil || !ok {
			t.Fatal(ok, err)
		}
	case "fpunch":
		for done := false; !done; {
			tr := fs.Begin(10)
			var err error
			if done, err = Unmap(tr, ip, Data, d.off, n, 0, 2); err != nil {
				t.Fatal(err)
			}
			if err := tr.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	case "pwrite":
		d.write(t, fs, ip)
	}
}

// write allocates what is not there, hole by hole, and makes all of it written if some is not.
func (d deed) write(t *testing.T, fs *live.FS, ip *inode.Inode) {
	t.Helper()
	end := d.off + d.n
	convert := false
	for at := d.off; at < end; {
		e, ok := Lookup(ip, Data, at)
		if ok && e.Offset <= at {
			convert = convert || e.Unwritten
			at = e.End()
			continue
		}
		hole := end
		if ok {
			hole = min(end, e.Offset)
		}
		convert = true
		at += d.one(t, fs, ip, at, hole-at, Prealloc)
	}
	for at := d.off; convert && at < end; {
		at += d.one(t, fs, ip, at, end-at, Convert)
	}
}

func (d deed) one(t *testing.T, fs *live.FS, ip *inode.Inode, off, n uint64, flags Flags) uint64 {
	t.Helper()
	tr := fs.Begin(geometry.Blocks(n) + 10)
	total := geometry.Blocks(0)
	if flags&Convert != 0 {
		total = tr.Reserve
	}
	got, err := Write(tr, ip, Data, off, geometry.Blocks(n), flags, total)
	if err != nil || len(got) == 0 {
		t.Fatalf("%v: %v, %v", d, got, err)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	return uint64(got[0].Blocks)
}

// deeds makes some up.
func deeds(seed uint64, count int, far uint64, verbs []string) (list []deed) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range count {
		list = append(list, deed{verbs[r.IntN(len(verbs))], r.Uint64N(far), 1 + r.Uint64N(8)*r.Uint64N(8)})
	}
	return list
}

// growing makes up what makes a file grow, with gaps at times.
func growing(seed uint64, count int, scale uint64) (list []deed) {
	r := rand.New(rand.NewPCG(seed, 2))
	end := uint64(0)
	for range count {
		gap := []uint64{0, 0, 0, 1, 5, 40}[r.IntN(6)]
		n := []uint64{1, 15, 16, 16, 17, 40, 1 + r.Uint64N(64), 1 + r.Uint64N(150)}[r.IntN(8)]
		list = append(list, deed{"falloc", end + gap*scale, n * scale})
		end += (gap + n) * scale
	}
	return list
}

// mount mounts an image, and skips the test where that cannot be.
func mount(t *testing.T, image string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "xfs", "-o", "loop,nouuid", image, dir).CombinedOutput(); err != nil {
		t.Skipf("the kernel does not mount it: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	return dir
}

// The kernel gives a file the extents that we give it, whatever is done to the file, and the same btree.
func TestKernel(t *testing.T) {
	all := []string{"falloc", "falloc", "pwrite", "pwrite", "pwrite", "fpunch", "fpunch"}
	reserve := []string{"falloc", "falloc", "fpunch"} // the kernel aligns the end of what it writes
	for _, c := range []struct {
		name  string
		verbs []string
		count int
		far   uint64
		size  int64
		args  []string
	}{
		{"blocks of 4 KiB", all, 150, 300, 300 << 20, nil},
		{"blocks of 1 KiB", all, 300, 3000, 300 << 20, []string{"-b", "size=1k"}},
		{"blocks of 1 KiB far apart", all, 500, 20000, 300 << 20, []string{"-b", "size=1k"}},
		{"no rmapbt", all, 150, 300, 300 << 20, []string{"-m", "rmapbt=0,reflink=0"}},
		{"extent size hint", reserve, 150, 600, 300 << 20, []string{"-d", "extszinherit=16"}},
		{"odd extent size hint", reserve, 150, 600, 300 << 20, []string{"-d", "extszinherit=5"}},
		{"stripes", reserve, 150, 600, 2 << 30, []string{"-d", "su=64k,sw=4"}},
		{"stripes and a hint", reserve, 150, 600, 2 << 30, []string{"-d", "su=64k,sw=4,extszinherit=24"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			image, inos := emptyFiles(t, c.size, 1, c.args...)
			list := deeds(7, c.count, c.far, c.verbs)
			wantDev, gotDev := livetest.Open(t, kernel(t, image, list)), livetest.Open(t, image)
			reference, fs := livetest.Load(t, wantDev), livetest.Load(t, gotDev)
			want, ip := read(t, reference, inos[0]), read(t, fs, inos[0])
			for _, d := range list {
				d.do(t, fs, ip)
			}
			sameFork(t, fs, gotDev, wantDev, ip, want)
		})
	}
}

// Where free space is in pieces, more than a leaf of its btrees holds, the kernel takes the same ones. Without
// btrees of
// owners, shared blocks and free inodes it reserves no blocks.
func TestKernelInPieces(t *testing.T) {
	bare := []string{"-m", "rmapbt=0,reflink=0,finobt=0", "-l", "size=64m,su=4096"}
	const aligned = "su=64k,sw=4,agcount=4"
	for _, c := range []struct {
		name  string
		scale uint64 // of what is used up before
		args  []string
	}{
		{"blocks of 4 KiB", 1, []string{"-d", "agcount=4"}},
		{"blocks of 1 KiB", 4, []string{"-b", "size=1k", "-d", "agcount=4"}},
		{"hint", 1, []string{"-d", "agcount=4,extszinherit=16"}},
		{"stripes", 1, []string{"-d", aligned}},
		{"stripes and a hint", 1, []string{"-d", aligned + ",extszinherit=24"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			image, inos := emptyFiles(t, 400<<20, 3, slices.Concat(bare, c.args)...)
			var use []deed
			piece := 2000 * c.scale
			for i := range uint64(40) {
				use = append(use, deed{"falloc", i * piece, piece})
			}
			for i := range uint64(1600) {
				use = append(use, deed{"fpunch", i * 50 * c.scale, 3 + i*7%40*c.scale})
			}
			use = append(use, deed{"falloc", 1 << 20, piece}, deed{"falloc", 2 << 20, piece})
			lists := [][]deed{use, growing(11, 100, c.scale), deeds(11, 200, 5000, []string{"falloc", "falloc", "falloc", "fpunch"})}
			wantDev, gotDev := livetest.Open(t, kernel(t, image, lists...)), livetest.Open(t, image)
			reference, fs := livetest.Load(t, wantDev), livetest.Load(t, gotDev)
			for i, list := range lists {
				want, ip := read(t, reference, inos[i]), read(t, fs, inos[i])
				for _, d := range list {
					d.do(t, fs, ip)
				}
				sameFork(t, fs, gotDev, wantDev, ip, want)
			}
		})
	}
}

// sameFork compares what a file is mapped to.
func sameFork(t *testing.T, fs *live.FS, gotDev, wantDev *livetest.Device, got, want *inode.Inode) {
	t.Helper()
	for i := range min(len(got.Data.Extents), len(want.Data.Extents)) {
		if a, b := got.Data.Extents[i], want.Data.Extents[i]; a != b {
			t.Fatalf("inode %d, extent %d of %d is %v, want %v of %d", got.Ino, i, len(got.Data.Extents), a, b, len(want.Data.Extents))
		}
	}
	if len(got.Data.Extents) != len(want.Data.Extents) || got.Core.Blocks != want.Core.Blocks ||
		got.Data.Format != want.Data.Format {
		t.Errorf("inode %d has %d extents, %d blocks, form %d; want %d, %d, form %d", got.Ino, len(got.Data.Extents),
			got.Core.Blocks,
			got.Data.Format, len(want.Data.Extents), want.Core.Blocks, want.Data.Format)
	}
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	sameTree(t, fs, gotDev, wantDev, got, want)
}

// kernel has the kernel do something to one file of an image after the other, and returns the image that comes of it.
func kernel(t *testing.T, image string, lists ...[]deed) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "mounted")
	if out, err := exec.Command("cp", image, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := mount(t, copied)
	block := livetest.Load(t, livetest.Open(t, image)).G.BlockSize
	for i, list := range lists {
		args := []string{"-d"}
		for _, d := range list {
			args = append(args, "-c", d.command(block), "-c", "syncfs")
		}
		args = append(args, filepath.Join(dir, fmt.Sprint(i)))
		if out, err := livetest.Run(t, "xfs_io", args...); err != nil ||
			strings.Contains(out, "rror") || strings.Contains(out, "No space") {
			t.Fatalf("xfs_io: %v\n%s", err, out)
		}
	}
	if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
		t.Fatalf("umount: %v: %s", err, out)
	}
	return copied
}

// sameTree compares the btrees of a file, block by block: what lives in them.
func sameTree(t *testing.T, fs *live.FS, gotDev, wantDev *livetest.Device, got, want *inode.Inode) {
	t.Helper()
	places := treeBlocks(t, fs, gotDev, got)
	if other := treeBlocks(t, fs, wantDev, want); !slices.Equal(places, other) {
		t.Errorf("the btree has blocks at %v, want %v", places, other)
		return
	}
	for _, off := range places {
		a, b := make([]byte, fs.G.BlockSize), make([]byte, fs.G.BlockSize)
		_, _ = gotDev.ReadAt(a, off)
		_, _ = wantDev.ReadAt(b, off)
		for _, block := range [][]byte{a, b} {
			clear(block[32:40]) // the LSN
			clear(block[ondisk.LongBtreeCRC:][:4])
		}
		n := len(a)
		if ondisk.BtreeLevel(a) == 0 {
			n = ondisk.LongBtreeHeader + ondisk.BtreeRecords(a)*ondisk.FileExtentSize
		}
		if !bytes.Equal(a[:n], b[:n]) {
			t.Errorf("the block of the btree at byte %d is another", off)
		}
	}
}
