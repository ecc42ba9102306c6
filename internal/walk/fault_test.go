package walk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/hostfile"
	"mkfs/internal/tree"
)

// between is a host that calls a function before each call.
type between struct {
	host
	// before gets the call, and the name of the file if it has one.
	before func(call, name string) error
}

func (b *between) ask(call string, name *byte) error {
	if name == nil {
		return b.before(call, "")
	}
	return b.before(call, unix.BytePtrToString(name))
}

func (b *between) open(dir int, name *byte, flags int) (int, error) {
	if err := b.ask("open", name); err != nil {
		return -1, err
	}
	return b.host.open(dir, name, flags)
}

func (b *between) close(fd int) error {
	err := b.host.close(fd)
	return errors.Join(b.ask("close", nil), err)
}

func (b *between) stat(dir int, name *byte, st *unix.Statx_t) error {
	if err := b.ask("stat", name); err != nil {
		return err
	}
	return b.host.stat(dir, name, st)
}

func (b *between) filesystem(fd int, st *unix.Statfs_t) error {
	if err := b.ask("filesystem", nil); err != nil {
		return err
	}
	return b.host.filesystem(fd, st)
}

func (b *between) access(dir int, name *byte, mode int) error {
	if err := b.ask("access", name); err != nil {
		return err
	}
	return b.host.access(dir, name, mode)
}

func (b *between) entries(fd int, p []byte) (int, error) {
	if err := b.ask("entries", nil); err != nil {
		return 0, err
	}
	return b.host.entries(fd, p)
}

func (b *between) readlink(dir int, name *byte, p []byte) (int, error) {
	if err := b.ask("readlink", name); err != nil {
		return 0, err
	}
	return b.host.readlink(dir, name, p)
}

func (b *between) next(d *hostfile.Data, off int64) (start, end int64, err error) {
	if err := b.ask("next", nil); err != nil {
		return 0, 0, err
	}
	return b.host.next(d, off)
}

func (b *between) read(d *hostfile.Data, p []byte, off int64) error {
	if err := b.ask("read", nil); err != nil {
		return err
	}
	return b.host.read(d, p, off)
}

func (b *between) count(d *hostfile.Data, block int64) (int64, int, error) {
	if err := b.ask("count", nil); err != nil {
		return 0, 0, err
	}
	return b.host.count(d, block)
}

func (b *between) listAttrs(dir int, name *byte, p []byte) (int, error) {
	if err := b.ask("listAttrs", name); err != nil {
		return 0, err
	}
	return b.host.listAttrs(dir, name, p)
}

func (b *between) attr(dir int, name, attr *byte, p []byte) (int, error) {
	if err := b.ask("attr", name); err != nil {
		return 0, err
	}
	return b.host.attr(dir, name, attr, p)
}

// TestFaults fails each call of a walk, in turn: the walk ends with an error that has a path, and
// leaves nothing open.
func TestFaults(t *testing.T) {
	m := &maker{t, inMemory(t)}
	m.mkdir("d")
	m.mkdir("d/e")
	m.file("d/e/f", pattern(100))
	m.file("d/zeros", make([]byte, 5000))
	m.file("large", pattern(100000))
	m.do(os.Symlink("x", m.path("link")))
	m.do(unix.Mkfifo(m.path("fifo"), 0o600))
	_ = unix.Setxattr(m.path("large"), "user.a", []byte("value"), 0) // the more the better
	f, err := os.Create(m.path("d/hole"))
	m.do(err)
	m.do(f.Truncate(1 << 20))
	m.do(f.Close())
	files, routines := openFiles(t), runtime.NumGoroutine()
	for _, survey := range []bool{false, true} {
		for _, fault := range []error{unix.EIO, unix.ENOENT, unix.EACCES} {
			for n := int32(1); ; n++ {
				var calls atomic.Int32
				failed := atomic.Value{}
				tr := New(m.dir, Options{})
				tr.host = &between{linux{}, func(call, name string) error {
					if calls.Add(1) != n {
						return nil
					}
					failed.Store(call)
					return fault
				}}
				list, err := surveyOrOpen(t, tr, survey)
				call := failed.Load()
				if call == nil {
					break // all calls have been failed
				}
				switch {
				case err != nil && (!errors.Is(err, fault) || !strings.HasPrefix(err.Error(), m.dir)):
					t.Errorf("call %d, %v, %v: error %v", n, call, fault, err)
				case err == nil && call != "close" && !(survey && fault == unix.EACCES):
					t.Errorf("call %d, %v, %v: no error, %d entries", n, call, fault, len(list))
				}
			}
		}
	}
	if n := openFiles(t); n != files {
		t.Errorf("%d files are open, %d were", n, files)
	}
	time.Sleep(time.Millisecond)
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines, %d were", n, routines)
	}
}

func surveyOrOpen(t *testing.T, tr *Tree, survey bool) ([]found, error) {
	if survey {
		return take(tr.Survey(t.Context(), 4096, func(string, error) {}))
	}
	return take(tr.Open(t.Context()))
}

