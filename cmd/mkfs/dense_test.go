package main

import (
	"bytes"
	"errors"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// copyData copies what a file shows as data, and nothing else, onto random bytes,
// as tools do that write images to disks.
func copyData(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Seek(0, unix.SEEK_HOLE); errors.Is(err, unix.EINVAL) {
		t.Skip("the host has no map of data")
	}
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	chunk := make([]byte, 1<<20)
	rand.New(rand.NewSource(11)).Read(chunk) // ends in no error
	for off := int64(0); off < info.Size(); off += int64(len(chunk)) {
		if _, err := dst.Write(chunk[:min(int64(len(chunk)), info.Size()-off)]); err != nil {
			t.Fatal(err)
		}
	}
	for at := int64(0); ; {
		start, end, err := nextData(src, at)
		if err != nil {
			t.Fatal(err)
		}
		if start >= info.Size() {
			return
		}
		for at = start; at < end; {
			n, err := src.ReadAt(chunk[:min(int64(len(chunk)), end-at)], at)
			if n == 0 {
				t.Fatal(err)
			}
			if _, err := dst.WriteAt(chunk[:n], at); err != nil {
				t.Fatal(err)
			}
			at += int64(n)
		}
	}
}

// repairArgs are what xfs_repair is to be given for a filesystem in such a folder.
func repairArgs(dir string) []string {
	args := []string{"-n", "-f"}
	for _, c := range [][2]string{{"-l", "log"}, {"-r", "rt"}} {
		path := filepath.Join(dir, c[1])
		if _, err := os.Stat(path); err == nil {
			args = append(args, c[0], path)
		}
	}
	return append(args, filepath.Join(dir, "img"))
}

// denseCases are options; LOG and RT in them are files of the same folder.
var denseCases = map[string]struct {
	args  []string
	old   bool // over a filesystem of another shape, with contents
	mount bool // this kernel may know it
}{
	"plain":        {mount: true},
	"over another": {old: true, mount: true},
	"4096":         {args: []string{"-s", "size=4096"}, mount: true},
	"64k blocks":   {args: []string{"-b", "size=64k"}},
	"log stripe":   {args: []string{"-d", "su=64k,sw=2,agcount=2"}, mount: true},
	"external log": {args: []string{"-l", "logdev=LOG,size=64m"}, mount: true},
	"realtime":     {args: []string{"-m", "rmapbt=0,reflink=0", "-r", "rtdev=RT,size=200m"}},
	"metadir":      {args: []string{"-m", "metadir=1", "-r", "rtdev=RT,size=200m"}},
}

// A copy of the data alone onto a disk that held something is right if the image
// is dense, and wrong if it is not.
func TestDenseCopies(t *testing.T) {
	repair := tool(t, "xfs_repair")
	for name, c := range denseCases {
		t.Run(name, func(t *testing.T) {
			make := func(more ...string) (image, copied string) {
				image, copied = t.TempDir(), t.TempDir()
				img := filepath.Join(image, "img")
				if c.old {
					mustFormat(t, "--size", "500m", "-d", "agcount=7", img)
					fillImage(t, img)
				}
				sparse(t, filepath.Join(image, "log"), "64m")
				sparse(t, filepath.Join(image, "rt"), "200m")
				args := append([]string{"-f", "--reproducible", "--size", "500m"}, more...)
				for _, a := range c.args {
					a = strings.ReplaceAll(a, "LOG", filepath.Join(image, "log"))
					args = append(args, strings.ReplaceAll(a, "RT", filepath.Join(image, "rt")))
				}
				if status, _, errs := runAs(t, "mkfs", append(append([]string{"-q"}, args...), img)...); status != 0 {
					t.Fatalf("mkfs %v: exit status %d\n%s", args, status, errs)
				}
				all := strings.Join(c.args, " ")
				for _, part := range []struct{ file, word string }{{"img", ""}, {"log", "LOG"}, {"rt", "RT"}} {
					if strings.Contains(all, part.word) {
						copyData(t, filepath.Join(image, part.file), filepath.Join(copied, part.file))
					}
				}
				return image, copied
			}
			plain, bad := make()
			image, good := make("--dense")
			if !c.old && shaOf(t, filepath.Join(plain, "img")) != shaOf(t, filepath.Join(image, "img")) {
				t.Error("dense or not, the bytes are others")
			}
			if out, err := exec.Command(repair, repairArgs(good)...).CombinedOutput(); err != nil {
				t.Errorf("xfs_repair -n of the dense one's copy: %v\n%s", err, out)
			}
			if !c.old { // where its log comes there was data, and so it is
				if out, err := exec.Command(repair, repairArgs(bad)...).CombinedOutput(); err == nil {
					t.Errorf("xfs_repair -n finds nothing wrong with the sparse one's copy:\n%s", out)
				}
			}
			if c.mount && os.Geteuid() == 0 {
				useCopy(t, good, strings.Contains(strings.Join(c.args, " "), "LOG"))
			}
		})
	}
}

// fillImage writes all over an image, but for its first MiB.
func fillImage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, at := range []int64{200 << 20, 260 << 20, 499 << 20} {
		if _, err := f.WriteAt(bytes.Repeat([]byte("data"), 1<<18), at); err != nil {
			t.Fatal(err)
		}
	}
}

