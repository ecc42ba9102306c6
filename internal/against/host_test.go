package against_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/hostfile"
	"mkfs/internal/tree"
)

// host is a directory of the host as a source, read in the simplest way.
type host struct {
	root  string
	stack []level
	last  string // path from the root on
	begun bool
	attrs hostfile.Attrs
	file  *os.File
	data  hostfile.Data
	// change changes entries by their paths.
	change func(path string, e *tree.Entry)
}

type level struct {
	path  string
	names []string
}

func (h *host) Path() string { return h.root + h.last }
func (h *host) Close() error { return nil }

func (h *host) Next() (*tree.Entry, error) {
	if h.file != nil {
		h.file.Close()
		h.file = nil
	}
	if !h.begun {
		h.begun = true
		return h.entry("", "", 0)
	}
	for len(h.stack) > 0 {
		top := &h.stack[len(h.stack)-1]
		if len(top.names) == 0 {
			h.stack = h.stack[:len(h.stack)-1]
			continue
		}
		name := top.names[0]
		top.names = top.names[1:]
		return h.entry(top.path+"/"+name, name, len(h.stack))
	}
	return nil, io.EOF
}

func (h *host) entry(path, name string, depth int) (*tree.Entry, error) {
	h.last = path
	full := h.root + path
	var st unix.Stat_t
	if err := unix.Lstat(full, &st); err != nil {
		return nil, err
	}
	e := &tree.Entry{
		Depth: depth, Name: name, Mode: uint16(st.Mode), UID: st.Uid, GID: st.Gid, Size: st.Size,
		Major: unix.Major(st.Rdev), Minor: unix.Minor(st.Rdev),
		Modified: tree.Time{Sec: st.Mtim.Sec, Nsec: uint32(st.Mtim.Nsec), Given: true},
		Accessed: tree.Time{Sec: st.Atim.Sec, Nsec: uint32(st.Atim.Nsec), Given: true},
	}
	if st.Nlink > 1 && !e.IsDir() {
		e.Link = tree.Link{Dev: st.Dev, Ino: st.Ino}
	}
	var err error
	switch e.Mode & tree.TypeMask {
	case tree.TypeDirectory:
		l := level{path: path}
		if l.names, err = names(full); err != nil {
			return nil, err
		}
		h.stack = append(h.stack, l)
	case tree.TypeSymlink:
		e.Target, err = os.Readlink(full)
	case tree.TypeRegular:
		if h.file, err = os.Open(full); err == nil {
			h.data.Reset(int(h.file.Fd()), st.Size)
			e.Data = &h.data
		}
	}
	if err == nil {
		e.Attrs, err = h.attrs.OfPath(full)
	}
	if h.change != nil {
		h.change(path, e)
	}
	return e, err
}

// names are those of a directory in its own order, as mkfs.xfs has them.
func names(path string) (list []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, b, 0o640))
}

// setxattr skips where the host or the user cannot.
func setxattr(t testing.TB, path, name string, value []byte) {
	t.Helper()
	if err := unix.Lsetxattr(path, name, value, 0); err != nil {
		t.Skipf("%s of %s: %v", name, path, err)
	}
}

// pattern is n bytes, none of which is zero.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7+n)%255 + 1
	}
	return b
}

// sourceDir is an empty directory, where there can be attributes of any length if the machine has such a place.
func sourceDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "against")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}
