package ialloc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/attr"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
)

// A filesystem of directories with many empty files is the reference's, to the byte.
func TestWholeFilesystem(t *testing.T) {
	const dirs, files = 17, 333
	var b strings.Builder
	b.WriteString("/stand/x\n0 0\nd--755 0 0\n")
	for i := range dirs {
		fmt.Fprintf(&b, "d%d d--755 0 0\n", i)
		for k := range files {
			fmt.Fprintf(&b, "%s ---644 %d %d /dev/null\n", name(k), k, 2*k)
		}
		b.WriteString("$\n")
	}
	path := filepath.Join(t.TempDir(), "proto")
	must(t, os.WriteFile(path, []byte(b.String()+"$\n"), 0o600))
	for _, c := range []struct {
		args []string
		ask  func(*geometry.Spec)
	}{
		{nil, nil},
		{[]string{"-m", "rmapbt=0"}, func(s *geometry.Spec) { off(&s.Features.Rmapbt) }},
		{[]string{"-n", "parent=0"}, func(s *geometry.Spec) { off(&s.Features.Parent) }},
		{[]string{"-m", "finobt=0"}, func(s *geometry.Spec) { off(&s.Features.Finobt) }},
		{[]string{"-m", "crc=0"}, func(s *geometry.Spec) { off(&s.Features.CRC) }},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			want := livetest.Open(t, livetest.Reference(t, size, append(c.args, "-p", path)...))
			fs, d := livetest.New(t, livetest.Plan(t, size, c.ask))
			root := makeRoot(t, fs, 0o755)
			names := namei.New(fs)
			for i := range dirs {
				dir := makeNamed(t, fs, names, root, fmt.Sprint("d", i), ialloc.New{Mode: ondisk.ModeDirectory | 0o755})
				for k := range files {
					n := ialloc.New{Mode: ondisk.ModeRegular | 0o644, UID: uint32(k), GID: uint32(2 * k)}
					makeNamed(t, fs, names, dir, name(k), n).Release()
				}
			}
			if value := fs.G.Features.Autofsck; value != geometry.AutofsckUnset {
				_, err := names.Attrs.Set(root, attr.Root, []byte(ondisk.AutofsckName), []byte(value), attr.Upsert)
				must(t, err)
			}
			must(t, fs.Cache.Flush())
			for agno := range fs.G.AGCount {
				compareAG(t, fs, d, want, agno)
			}
			if loaded := livetest.Load(t, want); fs.Counts != loaded.Counts {
				t.Errorf("%+v, want %+v", fs.Counts, loaded.Counts)
			}
		})
	}
}

// makeNamed makes a file in a directory as a prototype file has the reference do it.
func makeNamed(t testing.TB, fs *live.FS, names *namei.Names, dp *inode.Inode, name string, n ialloc.New) *inode.Inode {
	t.Helper()
	tr := fs.Begin(names.Space.Create(len(name)))
	ip := create(t, tr, dp, n)
	ok, err := names.Enter(tr, dp, name, ip, tr.Reserve)
	must(t, err)
	if !ok {
		t.Fatal("no room")
	}
	commit(t, tr)
	return ip
}