// useCopy mounts a copy, writes, unmounts, and has it repaired once more.
func useCopy(t *testing.T, dir string, log bool) {
	t.Helper()
	dev, at, options := attach(t, filepath.Join(dir, "img")), filepath.Join(dir, "mnt"), "rw"
	if log {
		options += ",logdev=" + attach(t, filepath.Join(dir, "log"))
	}
	unmount := mountAt(t, dev, at, options)
	if err := os.WriteFile(filepath.Join(at, "file"), bytes.Repeat([]byte("contents"), 100_000), 0o644); err != nil {
		t.Error(err)
	}
	unmount()
	if out, err := exec.Command("xfs_repair", repairArgs(dir)...).CombinedOutput(); err != nil {
		t.Errorf("xfs_repair -n after use: %v\n%s", err, out)
	}
}

// A loop device shows in its file what was written: zeros of a dense filesystem are
// data there too, and nothing that was written is discarded again.
func TestDenseDevice(t *testing.T) {
	dir := t.TempDir()
	img := sparse(t, filepath.Join(dir, "img"), "400m")
	dev := attach(t, img)
	status, out, errs := runAs(t, "mkfs", "--dense", dev)
	if status != 0 || errs != "" || strings.Contains(out, "Discarding") {
		t.Fatalf("exit status %d\n%s%s", status, out, errs)
	}
	copied := t.TempDir()
	copyData(t, img, filepath.Join(copied, "img"))
	if out, err := exec.Command(tool(t, "xfs_repair"), repairArgs(copied)...).CombinedOutput(); err != nil {
		t.Errorf("xfs_repair -n: %v\n%s", err, out)
	}
	useCopy(t, copied, false)
}

// What a dense log takes of a host is checked before anything is written, on the
// host that has it.
func TestDenseRoom(t *testing.T) {
	needRoot(t)
	small := filepath.Join(t.TempDir(), "small")
	mountHost(t, "tmpfs", "size=32m", small)
	img, log := filepath.Join(small, "img"), sparse(t, filepath.Join(small, "log"), "64m")
	for _, c := range []struct {
		args []string
		says string // "" if it is done
	}{
		{[]string{"--size", "400m", img}, ""},
		{[]string{"--dense", "--size", "400m", img + "2"}, img + "2: the metadata, with --dense, takes 64 MiB"},
		{[]string{"--dense", "-l", "logdev=" + log, "--size", "400m", img + "3"}, log + ": the log's content, with --dense, takes 64 MiB"},
		{[]string{"-l", "logdev=" + log, "--size", "400m", img + "3"}, ""},
	} {
		status, _, errs := runAs(t, "mkfs", append([]string{"-q"}, c.args...)...)
		if (status == 0) != (c.says == "") || !strings.Contains(errs, c.says) || c.says == "" && errs != "" {
			t.Errorf("mkfs %v: exit status %d\n%swant %q", c.args, status, errs, c.says)
		}
		if _, err := os.Stat(c.args[len(c.args)-1]); (err == nil) != (status == 0) {
			t.Errorf("mkfs %v: exit status %d, and the image: %v", c.args, status, err)
		}
	}
}
