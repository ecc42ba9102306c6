package bmap

import (
	"fmt"
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

// An attribute fork begins where the reference makes it begin, and the data fork has the form and the bytes that it
// has there: extents just as many as fit beside it, one more, all that fit the inode; roots of btrees that fit
// beside it
// and that do not; device numbers; symlinks that go to a block.
func TestAddAttrFork(t *testing.T) {
	for _, c := range []struct {
		name    string
		args    []string
		extents []int    // of regular files
		others  []string // other files, as protofiles tell of them
	}{
		{
			name: "V5", args: []string{"-n", "parent=0"}, extents: []int{0, 1, 12, 13, 21, 22},
			others: []string{"c--755 0 0 1 3", "l--755 0 0 " + strings.Repeat("s", 100), "l--755 0 0 " + strings.Repeat("s", 200)},
		},
		{name: "V5 large roots", args: []string{"-n", "parent=0", "-b", "size=1k"}, extents: []int{300, 700, 1200}},
		{name: "inodes of 2 KiB", args: []string{"-n", "parent=0", "-i", "size=2048"}, extents: []int{60, 110}},
		{
			name: "V4", args: []string{"-m", "crc=0", "-i", "attr=2"}, extents: []int{0, 1, 7, 8, 9, 40},
			others: []string{"l--755 0 0 " + strings.Repeat("s", 100)},
		},
		{name: "V4 large roots", args: []string{"-m", "crc=0", "-i", "attr=2", "-b", "size=512"}, extents: []int{100, 250}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var files []string
			for i, n := range c.extents {
				source := filepath.Join(t.TempDir(), fmt.Sprint("source", i))
				sparse(t, source, every(8<<10, 4096, n))
				files = append(files, "---755 0 0 "+source)
			}
			files = append(files, c.others...)
			image := withFiles(t, 300<<20, files, c.args...)
			inos := numbers(t, image, len(files))
			for _, value := range []int{1, 60, 130, 230} {
				addAttrForks(t, image, inos, value)
			}
		})
	}
}

// addAttrForks compares what is done for an attribute with a value of so many bytes. Files where it gets a block are
// left
// out.
func addAttrForks(t *testing.T, image string, inos []geometry.Inode, value int) {
	t.Helper()
	if len(inos) == 0 {
		return
	}
	copied := filepath.Join(t.TempDir(), "with")
	if out, err := exec.Command("cp", image, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	args := []string{"-x"}
	for _, ino := range inos {
		args = append(args, "-c", fmt.Sprintf("inode %d", ino), "-c", fmt.Sprintf("attr_set -v %d name", value))
	}
	if out, err := livetest.Run(t, "xfs_db", append(args, copied)...); err != nil {
		t.Fatalf("xfs_db: %v: %s", err, out)
	}
	wantDev, gotDev := livetest.Open(t, copied), livetest.Open(t, image)
	reference, fs := livetest.Load(t, wantDev), livetest.Load(t, gotDev)
	isLocal := func(ino geometry.Inode) bool { return read(t, reference, ino).Attr.Format == ondisk.FormatLocal }
	if i := slices.IndexFunc(inos, func(ino geometry.Inode) bool { return !isLocal(ino) }); i >= 0 {
		addAttrForks(t, image, slices.Delete(slices.Clone(inos), i, i+1), value)
		return
	}
	var files []*inode.Inode
	for _, ino := range inos {
		want, ip := read(t, reference, ino), read(t, fs, ino)
		addAttrFork(t, fs, ip, want)
		if ip.ForkOffset != want.ForkOffset || ip.Data.Format != want.Data.Format {
			t.Errorf("inode %d, value of %d bytes: the fork begins at %d, data has form %d; want %d and %d", ino, value,
				ip.ForkOffset, ip.Data.Format, want.ForkOffset, want.Data.Format)
			return
		}
		files = append(files, ip)
	}
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	sameMetadata(t, fs, gotDev, wantDev, 4<<20, files...)
	t.Logf("value of %d bytes: %d files", value, len(files))
}

// addAttrFork adds a fork for the attributes that another inode has, and puts them there.
func addAttrFork(t *testing.T, fs *live.FS, ip, want *inode.Inode) {
	t.Helper()
	size := len(want.Attr.Local)
	tr := fs.Begin(10)
	err := AddAttrFork(tr, ip, size, func() error {
		if _, ok, err := LocalToExtents(tr, ip, Data, 1); err != nil || !ok { // the block of a symlink is not ours
			t.Fatal(ok, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// What follows is the attribute's: the fork moves once more, if that gives it room.
	ip.ForkOffset = AttrForkOffset(fs, ip, size)
	ip.Attr.Reset(ondisk.FormatLocal)
	copy(ip.Attr.Resize(size), want.Attr.Local)
	ip.Core.Mtime, ip.Core.Ctime, ip.Core.ChangeCount = want.Core.Mtime, want.Core.Ctime, want.Core.ChangeCount-1
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be is refused.
func TestAddAttrForkRefuses(t *testing.T) {
	g := livetest.Plan(t, 300<<20, nil)
	fs, _ := livetest.New(t, g)
	for _, c := range []struct {
		name string
		ip   inode.Inode
		want string
	}{
		{"there is one", inode.Inode{ForkOffset: 8}, "there already"},
		{"a btree of the realtime section", inode.Inode{Data: inode.Fork{Format: ondisk.FormatMetaBtree}}, "no room"},
	} {
		err := AddAttrFork(fs.Begin(0), &c.ip, 10, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if off := AttrForkOffset(fs, &inode.Inode{}, 10000); off != 0 {
		t.Errorf("attributes of 10,000 bytes begin at %d", off)
	}
	if !slices.Equal([]string{Data.String(), Attr.String()}, []string{"data fork", "attribute fork"}) {
		t.Error("forks have other names")
	}
}
