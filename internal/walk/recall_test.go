package walk

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// asked is a tree with the names of the files that it asks the host about.
type asked struct {
	*Tree
	mu    sync.Mutex
	names []string
}

func (m *maker) asked() *asked {
	a := &asked{Tree: New(m.dir, Options{})}
	a.host = &between{linux{}, func(call, name string) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if name != "" && call != "entries" {
			a.names = append(a.names, name)
		}
		return nil
	}}
	return a
}

// survey surveys, and forgets what was asked.
func (a *asked) survey(m *maker) []found {
	m.Helper()
	s, err := a.Survey(m.Context(), 4096, nil)
	list := all(m.T, s, err)
	a.names = nil
	return list
}

// open takes all, and gives the names that were asked about, but for those of directories.
func (a *asked) open(m *maker) (list []found, names []string) {
	m.Helper()
	s, err := a.Open(m.Context())
	list = all(m.T, s, err)
	for _, name := range a.names {
		if !slices.ContainsFunc(list, func(f found) bool { return f.IsDir() && (f.Name == name || f.path == name) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return list, slices.Compact(names)
}

// few makes files of all kinds that are remembered, some of them with attributes and several names.
func few(m *maker) {
	m.mkdir("d")
	m.mkdir("d/e")
	m.mkdir("f")
	for _, dir := range []string{"", "d/", "d/e/", "f/"} {
		for i := range 10 {
			m.file(fmt.Sprint(dir, "file", i), pattern(i*i*6))
		}
		m.do(os.Symlink("to "+dir, m.path(dir+"link")))
		m.do(unix.Mkfifo(m.path(dir+"fifo"), 0o600))
		m.do(os.Link(m.path(dir+"file3"), m.path(dir+"name")))
	}
	if os.Geteuid() == 0 {
		m.do(unix.Mknod(m.path("device"), unix.S_IFBLK|0o600, int(unix.Mkdev(300, 70000))))
		m.do(os.Lchown(m.path("d/link"), 1<<31, 70000))
	}
	_ = unix.Setxattr(m.path("file5"), "user.a", []byte("value"), 0)
	_ = unix.Setxattr(m.path("file5"), "user.b", pattern(200), 0)
}

// TestRecall asks nothing about files that a survey has seen, nor does it say other things of them.
func TestRecall(t *testing.T) {
	m := &maker{t, inMemory(t)}
	few(m)
	want := m.open()
	a := m.asked()
	a.survey(m)
	for range 2 {
		got, names := a.open(m)
		m.equal(got, want)
		if len(names) > 0 {
			t.Errorf("asks about %q", names)
		}
	}
	a.Forget()
	if _, names := a.open(m); len(names) < 13 {
		t.Errorf("when all is forgotten, only %q are asked about", names)
	}
}

// TestRecallTimes has access times, and times before 1970.
func TestRecallTimes(t *testing.T) {
	m := &maker{t, inMemory(t)}
	few(m)
	at := []unix.Timespec{{Sec: -1 << 40, Nsec: 999999999}, {Sec: 1 << 40, Nsec: 1}}
	m.do(unix.UtimesNanoAt(unix.AT_FDCWD, m.path("file2"), at, 0))
	tr := New(m.dir, Options{Accessed: true})
	s, err := tr.Survey(t.Context(), 4096, nil)
	all(t, s, err)
	s, err = tr.Open(t.Context())
	f := find(t, all(t, s, err)[1:], "link")
	if !f.Accessed.Given {
		t.Error("no access time")
	}
	s, err = tr.Open(t.Context())
	for _, f := range all(t, s, err) {
		if f.path != m.path("file2") {
			continue
		}
		if f.Accessed != (tree.Time{Sec: -1 << 40, Nsec: 999999999, Given: true}) ||
			f.Modified != (tree.Time{Sec: 1 << 40, Nsec: 1, Given: true}) {
			t.Errorf("times %v, %v", f.Accessed, f.Modified)
		}
	}
}

// TestNoRoomToRemember has memory for some of the files: the others are asked for.
func TestNoRoomToRemember(t *testing.T) {
	m := &maker{t, inMemory(t)}
	for i := range 3000 {
		m.file(fmt.Sprint(i), pattern(i%512+1))
	}
	want := m.open()
	a := m.asked()
	a.room = 2 * memoryChunk
	a.survey(m)
	got, names := a.open(m)
	m.equal(got, want)
	if n := len(names); n < 500 || n > 2500 {
		t.Errorf("%d of 3000 files are asked about", n)
	}
}

// TestChangesBetween changes the tree between a survey and the walk after it. What is put in the place of
// other files is seen; what is changed in place is as it was.
func TestChangesBetween(t *testing.T) {
	replace := func(m *maker, name string, data []byte) error {
		m.file("../new", data)
		return os.Rename(m.path("../new"), m.path(name))
	}
	for _, c := range []struct {
		name   string
		change func(m *maker) error
		asks   string // names that are asked about, but for those of directories
		stays  bool   // the entries are those from before the change
	}{
		{name: "nothing", change: func(*maker) error { return nil }, stays: true},
		{name: "removed", change: func(m *maker) error { return os.Remove(m.path("d/file4")) }},
		{name: "added", change: func(m *maker) error { m.file("d/new", pattern(5)); return nil }, asks: "new"},
		{name: "replaced", change: func(m *maker) error { return replace(m, "d/e/file6", []byte("new")) }, asks: "file6"},
		{name: "renamed", change: func(m *maker) error { return os.Rename(m.path("d/file4"), m.path("d/file4b")) }, asks: "file4b"},
		{name: "moved", change: func(m *maker) error { return os.Rename(m.path("d/file4"), m.path("f/file4b")) }, asks: "file4b"},
		{
			name: "names change places", change: func(m *maker) error {
				return unix.Renameat2(unix.AT_FDCWD, m.path("d/file4"), unix.AT_FDCWD, m.path("d/file5"), unix.RENAME_EXCHANGE)
			}, asks: "file4 file5",
		},
		{
			name: "becomes a symbolic link", change: func(m *maker) error {
				m.do(os.Remove(m.path("d/file4")))
				return os.Symlink("/etc/passwd", m.path("d/file4"))
			}, asks: "file4",
		},
		{name: "removed directory", change: func(m *maker) error { return os.RemoveAll(m.path("d")) }},
		{
			name: "directories change places", change: func(m *maker) error {
				return unix.Renameat2(unix.AT_FDCWD, m.path("d/e"), unix.AT_FDCWD, m.path("f"), unix.RENAME_EXCHANGE)
			},
		},
		{name: "data", change: func(m *maker) error { m.file("d/file4", []byte("other")); return nil }, stays: true},
		{name: "longer", change: func(m *maker) error { m.file("d/file4", pattern(10000)); return nil }, stays: true},
		{name: "emptied", change: func(m *maker) error { return os.Truncate(m.path("d/file4"), 0) }, stays: true},
		{name: "filled", change: func(m *maker) error { m.file("d/file0", pattern(1000)); return nil }, stays: true},
		{name: "mode", change: func(m *maker) error { return os.Chmod(m.path("d/file4"), 0o400) }, stays: true},
		{
			name: "attributes", change: func(m *maker) error {
				_ = unix.Setxattr(m.path("d/file4"), "user.new", []byte("x"), 0)
				_ = unix.Removexattr(m.path("file5"), "user.a")
				return nil
			}, stays: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &maker{t, inMemory(t) + "/tree"}
			m.do(os.Mkdir(m.dir, 0o755))
			few(m)
			want := m.open()
			a := m.asked()
			a.survey(m)
			times := m.times()
			m.do(c.change(m))
			m.setTimes(times)
			if !c.stays {
				want = m.open()
			}
			got, names := a.open(m)
			m.equal(got, want)
			if asks := strings.Join(names, " "); asks != c.asks && c.name != "directories change places" {
				t.Errorf("asks about %q, want %q", asks, c.asks)
			}
		})
	}
}

// times are those of the directories, which are always asked about.
func (m *maker) times() map[string][]unix.Timespec {
	times := map[string][]unix.Timespec{}
	for _, dir := range []string{"d/e", "d", "f"} {
		var st unix.Stat_t
		m.do(unix.Stat(m.path(dir), &st))
		times[dir] = []unix.Timespec{st.Atim, st.Mtim}
	}
	return times
}

func (m *maker) setTimes(times map[string][]unix.Timespec) {
	for dir, at := range times {
		_ = unix.UtimesNanoAt(unix.AT_FDCWD, m.path(dir), at, 0)
	}
}

// TestManyRemoved removes more files in a row than are passed over.
func TestManyRemoved(t *testing.T) {
	m := &maker{t, inMemory(t)}
	for i := range 1000 {
		m.file(fmt.Sprint(i), pattern(10))
	}
	a := m.asked()
	list := a.survey(m)
	for _, f := range list[401 : 402+lookAhead] {
		m.do(os.Remove(f.path))
	}
	want := m.open()
	got, names := a.open(m)
	m.equal(got, want)
	if n := len(names); n != 1000-401-lookAhead {
		t.Errorf("%d files are asked about", n)
	}
}

// TestSizesBetween changes files that are too large to be remembered: they are as the walk finds them.
func TestSizesBetween(t *testing.T) {
	m := &maker{t, inMemory(t)}
	for _, name := range []string{"shrinks", "grows", "shrinks much", "grows much"} {
		m.file(name, pattern(100000))
	}
	tr := New(m.dir, Options{})
	s, err := tr.Survey(t.Context(), 4096, nil)
	all(t, s, err)
	for name, size := range map[string]int{"shrinks": 90000, "grows": 110000, "shrinks much": 10, "grows much": 1 << 20} {
		m.file(name, pattern(size))
	}
	s, err = tr.Open(t.Context())
	m.equal(all(t, s, err), m.open())
}