// TestChanges changes the tree at a call of the walk.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name, call, file string
		change           func(m *maker) error
		want             error // nil for none
		path             string
	}{
		{"vanished file", "open", "f", func(m *maker) error { return os.Remove(m.path("d/f")) }, unix.ENOENT, "d/f"},
		{"vanished directory", "open", "d", func(m *maker) error { return os.RemoveAll(m.path("d")) }, unix.ENOENT, "d"},
		{"shrunk", "read", "", func(m *maker) error { return os.Truncate(m.path("d/f"), 10) }, hostfile.ErrShrunk, "d/f"},
		{"grown", "read", "", func(m *maker) error { return os.Truncate(m.path("d/f"), 1<<20) }, nil, ""},
		{
			"directory becomes a symbolic link", "open", "d", func(m *maker) error {
				return errors.Join(os.Rename(m.path("d"), m.path("../moved")), os.Symlink("../moved", m.path("d")))
			}, unix.ENOTDIR, "d",
		},
		{
			"file becomes a symbolic link", "open", "f", func(m *maker) error {
				return errors.Join(os.Remove(m.path("d/f")), os.Symlink("/etc/passwd", m.path("d/f")))
			}, nil, "",
		},
		{
			"file becomes a FIFO", "open", "f", func(m *maker) error {
				return errors.Join(os.Remove(m.path("d/f")), unix.Mkfifo(m.path("d/f"), 0o600))
			}, nil, "",
		},
		{
			"file becomes a directory", "open", "f", func(m *maker) error {
				return errors.Join(os.Remove(m.path("d/f")), os.Mkdir(m.path("d/f"), 0o700))
			}, ErrChanged, "d/f",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMaker(t)
			m.dir = m.path("tree")
			m.do(os.Mkdir(m.dir, 0o755))
			m.mkdir("d")
			m.file("d/f", pattern(1000))
			tr := New(m.dir, Options{})
			var done atomic.Bool
			tr.host = &between{linux{}, func(call, name string) error {
				if call == c.call && name == c.file && !done.Swap(true) {
					return c.change(m)
				}
				return nil
			}}
			list, err := take(tr.Open(t.Context()))
			if !errors.Is(err, c.want) || err != nil && !strings.HasPrefix(err.Error(), m.path(c.path)+": ") {
				t.Fatalf("error %v, want %v of %s", err, c.want, c.path)
			}
			if err != nil {
				return
			}
			f := find(t, list, "f")
			switch f.Mode & tree.TypeMask {
			case tree.TypeRegular:
				if f.Size != 1000 || string(f.data) != string(pattern(1000)) {
					t.Errorf("%d bytes, want 1000", f.Size)
				}
			case tree.TypeSymlink:
				if f.Target != "/etc/passwd" {
					t.Errorf("target %q", f.Target)
				}
			}
		})
	}
}

// TestMoved moves a parked directory away while the walk is below it.
func TestMoved(t *testing.T) {
	const depth = openLevels + 10
	m := &maker{t, inMemory(t)}
	path := "top"
	for range depth {
		m.mkdir(path)
		path += "/d"
	}
	tr := New(m.dir, Options{})
	var opened, done atomic.Int32
	tr.host = &between{linux{}, func(call, name string) error {
		if call != "open" || name == "top" || name != "d" {
			return nil
		}
		// When all are open, the third from above gets another directory above it.
		if opened.Add(1) == depth-1 && done.Add(1) == 1 {
			m.mkdir("other")
			return os.Rename(m.path("top/d/d/d"), m.path("other/d"))
		}
		return nil
	}}
	_, err := take(tr.Open(t.Context()))
	if !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), m.path("top/d/d")+": ") {
		t.Errorf("error %v", err)
	}
}

// TestLargeShrinks shrinks a file that is not read ahead between two reads.
func TestLargeShrinks(t *testing.T) {
	m := newMaker(t)
	m.file("f", pattern(1<<20))
	s, err := New(m.dir, Options{}).Open(t.Context())
	m.do(err)
	defer s.Close()
	for range 2 {
		_, err = s.Next()
		m.do(err)
	}
	e := s.(*source).last.entry
	m.do(e.Data.ReadAt(make([]byte, 1000), 500000))
	m.do(os.Truncate(m.path("f"), 1000))
	if err := e.Data.ReadAt(make([]byte, 1000), 500); !errors.Is(err, hostfile.ErrShrunk) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("error %v at the end", err)
	}
}

// TestSlowHost cancels a walk whose readers are at work.
func TestSlowHost(t *testing.T) {
	m := newMaker(t)
	for i := range 500 {
		m.file(fmt.Sprint(i), []byte("x"))
	}
	tr := New(m.dir, Options{})
	tr.host = &between{linux{}, func(string, string) error { time.Sleep(time.Millisecond); return nil }}
	s, err := tr.Open(t.Context())
	m.do(err)
	_, err = s.Next()
	m.do(err)
	begin := time.Now()
	m.do(s.Close())
	if d := time.Since(begin); d > 200*time.Millisecond {
		t.Errorf("Close takes %v", d)
	}
}
