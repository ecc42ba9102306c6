package ialloc_test

import (
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

// The first inodes of a new filesystem, root directory, realtime bitmap and summary, are
// what the reference makes of it.
func TestFirstInodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		ask  func(*geometry.Spec)
	}{
		{[]string{"-n", "parent=0"}, func(s *geometry.Spec) { off(&s.Features.Parent) }},
		{[]string{"-m", "crc=0"}, func(s *geometry.Spec) { off(&s.Features.CRC) }},
		{[]string{"-n", "parent=0", "-i", "sparse=0", "-m", "finobt=0"}, func(s *geometry.Spec) {
			off(&s.Features.Parent)
			off(&s.Features.Sparse)
			off(&s.Features.Finobt)
		}},
		{[]string{"-n", "parent=0", "-m", "bigtime=0,inobtcount=0,reflink=0,rmapbt=0", "-i", "nrext64=0"}, func(s *geometry.Spec) {
			off(&s.Features.Parent)
			off(&s.Features.Bigtime)
			off(&s.Features.InobtCount)
			off(&s.Features.Reflink)
			off(&s.Features.Rmapbt)
			off(&s.Features.Nrext64)
		}},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			want := livetest.Open(t, livetest.Reference(t, size, c.args...))
			fs, d := livetest.New(t, livetest.Plan(t, size, c.ask))
			makeRoot(t, fs, 0o755)
			if err := fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			compareAG(t, fs, d, want, 0)
			if loaded := livetest.Load(t, want); fs.Counts != loaded.Counts {
				t.Errorf("%+v, want %+v", fs.Counts, loaded.Counts)
			}
		})
	}
}

func off(o *geometry.Opt[bool]) { *o = geometry.Given(false) }

// makeRoot makes the root directory, and the files of the realtime section.
func makeRoot(t testing.TB, fs *live.FS, mode uint16) *inode.Inode {
	t.Helper()
	root := makeDir(t, fs, nil, mode)
	for _, bitmap := range []bool{true, false} {
		tr := fs.Begin(0)
		ip := create(t, tr, nil, ialloc.New{Mode: ondisk.ModeRegular, Unlinkable: true})
		if bitmap {
			ip.Core.Flags |= ondisk.FlagNewBitmap
			ip.Core.Atime = ip.EncodeTime(0, 0)
		}
		commit(t, tr)
	}
	return root
}

// makeDir makes a directory without entries. That of the root has generation 0.
func makeDir(t testing.TB, fs *live.FS, parent *inode.Inode, mode uint16) *inode.Inode {
	t.Helper()
	tr := fs.Begin(0)
	ip := create(t, tr, parent, ialloc.New{Mode: ondisk.ModeDirectory | mode, Unlinkable: parent == nil})
	up := parent
	if parent == nil {
		up, ip.Core.Generation = ip, 0
	}
	ip.Data.Reset(ondisk.FormatLocal)
	ip.Core.Size = uint64(ondisk.PutEmptyDir(ip.Data.Resize(ondisk.EmptyDirSize), uint64(up.Ino)))
	commit(t, tr)
	return ip
}

func commit(t testing.TB, tr *live.Trans) {
	t.Helper()
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// Directories go to one AG after the other, and files to that of their directory.
func TestDirectoriesGoAround(t *testing.T) {
	const dirs, files = 10, 3
	var b strings.Builder
	b.WriteString("/stand/x\n0 0\nd--755 0 0\n")
	for i := range dirs {
		fmt.Fprintf(&b, "d%d d--755 0 0\n", i)
		for k := range files {
			fmt.Fprintf(&b, "%s ---644 %d %d /dev/null\n", name(k), k, 2*k)
		}
		b.WriteString("$\n")
	}
	b.WriteString("$\n")
	path := filepath.Join(t.TempDir(), "proto")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want := livetest.Open(t, livetest.Reference(t, size, "-n", "parent=0", "-p", path))
	fs, d := livetest.New(t, livetest.Plan(t, size, func(s *geometry.Spec) { off(&s.Features.Parent) }))
	root := makeRoot(t, fs, 0o755)
	list := []*inode.Inode{root}
	for range dirs {
		dir := makeDir(t, fs, root, 0o755)
		list = append(list, dir)
		for k := range files {
			addFile(t, fs, dir, k)
		}
	}
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	for agno := range fs.G.AGCount {
		compareAG(t, fs, d, want, agno, list...)
	}
}
