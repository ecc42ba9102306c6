package dir_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"mkfs/internal/live/livetest"
)

// What is there is not added again, in any form of directory, nor what is no name. Nothing changes with that.
func TestAddRefuses(t *testing.T) {
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			m := newRoot(t, livetest.Plan(t, size, c.ask))
			list := append(equalNames(300, 12), names(3000, 4)...)
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
