package against_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/live/livetest"
)

// mixed is a tree with a file of each kind.
func mixed(t testing.TB, root string) {
	t.Helper()
	write(t, root+"/a/file", pattern(10000))
	write(t, root+"/a/plain", pattern(10000))
	write(t, root+"/a/empty", nil)
	write(t, root+"/a/b/deep", pattern(5))
	must(t, os.Mkdir(root+"/a/none", 0o755))
	must(t, os.Symlink("target", root+"/a/link"))
	must(t, os.Symlink(strings.Repeat("long", 100), root+"/a/long"))
	must(t, unix.Mkfifo(root+"/fifo", 0o600))
	if err := unix.Mknod(root+"/device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		t.Skip(err)
	}
	must(t, os.Link(root+"/a/file", root+"/second"))
	write(t, root+"/sparse", []byte("x"))
	must(t, os.Truncate(root+"/sparse", 1<<20))
	write(t, root+"/late", nil)
	must(t, os.Truncate(root+"/late", 1<<20))
	poke(t, root+"/late", 1<<20-1, "x")
	for i := range 200 {
		write(t, fmt.Sprintf("%s/many/file%d", root, i), nil)
	}
	setxattr(t, root+"/a/empty", "user.one", []byte("1"))
	setxattr(t, root+"/a/empty", "trusted.two", pattern(3000))
	setxattr(t, root, "user.root", []byte("r"))
}

// settle gives all files the same times.
func settle(t testing.TB, root string) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := unix.Timespec{Sec: livetest.Seconds, Nsec: 5}
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	}))
}

