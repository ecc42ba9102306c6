package ialloc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// kinds are files of each kind, as the reference is asked for them and as they are made.
var kinds = []struct {
	line string
	new  ialloc.New
	link string // where a symlink points to
}{
	{"a p--640 1 2\n", ialloc.New{Mode: ondisk.ModeFIFO | 0o640, UID: 1, GID: 2}, ""},
	{"b c--600 0 0 5 70000\n", ialloc.New{
		Mode: ondisk.ModeCharacter | 0o600, Device: ondisk.DeviceNumber(5, 70000),
	}, ""},
	{"c b--660 0 6 259 1\n", ialloc.New{
		Mode: ondisk.ModeBlock | 0o660, GID: 6, Device: ondisk.DeviceNumber(259, 1),
	}, ""},
	{"d l--777 3 4 some/where\n", ialloc.New{Mode: ondisk.ModeSymlink | 0o777, UID: 3, GID: 4}, "some/where"},
	{"e -ug755 7 8 /dev/null\n", ialloc.New{Mode: ondisk.ModeRegular | 0o6755, UID: 7, GID: 8}, ""},
	{"f d-g755 9 10\n$\n", ialloc.New{Mode: ondisk.ModeDirectory | 0o2755, UID: 9, GID: 10}, ""},
	{"g d--700 0 0\n$\n", ialloc.New{Mode: ondisk.ModeDirectory | 0o700}, ""},
}

// Files of each kind, and what they inherit, are the reference's.
func TestKinds(t *testing.T) {
	text := "/stand/x\n0 0\nd-g755 0 0\n"
	for _, k := range kinds {
		text += k.line
	}
	dir := t.TempDir()
	empty, all := filepath.Join(dir, "empty"), filepath.Join(dir, "all")
	must(t, os.WriteFile(empty, []byte("/stand/x\n0 0\nd-g755 0 0\n$\n"), 0o600))
	must(t, os.WriteFile(all, []byte(text+"$\n"), 0o600))
	for _, args := range [][]string{
		nil,
		{"-m", "crc=0"},
		{"-n", "parent=0", "-m", "bigtime=0", "-i", "nrext64=0"},
		{"-d", "projinherit=77,extszinherit=4,cowextsize=8,daxinherit=1", "-m", "reflink=1"},
		{"-d", "rtinherit=1,extszinherit=3"},
		{"-i", "size=1024"},
		{"-b", "size=512", "-i", "size=256", "-m", "crc=0", "-d", "projinherit=70000"},
	} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			d := livetest.Open(t, livetest.Reference(t, size, append(args, "-p", empty)...))
			want := livetest.Open(t, livetest.Reference(t, size, append(args, "-p", all)...))
			fs := livetest.Load(t, d)
			tr := fs.Begin(0)
			root := read(t, tr, fs.G.RootInode())
			commit(t, tr)
			for i, k := range kinds {
				tr := fs.Begin(0)
				ip := create(t, tr, root, k.new)
				switch {
				case k.link != "":
					ip.Data.Reset(ondisk.FormatLocal)
					ip.Core.Size = uint64(copy(ip.Data.Resize(len(k.link)), k.link))
				case ip.IsDir():
					ip.Data.Reset(ondisk.FormatLocal)
					ip.Core.Size = uint64(ondisk.PutEmptyDir(ip.Data.Resize(ondisk.EmptyDirSize), uint64(root.Ino)))
				}
				if fs.G.Features.Parent {
					ip.Attr.Reset(ondisk.FormatLocal)
					attrs := []ondisk.Attr{{Flags: ondisk.AttrParent, Name: k.line[:1], Value: ondisk.PutParent(uint64(root.Ino), 0)}}
					ondisk.PutAttrs(ip.Attr.Resize(ondisk.AttrsSize(attrs)), attrs)
				}
				commit(t, tr)
				if i == 0 && ip.Room(fs, false) != 8 && fs.G.Features.Parent {
					t.Errorf("a fifo has room for %d bytes", ip.Room(fs, false))
				}
			}
			must(t, fs.Cache.Flush())
			for agno := range fs.G.AGCount {
				compareAG(t, fs, d, want, agno, []*inode.Inode{root}...)
			}
		})
	}
}
