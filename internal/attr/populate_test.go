package attr

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// spaces are the namespaces of names as Linux has them.
var spaces = map[string]Space{"user.": User, "trusted.": Root, "security.": Secure}

// xattrs are the attributes of a file, in the order in which a program sees them.
func xattrs(t *testing.T, path string) (list []change) {
	t.Helper()
	names := make([]byte, 1<<20)
	n, err := unix.Llistxattr(path, names)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, MaxValue)
	for _, full := range strings.Split(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
		for prefix, space := range spaces {
			if name, ok := strings.CutPrefix(full, prefix); ok {
				n, err := unix.Lgetxattr(path, full, value)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, change{space: space, name: name, value: append([]byte(nil), value[:n]...)})
			}
		}
	}
	return list
}

// The attributes of files are those that mkfs.xfs takes over from a directory.
func TestPopulateLikeReference(t *testing.T) {
	for _, c := range []struct {
		block, parent, count, size int
	}{
		{4096, 0, 1, 10}, {4096, 1, 3, 60}, {1024, 0, 10, 100}, {4096, 1, 20, 4000}, {1024, 1, 100, 300}, {4096, 0, 40, 9000},
		{65536, 1, 30, 65536}, {4096, 0, 600, 100}, {1024, 1, 1500, 30}, {2048, 0, 5, 65536},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			src := sourceDir(t)
			path := filepath.Join(src, "file")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewSource(int64(c.count)))
			for i := range c.count {
				prefix := []string{"user.", "trusted.", "security."}[r.Intn(3)]
				name := fmt.Sprintf("%sname%0*d", prefix, r.Intn(30), i)
				n := 1 + r.Intn(c.size) // mkfs.xfs leaves out those without a value
				if i == 0 {
					n = c.size
				}
				if err := unix.Lsetxattr(path, name, fill(r, n), 0); err != nil {
					t.Skipf("no attributes of %d bytes here: %v", n, err)
				}
			}
			list := xattrs(t, path)
			if len(list) != c.count {
				t.Fatalf("%d attributes, want %d", len(list), c.count)
			}
			image := livetest.Reference(t, imageSize, "-n", fmt.Sprint("parent=", c.parent), "-b", fmt.Sprint("size=", c.block),
				"-p", src)
			ref := livetest.Open(t, image)
			fs := livetest.Load(t, ref)
			d := newDesk(t, func(s *geometry.Spec) {
				s.BlockSize = geometry.Given(int64(c.block))
				s.Features.Parent = geometry.Given(c.parent > 0)
			})
			d.ino = fs.G.RootInode() + 3
			if c.parent > 0 {
				d.must(func(t *live.Trans, ip *inode.Inode) error {
					ip.ForkOffset = ip.DefaultForkOffset(d.fs)
					return d.f.AddParent(t, ip, Link{Dir: fs.G.RootInode(), Name: []byte("file")})
				})
			}
			for _, a := range list {
				d.must(func(_ *live.Trans, ip *inode.Inode) error {
					r, err := d.f.Set(ip, a.space, []byte(a.name), a.value, Upsert)
					if r != Done {
						err = fmt.Errorf("%v: %d", a, r)
					}
					return err
				})
			}
			want, err := inode.Read(fs.Begin(0), d.ino)
			if err != nil {
				t.Fatal(err)
			}
			d.same(want, ref)
			theirs := New(fs, nil)
			for _, a := range list {
				value, found, err := theirs.Get(fs.Begin(0), want, a.space, []byte(a.name), nil)
				if !found || err != nil || string(value) != string(a.value) {
					t.Errorf("%v: %d bytes, %t, %v", a, len(value), found, err)
				}
			}
			if _, found, err := theirs.Get(fs.Begin(0), want, User, []byte("other"), nil); found || err != nil {
				t.Errorf("one that is not there: %t, %v", found, err)
			}
		})
	}
}

// sourceDir is a directory whose files may have attributes.
func sourceDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "attr")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
