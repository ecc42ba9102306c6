package walk

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// found is an entry with all that it refers to, which stays.
type found struct {
	tree.Entry
	path   string
	data   []byte
	pieces [][2]int64
}

// all takes every entry of a source and closes it.
func all(t *testing.T, s tree.Source, err error) []found {
	t.Helper()
	list, err := take(s, err)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func take(s tree.Source, err error) (list []found, _ error) {
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		e, err := s.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		f := found{Entry: *e, path: s.Path()}
		f.Name, f.Target, f.Attrs, f.Data = strings.Clone(e.Name), strings.Clone(e.Target), nil, nil
		for _, a := range e.Attrs {
			f.Attrs = append(f.Attrs, tree.Attr{Name: strings.Clone(a.Name), Value: bytes.Clone(a.Value)})
		}
		if e.Data != nil {
			if err := f.take(e); err != nil {
				return list, fmt.Errorf("%s: %w", f.path, err)
			}
		}
		list = append(list, f)
	}
}

// take takes the data of an entry.
func (f *found) take(e *tree.Entry) error {
	const most = 8 << 20 // of a sparse file not all is of use
	f.data = make([]byte, min(e.Size, most))
	for off := int64(0); ; {
		start, end, err := e.Data.Next(off)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f.pieces = append(f.pieces, [2]int64{start, end})
		if start < int64(len(f.data)) {
			if err := e.Data.ReadAt(f.data[start:min(end, int64(len(f.data)))], start); err != nil {
				return err
			}
		}
		off = end
	}
}

// listed is what a plain walk by paths gives, in the order of readdir.
func listed(t *testing.T, dir string, depth int) (paths []string) {
	t.Helper()
	paths = append(paths, fmt.Sprint(depth, " ", dir))
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		path := dir + "/" + e.Name()
		if e.IsDir() {
			paths = append(paths, listed(t, path, depth+1)...)
		} else {
			paths = append(paths, fmt.Sprint(depth+1, " ", path))
		}
	}
	return paths
}

func paths(list []found) (p []string) {
	for _, f := range list {
		p = append(p, fmt.Sprint(f.Depth, " ", f.path))
	}
	return p
}

// maker makes files below a directory.
type maker struct {
	*testing.T
	dir string
}

func newMaker(t *testing.T) *maker { return &maker{t, t.TempDir()} }

// inMemory is a new directory in memory, if there is a place for it: for many files.
func inMemory(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "walk")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (m *maker) path(name string) string { return m.dir + "/" + name }

func (m *maker) do(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *maker) mkdir(name string) { m.Helper(); m.do(os.Mkdir(m.path(name), 0o755)) }

func (m *maker) file(name string, data []byte) {
	m.Helper()
	m.do(os.WriteFile(m.path(name), data, 0o644))
}

// open takes all, first anew and then as a survey has remembered it, and compares.
func (m *maker) open() []found {
	m.Helper()
	tr := New(m.dir, Options{})
	s, err := tr.Open(m.Context())
	list := all(m.T, s, err)
	s, err = tr.Survey(m.Context(), 4096, nil)
	all(m.T, s, err)
	s, err = tr.Open(m.Context())
	m.equal(all(m.T, s, err), list)
	return list
}

func (m *maker) equal(got, want []found) {
	m.Helper()
	if len(got) != len(want) {
		m.Errorf("%d entries, want %d", len(got), len(want))
		return
	}
	for i := range got {
		g, w := got[i], want[i]
		if !bytes.Equal(g.data, w.data) {
			m.Errorf("%s: other data", w.path)
		}
		g.data, w.data = nil, nil
		if g, w := fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w); g != w {
			m.Errorf("entry %.300s, want %.300s", g, w)
		}
	}
}

func (m *maker) survey() []found {
	m.Helper()
	s, err := New(m.dir, Options{}).Survey(m.Context(), 4096, nil)
	return all(m.T, s, err)
}

func find(t *testing.T, list []found, name string) found {
	t.Helper()
	for _, f := range list {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no entry %q", name)
	return found{}
}

func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7+i>>8) | 1
	}
	return p
}

// mixed makes a tree of files of all kinds that need no rights.
func mixed(m *maker) {
	m.mkdir("a")
	m.mkdir("a/b")
	m.mkdir("a/empty")
	for i := range 300 {
		m.file(fmt.Sprintf("a/b/file%d", i), pattern(i*37))
	}
	m.file("large", pattern(5<<20+123))
	m.file("a/new\nline", []byte("x"))
	m.file("a/not utf-8 \xff\xfe", nil)
	m.file("a/"+strings.Repeat("n", 255), []byte("long"))
	m.do(os.Symlink("nowhere", m.path("a/link")))
	m.do(os.Symlink(strings.Repeat("t", 1023), m.path("a/longest link")))
	m.do(os.Symlink("/", m.path("a/b/to root")))
	m.do(unix.Mkfifo(m.path("fifo"), 0o600))
	m.do(unix.Mknod(m.path("socket"), unix.S_IFSOCK|0o700, 0))
	m.do(os.Chmod(m.path("large"), 0o755|os.ModeSetuid|os.ModeSticky))
	m.do(os.Chtimes(m.path("large"), time.Unix(12, 34), time.Unix(-56, 789)))
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}