// Of a source that has changed exactly what has changed is told.
func TestChanges(t *testing.T) {
	first := sourceDir(t)
	mixed(t, first)
	settle(t, first)
	images := map[string]*livetest.Device{}
	for name, args := range map[string][]string{
		"parent": {"-n", "parent=1"}, "V4": {"-m", "crc=0", "-b", "size=1024", "-n", "ftype=0"},
	} {
		images[name] = livetest.Open(t, livetest.Reference(t, size, append(args, "-p", first)...))
	}
	for _, c := range []struct {
		name   string
		change func(t testing.TB, root string)
		late   bool // after the times were set
		want   []string
	}{
		{"nothing", func(testing.TB, string) {}, false, nil},
		{"mode", func(t testing.TB, root string) { must(t, os.Chmod(root+"/a/plain", 0o600)) }, false,
			[]string{"/a/plain: mode is 0640, 0600 in the source"}},
		{"mode of a directory", func(t testing.TB, root string) { must(t, os.Chmod(root+"/a", 0o755|os.ModeSetgid)) }, false,
			[]string{"/a: mode is 0755, 2755 in the source"}},
		{"mode of the root", func(t testing.TB, root string) { must(t, os.Chmod(root, 0o700)) }, false,
			[]string{"/: mode is 0755, 0700 in the source"}},
		{"user", func(t testing.TB, root string) { must(t, os.Lchown(root+"/a/link", 7, -1)) }, false,
			[]string{"/a/link: user is 0, 7 in the source"}},
		{"group", func(t testing.TB, root string) { must(t, os.Lchown(root+"/fifo", -1, 1<<31)) }, false,
			[]string{"/fifo: group is 0, 2147483648 in the source"}},
		{"device", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/device"))
			must(t, unix.Mknod(root+"/device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))))
		}, false, []string{"/device: device is 1:3, 1:5 in the source"}},
		{"type", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/device"))
			must(t, unix.Mknod(root+"/device", unix.S_IFBLK|0o600, int(unix.Mkdev(1, 3))))
		}, false, []string{"/device: type is character device, block device in the source"}},
		{"directory to file", func(t testing.TB, root string) {
			must(t, os.RemoveAll(root+"/a/b"))
			write(t, root+"/a/b", nil)
		}, false, []string{"/a/b: type is directory, regular file in the source"}},
		{"file to directory", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/a/empty"))
			write(t, root+"/a/empty/more", nil)
		}, false, []string{"/a/empty: type is regular file, directory in the source"}},
		{"time", func(t testing.TB, root string) {
			must(t, os.Chtimes(root+"/a/plain", unixTime(9, 0), unixTime(1e9, 7)))
		}, true, []string{"/a/plain: modification time is 2009-02-13 23:31:30.000000005, 2001-09-09 01:46:40.000000007 in the source"}},
		{"time of a directory", func(t testing.TB, root string) {
			must(t, os.Chtimes(root+"/a/none", unixTime(9, 0), unixTime(0, 0)))
		}, true, []string{"/a/none: modification time is 2009-02-13 23:31:30.000000005, 1970-01-01 00:00:00 in the source"}},
		{"time of the root", func(t testing.TB, root string) {
			must(t, os.Chtimes(root, unixTime(9, 0), unixTime(0, 0)))
		}, true, nil},
		{"a byte", func(t testing.TB, root string) { poke(t, root+"/a/plain", 8191, "\x00") }, false,
			[]string{"/a/plain: byte 8191 is 0x0a, 0x00 in the source"}},
		{"two bytes", func(t testing.TB, root string) {
			poke(t, root+"/a/plain", 9999, "\x00")
			poke(t, root+"/a/plain", 1, "\x00")
		}, false, []string{"/a/plain: byte 1 is 0x18, 0x00 in the source"}},
		{"longer", func(t testing.TB, root string) { must(t, os.Truncate(root+"/a/plain", 10001)) }, false,
			[]string{"/a/plain: length is 10000, 10001 in the source"}},
		{"shorter", func(t testing.TB, root string) { must(t, os.Truncate(root+"/a/plain", 0)) }, false,
			[]string{"/a/plain: length is 10000, 0 in the source"}},
		{"hole with data", func(t testing.TB, root string) { poke(t, root+"/sparse", 777777, "y") }, false,
			[]string{"/sparse: byte 777777 is 0x00, 0x79 in the source"}},
		{"hole before data", func(t testing.TB, root string) { poke(t, root+"/late", 12345, "y") }, false,
			[]string{"/late: byte 12345 is 0x00, 0x79 in the source"}},
		{"hole with zeros", func(t testing.TB, root string) { poke(t, root+"/sparse", 777777, "\x00") }, false, nil},
		{"data to a hole", func(t testing.TB, root string) {
			must(t, os.Truncate(root+"/sparse", 0))
			must(t, os.Truncate(root+"/sparse", 1<<20))
		}, false, []string{"/sparse: byte 0 is 0x78, 0x00 in the source"}},
		{"removed", func(t testing.TB, root string) { must(t, os.Remove(root+"/a/empty")) }, false,
			[]string{"/a/empty is there, not in the source"}},
		{"removed with all below", func(t testing.TB, root string) { must(t, os.RemoveAll(root+"/many")) }, false,
			[]string{"/many is there, not in the source"}},
		{"added", func(t testing.TB, root string) { write(t, root+"/many/new", nil) }, false,
			[]string{"/many/new is missing, a regular file in the source"}},
		{"added with more below", func(t testing.TB, root string) { write(t, root+"/many/new/x/y", nil) }, false,
			[]string{"/many/new is missing, a directory in the source"}},
		{"renamed", func(t testing.TB, root string) { must(t, os.Rename(root+"/many/file7", root+"/many/File7")) }, false,
			[]string{"/many/File7 is missing, a regular file in the source", "/many/file7 is there, not in the source"}},
		{"moved", func(t testing.TB, root string) { must(t, os.Rename(root+"/a/b", root+"/many/b")) }, false,
			[]string{"/a/b is there, not in the source", "/many/b is missing, a directory in the source"}},
		{"target", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/a/link"))
			must(t, os.Symlink("torget", root+"/a/link"))
		}, false, []string{`/a/link: target is "target", "torget" in the source`}},
		{"long target", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/a/long"))
			must(t, os.Symlink(strings.Repeat("long", 99), root+"/a/long"))
		}, false, []string{`/a/long: target is "longlonglonglonglonglonglonglonglonglong"... of 400 bytes, ` +
			`"longlonglonglonglonglonglonglonglonglong"... of 396 bytes in the source`}},
		{"attribute", func(t testing.TB, root string) { setxattr(t, root+"/a/empty", "user.one", []byte("2")) }, false,
			[]string{`/a/empty: attribute user.one is "1", "2" in the source`}},
		{"long attribute", func(t testing.TB, root string) {
			setxattr(t, root+"/a/empty", "trusted.two", append(pattern(2999), 0))
		}, false, []string{"/a/empty: attribute trusted.two is " + fmt.Sprintf("%q... of 3000 bytes, %q... of 3000 bytes in the source",
			pattern(3000)[:40], pattern(2999)[:40])}},
		{"attribute added", func(t testing.TB, root string) { setxattr(t, root+"/a/plain", "security.x", []byte("2")) }, false,
			[]string{`/a/plain: attribute security.x is missing, "2" in the source`}},
		{"attribute removed", func(t testing.TB, root string) { must(t, unix.Removexattr(root+"/a/empty", "user.one")) }, false,
			[]string{`/a/empty: attribute user.one is "1", not in the source`}},
		{"attribute of the root", func(t testing.TB, root string) { must(t, unix.Removexattr(root, "user.root")) }, false,
			[]string{`/: attribute user.root is "r", not in the source`}},
		{"link broken", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/second"))
			write(t, root+"/second", pattern(10000))
		}, false, []string{"file is that of /"}},
		{"link made", func(t testing.TB, root string) {
			must(t, os.Remove(root+"/many/file7"))
			must(t, os.Link(root+"/many/file8", root+"/many/file7"))
		}, false, []string{"file is one of its own, that of /many/file"}},
		{"link removed", func(t testing.TB, root string) { must(t, os.Remove(root+"/second")) }, false,
			[]string{"/second is there, not in the source"}},
		{"link added", func(t testing.TB, root string) { must(t, os.Link(root+"/second", root+"/third")) }, false,
			[]string{"/third is missing, a regular file in the source"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := sourceDir(t)
			mixed(t, root)
			if !c.late {
				c.change(t, root)
			}
			settle(t, root)
			if c.late {
				c.change(t, root)
			}
			for name, d := range images {
				list, n, err := compare(t, d, &host{root: root})
				must(t, err)
				var got []string
				for _, diff := range list {
					got = append(got, diff.String())
				}
				slices.Sort(got)
				ok := len(got) == len(c.want) && n.Differences == int64(len(got))
				for i := range c.want {
					ok = ok && strings.Contains(got[i], c.want[i])
				}
				if !ok {
					t.Errorf("%s: told\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
		})
	}
}

// poke writes into a file.
func poke(t testing.TB, path string, at int64, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(text), at)
	must(t, err)
	must(t, f.Close())
}
