package namei_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/attr"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
)

// sourceDir is a directory whose symbolic links may have attributes.
func sourceDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("symbolic links get attributes from root alone")
	}
	dir, err := os.MkdirTemp("/dev/shm", "namei")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// fill makes symbolic links with attributes in a directory, among them such as push the target out of
// the inode, and files with several names.
func fill(t *testing.T, dir string, c format) {
	t.Helper()
	r := rand.New(rand.NewSource(7))
	for i, n := range lengths(c) {
		path := filepath.Join(dir, fmt.Sprintf("link%d", n))
		must(t, os.Symlink(target(n), path))
		for k := range r.Intn(4) {
			value := strings.Repeat("v", 1+r.Intn(60)*(1+r.Intn(2)*9))
			must(t, unix.Lsetxattr(path, fmt.Sprintf("trusted.name%d", k), []byte(value), 0))
		}
		if i%9 == 0 {
			must(t, os.Link(path, path+strings.Repeat("-another", i%13)+"."))
		}
		if i%10 == 3 {
			file := filepath.Join(dir, fmt.Sprint("file", i))
			must(t, os.WriteFile(file, nil, 0o640))
			for k := range i {
				must(t, os.Link(file, fmt.Sprint(file, ".", k)))
			}
		}
	}
}

// What the reference takes over from a directory: symbolic links with attributes, and files with several
// names, are its own to the byte.
func TestSourceIsTheReferences(t *testing.T) {
	for _, c := range formats {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			dir := sourceDir(t)
			fill(t, dir, c)
			must(t, os.Chmod(dir, 0o755))
			want := livetest.Open(t, livetest.Reference(t, size, append([]string{"-p", dir}, c.args...)...))
			m := newMade(t, c.ask)
			m.takeOver(dir)
			m.same(want)
		})
	}
}

// takeOver makes in the root directory what is in a directory, as the reference does.
func (m *made) takeOver(dir string) {
	m.t.Helper()
	f, err := os.Open(dir)
	must(m.t, err)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	must(m.t, err)
	known := map[uint64]*inode.Inode{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		var st unix.Stat_t
		must(m.t, unix.Lstat(path, &st))
		if ip := known[st.Ino]; ip != nil {
			m.do(m.names.Space.Link(len(name)), func(tr *live.Trans) error {
				ok, err := m.names.EnterLink(tr, m.root, name, ip, tr.Reserve)
				if !ok && err == nil {
					err = fmt.Errorf("%s: no room", name)
				}
				return err
			})
			continue
		}
		known[st.Ino] = m.enter(m.root, name, ialloc.New{Mode: uint16(st.Mode)}, func(tr *live.Trans, ip *inode.Inode) (bool, error) {
			ip.Core.Mtime = ip.EncodeTime(st.Mtim.Sec, uint32(st.Mtim.Nsec))
			if st.Mode&unix.S_IFMT != unix.S_IFLNK {
				return true, nil
			}
			target, err := os.Readlink(path)
			must(m.t, err)
			return symlink.Write(tr, ip, target, symlink.Blocks(m.fs, len(target)))
		})
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			m.do(0, func(tr *live.Trans) error { // its size is set
				known[st.Ino].Log(tr)
				return nil
			})
		}
		m.attrs(known[st.Ino], path)
	}
}

// attrs gives an inode the attributes of a file.
func (m *made) attrs(ip *inode.Inode, path string) {
	m.t.Helper()
	list := make([]byte, 1<<16)
	n, err := unix.Llistxattr(path, list)
	must(m.t, err)
	value := make([]byte, 1<<16)
	for full := range strings.SplitSeq(string(list[:n]), "\x00") {
		name, ok := strings.CutPrefix(full, "trusted.")
		if !ok {
			continue
		}
		n, err := unix.Lgetxattr(path, full, value)
		must(m.t, err)
		r, err := m.names.Attrs.Set(ip, attr.Root, []byte(name), value[:n], attr.Upsert)
		must(m.t, err)
		if r != attr.Done {
			m.t.Fatalf("%s, %s: result %d", path, name, r)
		}
	}
}

// Targets that attributes push out of the inode can be read.
func TestSpillSymlink(t *testing.T) {
	m := newMade(t, formats[1].ask)
	want := target(300)
	ip := m.symlink(m.root, "link", want, 0o777)
	if ip.Data.Format != ondisk.FormatLocal {
		t.Fatalf("form %d before", ip.Data.Format)
	}
	r, err := m.names.Attrs.Set(ip, attr.User, []byte("name"), make([]byte, 200), attr.Create)
	must(t, err)
	if r != attr.Done || ip.Data.Format != ondisk.FormatExtents {
		t.Fatalf("result %d, form %d afterwards", r, ip.Data.Format)
	}
	m.do(0, func(tr *live.Trans) error {
		got, err := symlink.Read(tr, ip)
		if got != want {
			t.Errorf("%q", got)
		}
		return err
	})
}
