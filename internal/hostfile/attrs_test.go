package hostfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// attributed makes a file with attributes, which the host has to know.
func attributed(t *testing.T, attrs ...tree.Attr) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, a := range attrs {
		err := unix.Setxattr(path, a.Name, a.Value, 0)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
			t.Skipf("the host refuses the attribute %s: %v", a.Name, err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func both(t *testing.T, a *Attrs, path string) map[string][]tree.Attr {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	byPath, err := a.OfPath(path)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]tree.Attr{"path": clone(byPath)}
	byFile, err := a.OfFile(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	m["file"] = clone(byFile)
	return m
}

func clone(list []tree.Attr) (c []tree.Attr) {
	for _, a := range list {
		c = append(c, tree.Attr{Name: a.Name, Value: bytes.Clone(a.Value)})
	}
	return c
}

// Attributes come in the order of the host's list; empty ones do not come.
func TestAttrs(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 2048)
	want := []tree.Attr{
		{Name: "user.a", Value: []byte("1")},
		{Name: "user.empty"},
		{Name: "user.b", Value: bytes.Repeat([]byte{0}, firstValue)},
		{Name: "user.c", Value: bytes.Repeat([]byte{7}, firstValue+1)},
		{Name: "user.large", Value: large},
		{Name: "user.last", Value: []byte{0xff, 0}},
	}
	path := attributed(t, want...)
	names := make([]byte, 1000)
	n, err := unix.Listxattr(path, names)
	if err != nil {
		t.Fatal(err)
	}
	var order []tree.Attr
	for _, name := range bytes.Split(bytes.TrimRight(names[:n], "\x00"), []byte{0}) {
		for _, a := range want {
			if a.Name == string(name) && len(a.Value) > 0 {
				order = append(order, a)
			}
		}
	}
	var a Attrs
	for range 2 { // into the same memory
		for how, got := range both(t, &a, path) {
			if fmt.Sprint(got) != fmt.Sprint(order) {
				t.Errorf("by %s: %.200v\nwant %.200v", how, got, order)
			}
		}
	}
}

// A list of names that is longer than what is tried first.
func TestManyAttrs(t *testing.T) {
	var want []tree.Attr
	for i := range 300 {
		want = append(want, tree.Attr{Name: fmt.Sprintf("user.name%d", i), Value: fmt.Append(nil, i)})
	}
	path := attributed(t, want...)
	var a Attrs
	for how, got := range both(t, &a, path) {
		if len(got) != len(want) {
			t.Errorf("by %s: %d attributes of %d", how, len(got), len(want))
		}
		for _, g := range got {
			if "user.name"+string(g.Value) != g.Name {
				t.Errorf("by %s: %s has %q", how, g.Name, g.Value)
			}
		}
	}
}

// A link's attributes are its own, not those of what it leads to.
func TestAttrsOfALink(t *testing.T) {
	path := attributed(t, tree.Attr{Name: "user.a", Value: []byte("1")})
	if err := os.Symlink(path, path+"l"); err != nil {
		t.Fatal(err)
	}
	var a Attrs
	if list, err := a.OfPath(path + "l"); len(list) > 0 && list[0].Name == "user.a" || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// failing answers list and get in turn, as told.
func failing(list error, names string, get error) file {
	return file{
		list: func(dest []byte) (int, error) { return copy(dest, names), list },
		get:  func(string, []byte) (int, error) { return 0, get },
	}
}

func TestAttrErrors(t *testing.T) {
	for _, c := range []struct {
		f    file
		want error
		text string
	}{
		{failing(unix.EOPNOTSUPP, "", nil), nil, ""},
		{failing(unix.EIO, "", nil), unix.EIO, "listing extended attributes: input/output error"},
		{failing(unix.E2BIG, "", nil), unix.E2BIG, "listing extended attributes: argument list too long"},
		{failing(nil, "user.a\x00", unix.EOPNOTSUPP), nil, ""},
		{failing(nil, "user.a\x00", unix.ENODATA), unix.ENODATA,
			`reading the extended attribute "user.a": no data available`},
		{failing(nil, "user.a\x00", unix.ERANGE), unix.ERANGE,
			`reading the extended attribute "user.a": numerical result out of range`},
	} {
		var a Attrs
		list, err := a.read(c.f)
		if len(list) > 0 || !errors.Is(err, c.want) || c.text != "" && err.Error() != c.text {
			t.Errorf("%v, %v; want %s", list, err, c.text)
		}
	}
	interrupted := 0
	var a Attrs
	list, err := a.read(file{list: func([]byte) (int, error) {
		interrupted++
		if interrupted < 3 {
			return 0, unix.EINTR
		}
		return 0, nil
	}})
	if len(list) != 0 || err != nil || interrupted != 3 {
		t.Errorf("%v, %v, %d calls", list, err, interrupted)
	}
	if _, err := a.OfPath(filepath.Join(t.TempDir(), "none")); !errors.Is(err, unix.ENOENT) {
		t.Errorf("a missing file: %v", err)
	}
}

// A fifo without a writer does not hold up who opens it.
func TestOpenFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	fd, err := Open(unix.AT_FDCWD, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	if _, err := Open(unix.AT_FDCWD, path+"x", 0); !errors.Is(err, unix.ENOENT) {
		t.Errorf("a missing file: %v", err)
	}
}
