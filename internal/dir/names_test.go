package dir_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live/livetest"
)

// Where case does not matter a name is found in any, the one that is the same to the letter first. It is removed, or
// made to stand for another file, only to the letter.
func TestFoldedNames(t *testing.T) {
	for _, v4 := range []bool{false, true} {
		for _, others := range []int{0, 30, 300, 3000} {
			m := newRoot(t, livetest.Plan(t, size, func(s *geometry.Spec) {
				s.Features.CaseFold, s.Features.CRC = geometry.Given(true), geometry.Given(!v4)
			}))
			for _, n := range names(others, 1) {
				m.enter(t, n)
			}
			tr := m.fs.Begin(100)
			for i, name := range []string{"Na\xcfme", "NA\xefME", "na\xcfMe"} {
				ok, err := m.dirs.Add(tr, m.root, name, geometry.Inode(1000+i), 1, 100)
				if !ok || err != nil {
					t.Fatalf("%q: %v, %v", name, ok, err)
				}
			}
			lookup := func(name string, want geometry.Inode) {
				t.Helper()
				e, found, err := m.dirs.Lookup(tr, m.root, name)
				if err != nil || found != (want > 0) || found && e.Ino != want {
					t.Errorf("V4 %v, %d names: %q is inode %d, %v, %v; want %d", v4, others, name, e.Ino, found, err, want)
				}
			}
			lookup("Na\xcfme", 1000)
			lookup("NA\xefME", 1001)
			lookup("na\xcfMe", 1002)
			lookup("na\xefme", map[bool]geometry.Inode{true: 1000, false: 1002}[others == 0]) // the last comes first in an index
			lookup("na\xcfme2", 0)
			if err := m.dirs.Remove(tr, m.root, "na\xcfme", 100); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if _, err := m.dirs.Replace(tr, m.root, "na\xcfme", 1, 1, 100); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			must(t, m.dirs.Remove(tr, m.root, "NA\xefME", 100))
			must(t, m.dirs.Remove(tr, m.root, "Na\xcfme", 100))
			lookup("NA\xefME", 1002)
			must(t, tr.Commit())
		}
	}
}

// What is there is not added again, in any form of directory, nor what is no name. Nothing changes with that.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			m := newRoot(t, livetest.Plan(t, size, c.ask))
			list := append(equalNames(300, 17), names(3000, 4)...)
			for i, n := range list {
				m.enter(t, n)
				if i > 20 && i%97 != 0 {
					continue
				}
				must(t, m.fs.Cache.Flush())
				changes := m.fs.Cache.Stats().Changes
				tr := m.fs.Begin(100)
				for _, again := range []string{list[i/2], n, ".", ".."} {
					if ok, err := m.dirs.Add(tr, m.root, again, 99, 1, 100); ok || !errors.Is(err, fs.ErrExist) {
						t.Fatalf("%q of %d names: %v, %v", again, i, ok, err)
					}
				}
				for _, bad := range []string{"", "a/b", "a\x00", strings.Repeat("a", 256)} {
					if ok, err := m.dirs.Add(tr, m.root, bad, 99, 1, 100); ok || err == nil || errors.Is(err, fs.ErrExist) {
						t.Fatalf("%q: %v, %v", bad, ok, err)
					}
				}
				must(t, tr.Commit())
				if now := m.fs.Cache.Stats().Changes; now != changes {
					t.Errorf("%d changes", now-changes)
				}
			}
		})
	}
}
