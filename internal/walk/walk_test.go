package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

func (m *maker) open() []found {
	m.Helper()
	s, err := New(m.dir, Options{}).Open(m.Context())
	return all(m.T, s, err)
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

// TestOrder has the order of readdir, depth first, in both modes.
func TestOrder(t *testing.T) {
	m := newMaker(t)
	mixed(m)
	want := fmt.Sprintf("%q", listed(t, m.dir, 0))
	if got := fmt.Sprintf("%q", paths(m.open())); got != want {
		t.Errorf("open:\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprintf("%q", paths(m.survey())); got != want {
		t.Errorf("survey:\n%s\nwant\n%s", got, want)
	}
}

// TestEntries compares what entries say with lstat, and contents.
func TestEntries(t *testing.T) {
	m := newMaker(t)
	mixed(m)
	for mode, list := range map[string][]found{"open": m.open(), "survey": m.survey()} {
		for _, f := range list {
			var st unix.Stat_t
			m.do(unix.Lstat(f.path, &st))
			if uint32(f.Mode) != st.Mode || f.UID != st.Uid || f.GID != st.Gid {
				t.Errorf("%s %q: mode %o of %d, %d; want %o of %d, %d", mode, f.path, f.Mode, f.UID, f.GID, st.Mode, st.Uid, st.Gid)
			}
			mtime := tree.Time{Sec: st.Mtim.Sec, Nsec: uint32(st.Mtim.Nsec), Given: true}
			if f.Depth == 0 {
				mtime = tree.Time{}
			}
			if f.Modified != mtime || f.Accessed != (tree.Time{}) {
				t.Errorf("%s %q: times %v, %v; want %v and none", mode, f.path, f.Modified, f.Accessed, mtime)
			}
			if f.Mode&tree.TypeMask == tree.TypeSymlink {
				if target, _ := os.Readlink(f.path); f.Target != target {
					t.Errorf("%s %q: target %q, want %q", mode, f.path, f.Target, target)
				}
			}
			if f.Mode&tree.TypeMask != tree.TypeRegular {
				continue
			}
			want, err := os.ReadFile(f.path)
			m.do(err)
			if f.Size != int64(len(want)) || mode == "open" && !bytes.Equal(f.data, want) {
				t.Errorf("%s %q: %d bytes are not the %d of the file", mode, f.path, f.Size, len(want))
			}
			if blocks := (f.Size + 4095) / 4096 * 4096; mode == "survey" && f.Stored != blocks {
				t.Errorf("%q: stored %d, want %d", f.path, f.Stored, blocks)
			}
		}
	}
}

func TestAccessTime(t *testing.T) {
	m := newMaker(t)
	m.file("f", []byte("x"))
	m.do(os.Chtimes(m.path("f"), time.Unix(12, 34), time.Unix(56, 78)))
	s, err := New(m.dir, Options{Accessed: true}).Open(t.Context())
	list := all(t, s, err)
	if f := find(t, list, "f"); f.Accessed != (tree.Time{Sec: 12, Nsec: 34, Given: true}) {
		t.Errorf("access time %v", f.Accessed)
	}
	if list[0].Accessed.Given {
		t.Error("the root has an access time")
	}
	var st unix.Stat_t
	m.do(unix.Stat(m.path("f"), &st))
	if st.Atim.Sec != 12 {
		t.Error("reading has changed the access time of the source")
	}
}

// What reads a link sets its access time, so that later walks would see the time of the first.
func TestAccessTimeOfALink(t *testing.T) {
	m := newMaker(t)
	m.do(os.Symlink("target", m.path("l")))
	want := tree.Time{Sec: 12, Nsec: 34, Given: true}
	m.do(unix.UtimesNanoAt(unix.AT_FDCWD, m.path("l"), []unix.Timespec{{Sec: 12, Nsec: 34}, {Sec: 56}}, unix.AT_SYMLINK_NOFOLLOW))
	tr := New(m.dir, Options{Accessed: true})
	s, err := tr.Survey(t.Context(), 4096, nil)
	all(t, s, err)
	for range 2 {
		s, err := tr.Open(t.Context())
		if f := find(t, all(t, s, err), "l"); f.Accessed != want || f.Target != "target" {
			t.Errorf("access time %v of a link to %q", f.Accessed, f.Target)
		}
	}
}

// Two branches: directories on the way to the first are closed, opened again and closed once more.
func TestDeepTwice(t *testing.T) {
	m := newMaker(t)
	for _, branch := range []string{"a", "b"} {
		m.do(os.MkdirAll(m.path(branch+strings.Repeat("/d", openLevels+20)), 0o755))
	}
	if n := len(m.open()); n != 1+2*(openLevels+21) {
		t.Errorf("%d entries", n)
	}
}

// TestHoles has files with holes in all places, among them small ones and blocks of zeros that are
// data, beside what the host says.
func TestHoles(t *testing.T) {
	m := newMaker(t)
	make := func(name string, size int64, at ...int64) {
		f, err := os.Create(m.path(name))
		m.do(err)
		for _, off := range at {
			_, err := f.WriteAt([]byte("data"), off)
			m.do(err)
		}
		m.do(f.Truncate(size))
		m.do(f.Close())
	}
	make("none", 100<<10)
	make("small hole", 5)
	make("front", 20000, 16384)
	make("front, full at its end", 20000, 16384, 19990)
	make("end", 20000, 0)
	make("middle", 1<<20, 0, 512<<10, 1<<20-10)
	make("many", 4<<20, 0, 64<<10, 128<<10, 192<<10, 1<<20, 3<<20)
	make("huge", 1<<40, 1<<30, 1<<39)
	m.file("zeros", bytes.Repeat([]byte{0}, 9000))
	list, surveyed := m.open(), m.survey()
	for _, f := range list[1:] {
		file, err := os.Open(f.path)
		m.do(err)
		var want [][2]int64
		stored := int64(0)
		for off := int64(0); ; {
			start, err := unix.Seek(int(file.Fd()), off, unix.SEEK_DATA)
			if err != nil {
				break
			}
			off, err = unix.Seek(int(file.Fd()), start, unix.SEEK_HOLE)
			m.do(err)
			want = append(want, [2]int64{start, off})
			stored += (off+4095)/4096*4096 - start
		}
		file.Close()
		if fmt.Sprint(f.pieces) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", f.Name, f.pieces, want)
		}
		if s := find(t, surveyed, f.Name); s.Stored != stored || s.Pieces != len(want) {
			t.Errorf("%s: %d bytes stored in %d pieces, want %d in %d", f.Name, s.Stored, s.Pieces, stored, len(want))
		}
		if f.Size < 8<<20 {
			if data, _ := os.ReadFile(f.path); !bytes.Equal(f.data, data) {
				t.Errorf("%s: other data", f.Name)
			}
		}
	}
}

func TestDense(t *testing.T) {
	for n := 1; n < 3*unit; n += 7 {
		p := pattern(n)
		if !dense(p) {
			t.Errorf("%d bytes: not dense", n)
		}
		last := (n - 1) / unit * unit
		clear(p[last:])
		if dense(p) {
			t.Errorf("%d bytes, zeros from %d on: dense", n, last)
		}
		p[n-1] = 1
		if first := p[:min(n-1, unit)]; n > unit {
			saved := bytes.Clone(first)
			clear(first)
			if dense(p) {
				t.Errorf("%d bytes, a sector of zeros in front: dense", n)
			}
			copy(first, saved)
		}
		if !dense(p) {
			t.Errorf("%d bytes, all but the last zeros: not dense", n)
		}
	}
}

func TestHardLinks(t *testing.T) {
	m := newMaker(t)
	m.mkdir("d")
	m.file("f", []byte("data"))
	m.file("alone", []byte("data"))
	m.do(os.Symlink("x", m.path("s")))
	m.do(os.Link(m.path("f"), m.path("d/f2")))
	m.do(os.Link(m.path("s"), m.path("d/s2")))
	for _, list := range [][]found{m.open(), m.survey()} {
		f, s := find(t, list, "f"), find(t, list, "s")
		if f.Link == (tree.Link{}) || f.Link != find(t, list, "f2").Link {
			t.Errorf("links of the file: %v, %v", f.Link, find(t, list, "f2").Link)
		}
		if s.Link == (tree.Link{}) || s.Link != find(t, list, "s2").Link || s.Link == f.Link {
			t.Errorf("links of the symbolic link: %v, %v", s.Link, find(t, list, "s2").Link)
		}
		for _, name := range []string{"", "d", "alone"} {
			if l := find(t, list, name).Link; l != (tree.Link{}) {
				t.Errorf("%q has a link %v", name, l)
			}
		}
	}
}

// TestDeep goes to a depth that neither paths nor open files reach. All directories have files
// before and after the next directory, so that parked ones are gone on with.
func TestDeep(t *testing.T) {
	const depth = 1000
	m := &maker{t, inMemory(t)}
	fd, err := unix.Open(m.dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	m.do(err)
	name := strings.Repeat("d", 20)
	for i := range depth {
		for _, kind := range []string{"a", "z"} {
			f, err := unix.Openat(fd, fmt.Sprint(kind, i), unix.O_CREAT|unix.O_WRONLY, 0o644)
			m.do(err)
			unix.Close(f)
		}
		m.do(unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_PATH|unix.O_DIRECTORY, 0)
		m.do(err)
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
	for _, list := range [][]found{m.open(), m.survey()} {
		if len(list) != 3*depth+1 {
			t.Fatalf("%d entries, want %d", len(list), 3*depth+1)
		}
		for _, f := range list {
			i := 0
			if _, err := fmt.Sscanf(f.Name, "a%d", &i); err == nil && f.Depth != i+1 {
				t.Fatalf("%s has depth %d", f.Name, f.Depth)
			}
			if want := len(m.dir) + (f.Depth-1)*(len(name)+1) + 1 + len(f.Name); f.Depth > 0 && len(f.path) != want {
				t.Fatalf("the path of %s has %d bytes, want %d", f.Name, len(f.path), want)
			}
		}
	}
	if n := openFiles(t); n > 40 {
		t.Errorf("%d files are still open", n)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}

func TestMany(t *testing.T) {
	m := &maker{t, inMemory(t)}
	const files = 20000
	for i := range files {
		m.file(fmt.Sprint("file", i), []byte(fmt.Sprint(i)))
	}
	list := m.open()
	if len(list) != files+1 {
		t.Fatalf("%d entries", len(list))
	}
	for _, f := range list[1:] {
		if f.Name != "file"+string(f.data) {
			t.Fatalf("%s holds %s", f.Name, f.data)
		}
	}
	if got, want := fmt.Sprint(paths(list)), fmt.Sprint(listed(t, m.dir, 0)); got != want {
		t.Error("not in the order of readdir")
	}
}

func TestRoot(t *testing.T) {
	m := newMaker(t)
	m.mkdir("d")
	m.file("d/f", []byte("x"))
	m.do(os.Symlink("d", m.path("link")))
	for _, name := range []string{"d", "d/", "d//", "link/."} {
		list, err := take(New(m.path(name), Options{}).Open(t.Context()))
		if err != nil || len(list) != 2 || filepath.Base(list[1].path) != "f" {
			t.Errorf("%s: %v, %v", name, paths(list), err)
		}
	}
	for _, name := range []string{"missing", "link", "d/f"} {
		if _, err := New(m.path(name), Options{}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), m.path(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(m.path("link"), Options{}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("symbolic link: %v", err)
	}
}

func TestTargetTooLong(t *testing.T) {
	m := newMaker(t)
	m.do(os.Symlink(strings.Repeat("x", 1024), m.path("long")))
	tr := New(m.dir, Options{})
	for _, open := range []func() (tree.Source, error){
		func() (tree.Source, error) { return tr.Open(t.Context()) },
		func() (tree.Source, error) { return tr.Survey(t.Context(), 4096, func(string, error) {}) },
	} {
		if _, err := take(open()); !errors.Is(err, unix.ENAMETOOLONG) || !strings.Contains(err.Error(), m.path("long")) {
			t.Error(err)
		}
	}
}

// TestCancel ends a walk from outside, and by Close, in the middle.
func TestCancel(t *testing.T) {
	m := newMaker(t)
	mixed(m)
	before := openFiles(t)
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := New(m.dir, Options{}).Open(ctx)
		m.do(err)
		for range i {
			_, err := s.Next()
			m.do(err)
		}
		if i%2 == 0 {
			cancel()
			for err == nil {
				_, err = s.Next()
			}
			if err != context.Canceled {
				t.Fatalf("ends with %v", err)
			}
		}
		m.do(s.Close())
		if _, err := s.Next(); err == nil {
			t.Fatal("goes on after Close")
		}
		cancel()
	}
	if n := openFiles(t); n != before {
		t.Errorf("%d files are open, %d were", n, before)
	}
}

// TestSeveralGoes has more data than a batch has memory for, and more large files than it keeps open.
func TestSeveralGoes(t *testing.T) {
	m := &maker{t, inMemory(t)}
	for i := range 200 {
		m.file(fmt.Sprint(i), append(pattern(50000+i%4*10000), fmt.Sprint(i)...))
		m.file(fmt.Sprint("large", i), append(pattern(100000), fmt.Sprint("large", i)...))
	}
	tr := New(m.dir, Options{})
	var count sync.Mutex
	most := 0
	tr.host = &between{linux{}, func(call, name string) error {
		if call == "open" {
			count.Lock()
			defer count.Unlock()
			most = max(most, openFiles(t))
		}
		return nil
	}}
	list, err := take(tr.Open(t.Context()))
	m.do(err)
	for _, f := range list[1:] {
		if !bytes.HasSuffix(f.data, []byte(f.Name)) || int64(len(f.data)) != f.Size {
			t.Errorf("%s: %d bytes that end with %q", f.Name, len(f.data), f.data[len(f.data)-3:])
		}
	}
	if most > batches*batchFiles+20 {
		t.Errorf("%d files are open at once", most)
	}
}
