package populate_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// host is a directory as a tree, read in the simplest way: it shows what other sources give.
type host struct{ path string }

func (h host) Name() string { return h.path }

func (h host) Open(context.Context) (tree.Source, error) {
	s := &hostSource{stack: []*dirOf{{path: h.path}}}
	return s, nil
}

func (h host) Forget() {}

func (h host) Survey(ctx context.Context, block int64, _ func(string, error)) (tree.Source, error) {
	return &surveyed{hostSource: hostSource{stack: []*dirOf{{path: h.path}}}, block: block}, nil
}

type dirOf struct {
	path  string
	begun bool
	left  []os.DirEntry
}

type hostSource struct {
	stack []*dirOf
	last  string
	file  *os.File
}

func (s *hostSource) Path() string { return s.last }
func (s *hostSource) Close() error { return nil }

func (s *hostSource) Next() (*tree.Entry, error) {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
	for len(s.stack) > 0 {
		top := s.stack[len(s.stack)-1]
		if !top.begun && s.last == "" {
			return s.entry(top.path, "", 0)
		}
		if !top.begun {
			top.begun = true
			f, err := os.Open(top.path)
			if err != nil {
				return nil, err
			}
			top.left, err = f.ReadDir(-1)
			f.Close()
			if err != nil {
				return nil, err
			}
		}
		if len(top.left) == 0 {
			s.stack = s.stack[:len(s.stack)-1]
			continue
		}
		name := top.left[0].Name()
		top.left = top.left[1:]
		path := filepath.Join(top.path, name)
		e, err := s.entry(path, name, len(s.stack))
		if err == nil && e.IsDir() {
			s.stack = append(s.stack, &dirOf{path: path})
		}
		return e, err
	}
	return nil, io.EOF
}

func (s *hostSource) entry(path, name string, depth int) (*tree.Entry, error) {
	s.last = path
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return nil, err
	}
	e := &tree.Entry{
		Depth: depth, Name: name, Mode: uint16(st.Mode), UID: st.Uid, GID: st.Gid, Size: st.Size,
		Major: unix.Major(st.Rdev), Minor: unix.Minor(st.Rdev),
	}
	if depth > 0 {
		e.Modified = tree.Time{Sec: st.Mtim.Sec, Nsec: uint32(st.Mtim.Nsec), Given: true}
	}
	if st.Nlink > 1 && !e.IsDir() {
		e.Link = tree.Link{Dev: st.Dev, Ino: st.Ino}
	}
	switch e.Mode & tree.TypeMask {
	case tree.TypeSymlink:
		target, err := os.Readlink(path)
		if err != nil {
			return nil, err
		}
		e.Target = target
	case tree.TypeRegular:
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		s.file, e.Data = f, hostData{f}
	}
	names := make([]byte, 65536)
	n, err := unix.Llistxattr(path, names)
	if err != nil {
		return nil, err
	}
	for names = names[:n]; len(names) > 0; {
		name := unix.ByteSliceToString(names)
		names = names[len(name)+1:]
		value := make([]byte, 65536)
		n, err := unix.Lgetxattr(path, name, value)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			e.Attrs = append(e.Attrs, tree.Attr{Name: name, Value: value[:n]})
		}
	}
	return e, nil
}

type hostData struct{ f *os.File }

func (d hostData) Next(off int64) (start, end int64, err error) {
	if start, err = unix.Seek(int(d.f.Fd()), off, unix.SEEK_DATA); err == unix.ENXIO {
		return 0, 0, io.EOF
	}
	if err != nil {
		return 0, 0, err
	}
	end, err = unix.Seek(int(d.f.Fd()), start, unix.SEEK_HOLE)
	return start, end, err
}

func (d hostData) ReadAt(p []byte, off int64) error {
	_, err := d.f.ReadAt(p, off)
	return err
}

// surveyed counts what files hold.
type surveyed struct {
	hostSource
	block int64
}

func (s *surveyed) Next() (*tree.Entry, error) {
	e, err := s.hostSource.Next()
	if err != nil || e.Data == nil {
		return e, err
	}
	for off := int64(0); ; {
		start, end, err := e.Data.Next(off)
		if err == io.EOF {
			return e, nil
		}
		if err != nil {
			return nil, err
		}
		e.Stored += (end+s.block-1)/s.block*s.block - start/s.block*s.block
		e.Pieces++
		off = end
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
