package walk

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// mount mounts until the end of the test.
func (m *maker) mount(from, to, kind string, flags uintptr) {
	m.Helper()
	if os.Geteuid() != 0 {
		m.Skip("only root can mount")
	}
	if err := unix.Mount(from, m.path(to), kind, flags, ""); err != nil {
		m.Skipf("mounting %s: %v", kind, err)
	}
	m.Cleanup(func() {
		if err := unix.Unmount(m.path(to), unix.MNT_DETACH); err != nil {
			m.Error(err)
		}
	})
}

// TestMounts walks into what is mounted inside of the tree, and does not take files of two mounts with
// the same inode number for one.
func TestMounts(t *testing.T) {
	m := newMaker(t)
	for _, d := range []string{"a", "b"} {
		m.mkdir(d)
		m.mount("none", d, "tmpfs", 0)
		m.file(d+"/f", []byte(d))
		m.do(os.Link(m.path(d+"/f"), m.path(d+"/g")))
	}
	for _, list := range [][]found{m.open(), m.survey()} {
		if got, want := fmt.Sprint(paths(list)), fmt.Sprint(listed(t, m.dir, 0)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		links := map[tree.Link]int{}
		for _, f := range list {
			if f.Mode&tree.TypeMask == tree.TypeRegular {
				links[f.Link]++
			}
		}
		if len(links) != 2 {
			t.Errorf("%d files in %v, want 2 of 2 names each", len(links), links)
		}
	}
}

// TestMountedDevice has a device mounted on a regular file, as which the directory lists it.
func TestMountedDevice(t *testing.T) {
	m := newMaker(t)
	m.file("f", []byte("below"))
	m.mount("/dev/null", "f", "", unix.MS_BIND)
	for _, list := range [][]found{m.open(), m.survey()} {
		if f := find(t, list, "f"); f.Mode&tree.TypeMask != tree.TypeCharacter || f.Major != 1 || f.Minor != 3 {
			t.Errorf("mode %o, device %d, %d", f.Mode, f.Major, f.Minor)
		}
	}
}

// TestUnknownLength refuses a file whose length the host does not know beforehand. It would be empty.
func TestUnknownLength(t *testing.T) {
	m := newMaker(t)
	m.file("f", nil)
	m.mount("/proc/version", "f", "", unix.MS_BIND)
	for _, survey := range []bool{false, true} {
		_, err := surveyOrOpen(t, New(m.dir, Options{}), survey)
		if !errors.Is(err, unix.EINVAL) || !strings.HasPrefix(err.Error(), m.path("f")+": ") {
			t.Errorf("survey %v: error %v", survey, err)
		}
	}
}

// TestCovered covers a mount by an empty one between a survey and the walk after it: its files are not taken for those
// of another mount with the same names and inode numbers.
func TestCovered(t *testing.T) {
	m := newMaker(t)
	m.mkdir("up")
	for _, d := range []string{"up/a", "up/b"} {
		m.mkdir(d)
		m.mount("none", d, "tmpfs", 0)
		m.file(d+"/f", []byte(d))
	}
	tr := New(m.dir, Options{})
	s, err := tr.Survey(t.Context(), 4096, nil)
	first := find(t, all(t, s, err), "f").path
	m.mount("none", first[len(m.dir)+1:len(first)-2], "tmpfs", 0)
	s, err = tr.Open(t.Context())
	f := find(t, all(t, s, err), "f")
	if want := f.path[len(m.dir)+1 : len(f.path)-2]; string(f.data) != want {
		t.Errorf("%s holds %q, want %q", f.path, f.data, want)
	}
}
