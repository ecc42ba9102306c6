package against_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/against"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

const size = 400 << 20

// filesystems are of all kinds, by what mkfs.xfs is asked for.
var filesystems = []struct {
	name string
	args []string
}{
	{"default", nil},
	{"parent", []string{"-n", "parent=1"}},
	{"V4 of 512", []string{"-m", "crc=0", "-b", "size=512", "-n", "ftype=0"}},
	{"V4 unaligned", []string{"-m", "crc=0", "-i", "align=0", "-b", "size=1024"}},
	{"1 KiB", []string{"-b", "size=1024", "-n", "parent=1"}},
	{"directories of 64 KiB", []string{"-n", "size=65536", "-m", "rmapbt=1"}},
	{"64 KiB", []string{"-b", "size=65536", "-i", "size=2048", "-n", "parent=1"}},
	{"metadir", []string{"-m", "metadir=1"}},
	{"old", []string{"-m", "bigtime=0,finobt=0,reflink=0", "-i", "nrext64=0,sparse=0"}},
	{"autofsck", []string{"-m", "autofsck=1"}},
}

// trees are files of all kinds.
var trees = []struct {
	name string
	make func(t testing.TB, root string)
}{
	{"empty", func(testing.TB, string) {}},
	{"small", func(t testing.TB, root string) {
		for _, n := range []int{0, 1, 511, 512, 4095, 4096, 4097, 65535, 131072, 131073, 300000, 1 << 20} {
			write(t, filepath.Join(root, fmt.Sprint("size", n)), pattern(n))
		}
		must(t, os.MkdirAll(filepath.Join(root, "sub", "deeper"), 0o750))
		must(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
		write(t, filepath.Join(root, "sub/deeper/script"), []byte("#!/bin/sh\n"))
		must(t, os.Chtimes(filepath.Join(root, "size0"), unixTime(-1<<31, 0), unixTime(1<<31-1, 999999999)))
	}},
	{"types", func(t testing.TB, root string) {
		must(t, os.Mkdir(filepath.Join(root, "d"), 0o700))
		must(t, os.Chmod(filepath.Join(root, "d"), 0o777|os.ModeSticky|os.ModeSetgid))
		must(t, os.Mkdir(filepath.Join(root, "d", "inherits"), 0o755))
		must(t, os.Mkdir(filepath.Join(root, "d", "not"), 0o755))
		must(t, os.Chmod(filepath.Join(root, "d", "not"), 0o755))
		write(t, filepath.Join(root, "setuid"), []byte("x"))
		must(t, os.Chmod(filepath.Join(root, "setuid"), 0o755|os.ModeSetuid))
		for i := range 3 {
			must(t, os.Link(filepath.Join(root, "setuid"), filepath.Join(root, "d", fmt.Sprint("hardlink", i))))
		}
		for _, n := range []int{1, 59, 60, 100, 300, 900} {
			must(t, os.Symlink(strings.Repeat("y", n), filepath.Join(root, fmt.Sprint("link", n))))
		}
		must(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o600))
		must(t, unix.Mknod(filepath.Join(root, "socket"), unix.S_IFSOCK|0o600, 0))
		if os.Geteuid() == 0 && unix.Mknod(filepath.Join(root, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil {
			must(t, os.Lchown(filepath.Join(root, "fifo"), 1000, 100))
		}
	}},
	{"many", func(t testing.TB, root string) {
		for n := range 700 {
			write(t, filepath.Join(root, fmt.Sprintf("a file with quite a long name, number %04d", n)), pattern(n))
		}
		for n := range 60 {
			must(t, os.Mkdir(filepath.Join(root, fmt.Sprint("directory", n)), 0o755))
			write(t, filepath.Join(root, fmt.Sprint("directory", n), "f"), pattern(n))
		}
	}},
	{"sparse", func(t testing.TB, root string) {
		for name, spots := range map[string][]int64{"middle": {0, 1 << 20}, "start": {1 << 20}, "far": {0, 1 << 30, 3 << 30}} {
			f, err := os.Create(filepath.Join(root, name))
			must(t, err)
			for _, at := range spots {
				_, err := f.WriteAt([]byte("spot"), at)
				must(t, err)
			}
			must(t, f.Truncate(spots[len(spots)-1]+1<<16))
			must(t, f.Close())
		}
		f, err := os.Create(filepath.Join(root, "pieces"))
		must(t, err)
		for i := range int64(150) {
			_, err := f.WriteAt([]byte("spot"), i<<17)
			must(t, err)
		}
		must(t, f.Close())
		must(t, os.Truncate(filepath.Join(root, "pieces"), 1<<40))
	}},
	{"attributes", func(t testing.TB, root string) {
		for i, n := range []int{1, 10, 100, 200, 1000, 3000, 5000, 20000} {
			path := filepath.Join(root, fmt.Sprint("file", i))
			write(t, path, pattern(i))
			setxattr(t, path, "trusted.some", pattern(n))
			setxattr(t, path, "user.name", []byte("value"))
			setxattr(t, path, "security.other", pattern(n/2))
			if i > 3 {
				continue
			}
			path = filepath.Join(root, fmt.Sprint("link", i))
			must(t, os.Symlink(strings.Repeat("z", 40*i+20), path))
			setxattr(t, path, "trusted.some", pattern(n))
			path = filepath.Join(root, fmt.Sprint("dir", i))
			must(t, os.Mkdir(path, 0o755))
			setxattr(t, path, "user.some", pattern(n))
			write(t, filepath.Join(path, "inside"), nil)
		}
		path := filepath.Join(root, "file0")
		for i := range 150 {
			setxattr(t, path, fmt.Sprint("user.number", i), pattern(i))
		}
		setxattr(t, root, "user.root", []byte("yes"))
		setxattr(t, root, "trusted.root", pattern(400))
	}},
	{"deep", func(t testing.TB, root string) {
		path := root
		for n := range 40 {
			path = filepath.Join(path, fmt.Sprint("level", n))
		}
		must(t, os.MkdirAll(path, 0o755))
		for _, name := range []string{"naïve", "日本語", "with space", "\xff\xfe", "new\nline", "-dash", strings.Repeat("n", 255)} {
			write(t, filepath.Join(path, name), []byte(name))
		}
	}},
}

// compare compares a device with a directory.
func compare(t testing.TB, d *livetest.Device, src *host) (list []against.Difference, n against.Counts, err error) {
	t.Helper()
	fs := livetest.Load(t, d)
	b := make([]byte, 512)
	_, _ = d.ReadAt(b, 0)
	sb, _ := ondisk.DecodeSuperblock(b)
	n, err = against.Compare(context.Background(), against.Job{
		FS: fs, Super: &sb, Ring: d, Source: src,
		Tell: func(d against.Difference) { list = append(list, d) },
	})
	return list, n, err
}

// Filesystems that the reference has filled are what they were filled with.
func TestReference(t *testing.T) {
	for _, tr := range trees {
		root := sourceDir(t)
		t.Run(tr.name, func(t *testing.T) {
			tr.make(t, root)
			for _, c := range filesystems {
				t.Run(c.name, func(t *testing.T) {
					d := livetest.Open(t, livetest.Reference(t, size, append(c.args, "-p", root)...))
					list, n, err := compare(t, d, &host{root: root})
					must(t, err)
					for _, diff := range list {
						t.Error(diff)
					}
					if n.Differences != int64(len(list)) {
						t.Errorf("%+v", n)
					}
				})
			}
		})
	}
}

func unixTime(sec, nsec int64) time.Time { return time.Unix(sec, nsec) }
