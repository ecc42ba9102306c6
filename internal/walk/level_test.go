package walk

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

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

// TestSorted has names in the order of their bytes, in each directory and at any depth, and attributes.
func TestSorted(t *testing.T) {
	m := &maker{t, inMemory(t)}
	mixed(m)
	for _, name := range []string{"a/b/x", "a/b/x ", "a/b/x!", "a/b/xx", "a/b/\x01", "a/b/\xff", "a/b.c", "a.b", "A", "é"} {
		m.file(name, []byte(name))
	}
	path := "deep"
	for range openLevels + 10 { // parked directories keep their order
		m.mkdir(path)
		for _, name := range []string{"z", "a", "e", "c"} {
			m.file(path+"/"+name, nil)
		}
		path += "/d"
	}
	for _, attr := range []string{"user.b", "user.c", "user.a"} {
		_ = unix.Setxattr(m.path("A"), attr, []byte(attr), 0)
	}
	tr := New(m.dir, Options{Sorted: true})
	s, err := tr.Survey(t.Context(), 4096, nil)
	surveyed := paths(all(t, s, err))
	s, err = tr.Open(t.Context())
	list := all(t, s, err)
	if got := paths(list); !slices.Equal(got, surveyed) {
		t.Error("another order after a survey")
	}
	var way []string // names of the directories on the way, and of what came last in each
	for _, f := range list {
		if f.Depth < len(way) && way[f.Depth] >= f.Name {
			t.Errorf("%q after %q", f.path, way[f.Depth])
		}
		way = append(way[:min(f.Depth, len(way))], f.Name)
	}
	plain := m.open()
	if len(plain) != len(list) {
		t.Errorf("%d entries, want %d", len(list), len(plain))
	}
	sortFound := func(a, b found) int { return strings.Compare(a.path, b.path) }
	slices.SortFunc(list, sortFound)
	slices.SortFunc(plain, sortFound)
	for i := range plain {
		slices.SortFunc(plain[i].Attrs, func(a, b tree.Attr) int { return strings.Compare(a.Name, b.Name) })
	}
	m.equal(list, plain)
}
