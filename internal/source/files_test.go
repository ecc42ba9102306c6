package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mkfs/internal/aio"
	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
	"mkfs/internal/source"
)

// files opens the files of an image, and reads the root directory's inode.
func files(t *testing.T, path, log string) error {
	t.Helper()
	s, err := source.OpenFilesystem(path, nil, aio.Config{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := s.Files(log, nil)
	if err != nil {
		return err
	}
	tr := f.Begin(0)
	ip, err := inode.Read(tr, f.G.RootInode())
	if err == nil && !ip.IsDir() {
		t.Error("the root is no directory")
	}
	return errors.Join(err, tr.Commit(), f.Cache.Release())
}

func TestFiles(t *testing.T) {
	const size = 300 << 20
	path := livetest.Reference(t, size)
	if err := files(t, path, ""); err != nil {
		t.Error(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, make([]byte, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	external := livetest.Reference(t, size, "-l", "size=64m,logdev="+log)
	if err := files(t, external, ""); !errors.Is(err, source.ErrUnsettled) || !strings.Contains(err.Error(), "not at hand") {
		t.Error(err)
	}
	if err := files(t, external, log); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ size, keep int64 }{{size, 0}, {size - 1<<20, size - 1<<20}} {
		if err := errors.Join(os.Truncate(external, c.keep), os.Truncate(external, c.size)); err != nil {
			t.Fatal(err)
		}
		if err := files(t, external, log); err == nil || !strings.Contains(err.Error(), "superblock: ") {
			t.Errorf("%d bytes of %d: %v", c.keep, c.size, err)
		}
		external = livetest.Reference(t, size, "-l", "size=64m,logdev="+log)
	}
	livetest.Mounted(t, path, func(string) {
		if err := files(t, path, ""); !errors.Is(err, source.ErrUnsettled) {
			t.Error(err)
		}
	})
}
