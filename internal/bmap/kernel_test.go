package bmap

import (
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
func deeds(seed uint64, count int, far uint64) (list []deed) {
	r := rand.New(rand.NewPCG(seed, 1))
	verbs := []string{"falloc", "falloc", "pwrite", "pwrite", "pwrite", "fpunch", "fpunch"}
	for range count {
		list = append(list, deed{verbs[r.IntN(len(verbs))], r.Uint64N(far), 1 + r.Uint64N(8)*r.Uint64N(8)})
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

// The kernel gives a file the extents that we give it, whatever is done to the file.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		name  string
		count int
		far   uint64
		args  []string
	}{
		{"blocks of 4 KiB", 150, 300, nil},
		{"blocks of 1 KiB", 300, 3000, []string{"-b", "size=1k"}},
		{"no rmapbt", 150, 300, []string{"-m", "rmapbt=0,reflink=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			image, inos := emptyFiles(t, 300<<20, 1, c.args...)
			list := deeds(7, c.count, c.far)
			copied := filepath.Join(t.TempDir(), "mounted")
			if out, err := exec.Command("cp", image, copied).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			dir := mount(t, copied)
			fs := livetest.Load(t, livetest.Open(t, image))
			args := []string{"-d"}
			for _, d := range list {
				args = append(args, "-c", d.command(fs.G.BlockSize), "-c", "syncfs")
			}
			if out, err := livetest.Run(t, "xfs_io", append(args, filepath.Join(dir, "0"))...); err != nil || strings.Contains(out, "rror") {
				t.Fatalf("xfs_io: %v\n%s", err, out)
			}
			if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
				t.Fatalf("umount: %v: %s", err, out)
			}
			want := read(t, livetest.Load(t, livetest.Open(t, copied)), inos[0])
			ip := read(t, fs, inos[0])
			for _, d := range list {
				d.do(t, fs, ip)
			}
			if !slices.Equal(ip.Data.Extents, want.Data.Extents) {
				t.Fatalf("got  %v\nwant %v", ip.Data.Extents, want.Data.Extents)
			}
			if ip.Core.Blocks != want.Core.Blocks || ip.Data.Format != want.Data.Format {
				t.Errorf("%d blocks, form %d; want %d, form %d", ip.Core.Blocks, ip.Data.Format, want.Core.Blocks, want.Data.Format)
			}
		})
	}
}
