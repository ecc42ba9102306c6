package walk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// attrsOf reads the attributes of a file by its path, one after the other.
func attrsOf(t *testing.T, path string) (list []tree.Attr) {
	t.Helper()
	names := make([]byte, mostNames)
	n, err := unix.Llistxattr(path, names)
	if err != nil {
		t.Fatal(path, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
		value := make([]byte, mostValue)
		if name == "" {
			continue
		}
		n, err := unix.Lgetxattr(path, name, value)
		if err != nil {
			t.Fatal(path, name, err)
		}
		if n > 0 {
			list = append(list, tree.Attr{Name: name, Value: value[:n]})
		}
	}
	return list
}

// TestAttributes has attributes of all lengths on all kinds of files and on the root.
func TestAttributes(t *testing.T) {
	for _, place := range []struct {
		name, dir string
		longest   int
	}{{"disk", t.TempDir(), 2000}, {"memory", inMemory(t), mostValue}} {
		t.Run(place.name, func(t *testing.T) {
			m := &maker{t, place.dir}
			set := func(name, attr string, value []byte) {
				err := unix.Lsetxattr(m.path(name), attr, value, 0)
				if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
					t.Skipf("%s on %q: %v", attr, name, err)
				}
				if err != nil {
					t.Fatal(attr, len(value), name, err)
				}
			}
			m.mkdir("d")
			m.file("f", []byte("data"))
			m.file("empty", nil)
			m.file("with hole", nil)
			m.do(os.Truncate(m.path("with hole"), 1<<20))
			for _, name := range []string{"", "d", "f", "empty", "with hole"} {
				set(name, "user.short", []byte("of "+name))
				set(name, "user.none", nil)
				set(name, "user."+strings.Repeat("n", 200), pattern(300))
				set(name, "user.b", []byte{0, 255, '\n'})
			}
			set("f", "user.long", pattern(place.longest))
			if os.Geteuid() == 0 {
				m.do(os.Symlink("f", m.path("link")))
				m.do(unix.Mkfifo(m.path("fifo"), 0o600))
				m.do(unix.Mknod(m.path("device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
				for _, name := range []string{"link", "fifo", "device", "d", "f"} {
					set(name, "trusted.of", []byte(name))
					set(name, "security.test", pattern(500))
				}
			}
			for mode, list := range map[string][]found{"open": m.open(), "survey": m.survey()} {
				for _, f := range list {
					want := attrsOf(t, f.path)
					if mode == "survey" { // which needs but the lengths
						for _, list := range [][]tree.Attr{want, f.Attrs} {
							for i := range list {
								clear(list[i].Value)
							}
						}
					}
					if got, want := fmt.Sprint(f.Attrs), fmt.Sprint(want); got != want {
						t.Errorf("%s, %q: attributes %.200s, want %.200s", mode, f.Name, got, want)
					}
				}
			}
		})
	}
}

// TestAttributesByPath reads those of files that are not opened as on a kernel that has no calls for it.
func TestAttributesByPath(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give attributes to symbolic links")
	}
	m := newMaker(t)
	m.do(os.Symlink("nowhere", m.path("link")))
	if err := unix.Lsetxattr(m.path("link"), "trusted.of", []byte("link"), 0); err != nil {
		t.Skip(err)
	}
	dir, err := unix.Open(m.dir, unix.O_RDONLY, 0)
	m.do(err)
	defer unix.Close(dir)
	name, _ := unix.BytePtrFromString("link")
	path := link(dir, name)
	if want := fmt.Sprintf("/proc/self/fd/%d/link\x00", dir); string(path) != want {
		t.Errorf("path %q, want %q", path, want)
	}
	value := make([]byte, 100)
	n, err := unix.Lgetxattr(string(path[:len(path)-1]), "trusted.of", value)
	if err != nil || !bytes.Equal(value[:n], []byte("link")) {
		t.Errorf("%q, %v", value[:max(n, 0)], err)
	}
}

// TestManyLongAttributes has more of them than a batch has memory for.
func TestManyLongAttributes(t *testing.T) {
	m := &maker{t, inMemory(t)}
	value := pattern(40000)
	for i := range 150 {
		m.file(fmt.Sprint(i), []byte("x"))
		if err := unix.Setxattr(m.path(fmt.Sprint(i)), "user.a", append(value, fmt.Sprint(i)...), 0); err != nil {
			t.Skip(err)
		}
	}
	s, err := New(m.dir, Options{}).Open(t.Context())
	m.do(err)
	defer s.Close()
	for {
		e, err := s.Next()
		if err == io.EOF {
			return
		}
		m.do(err)
		if e.Depth > 0 && (len(e.Attrs) != 1 || string(e.Attrs[0].Value) != string(value)+e.Name) {
			t.Errorf("%s: %d attributes", e.Name, len(e.Attrs))
		}
		if held := s.(*source).batch.held; held > batchAttrs+mostValue {
			t.Fatalf("%d bytes of attributes in memory at once", held)
		}
	}
}
