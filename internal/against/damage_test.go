package against_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/against"
	"mkfs/internal/live/livetest"
)

// damaged makes an image of the mixed tree.
func image(t testing.TB, args ...string) (path, root string) {
	t.Helper()
	root = sourceDir(t)
	mixed(t, root)
	settle(t, root)
	return livetest.Reference(t, size, append(args, "-p", root)...), root
}

func lines(list []against.Difference) (got []string) {
	for _, d := range list {
		got = append(got, d.String())
	}
	slices.Sort(got)
	return got
}

// What is changed in an image is told, with its place.
func TestChangedImages(t *testing.T) {
	path, root := image(t, "-n", "parent=1")
	whole := livetest.Open(t, path)
	for _, c := range []struct {
		name     string
		commands []string
		want     []string // what the lines begin with
	}{
		{"mode", []string{"path /a/plain", "write core.mode 0100600"}, []string{"/a/plain: mode is 0600, 0640 in the source"}},
		{"a bit of the mode", []string{"path /many", "write core.mode 041755"}, []string{"/many: mode is 1755, 0755 in the source"}},
		{"type", []string{"path /fifo", "write core.mode 0140600"}, []string{
			"/fifo: type in the directory: it is 5, and not 6", "/fifo: type is socket, FIFO in the source",
		}},
		{"user", []string{"path /fifo", "write core.uid 5"}, []string{"/fifo: user is 5, 0 in the source"}},
		{"device", []string{"path /device", "write u3.dev 262149"}, []string{"/device: device is 1:5, 1:3 in the source"}},
		{"length", []string{"path /a/plain", "write core.size 9999"}, []string{"/a/plain: length is 9999, 10000 in the source"}},
		{"time", []string{"path /a/plain", "write core.mtime.sec 1"}, []string{"/a/plain: modification time is 1901-12-13"}},
		{"links", []string{"path /a/plain", "write core.nlinkv2 2"}, []string{
			"/a/plain: number of links: it is 2, of 1 names", "/a/plain: parent pointers: there are 1, of 2 names",
		}},
		{"links of a directory", []string{"path /a", "write core.nlinkv2 9"}, []string{
			"/a: number of links: it is 9, with 2 directories in it",
		}},
		{"parent", []string{"path /a/b", "write u3.sfdir3.hdr.parent.i4 12345"}, []string{
			`/a/b: "..": it is "..", inode 12345, and not inode `,
		}},
		{"generation", []string{"path /a/b", "write core.gen 7"}, []string{"/a/b/deep: parent pointer: there is none to inode"}},
		{"a name more", []string{"path /a", "link -p /a/plain -t reg more"}, []string{"/a/more is there, not in the source"}},
		{"a name less", []string{"path /a", "unlink empty"}, []string{
			"/a/empty is missing, a regular file in the source", "inode ",
		}},
		{"attribute", []string{"path /a/empty", "attr_set -u one 2"}, []string{`/a/empty: attribute user.one is "2", "1" in the source`}},
		{"attribute less", []string{"path /a/empty", "attr_remove -r two"}, []string{`/a/empty: attribute trusted.two is missing, "`}},
		{"attribute more", []string{"path /a/b", "attr_set -s x y"}, []string{`/a/b: attribute security.x is "y", not in the source`}},
		{"attribute of the root", []string{"path /", "attr_set -Z autofsck none"}, nil},
		{"parent pointer of another", []string{"path /a/plain", "attr_set -p plain -v 12"}, []string{
			"/a/plain: parent pointers: there are 2, of 1 names",
		}},
		{"free in the inobt", []string{"agi 0", "addr root", "write recs[1].free 1", "write recs[1].freecount 1"}, []string{"AG 0: the AGI counts", "inode 128: it is free in the inobt, and has a name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "image")
			whole.Save(t, path, size)
			args := []string{"-x"}
			for _, command := range c.commands {
				args = append(args, "-c", command)
			}
			if out, err := livetest.Run(t, "xfs_db", append(args, path)...); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			list, n, err := compare(t, livetest.Open(t, path), &host{root: root})
			must(t, err)
			got := lines(list)
			ok := len(got) == len(c.want) && n.Differences == int64(len(got))
			for i := range c.want {
				ok = ok && strings.HasPrefix(got[i], c.want[i])
			}
			if !ok {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
