package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

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
