package aio

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A closed ring lets go of the file at once, so that its host can be unmounted.
func TestFileIsFreeAfterClose(t *testing.T) {
	for _, kind := range []Kind{Uring, AIO, Sync} {
		t.Run(kind.String(), func(t *testing.T) {
			host := t.TempDir()
			if err := unix.Mount("none", host, "tmpfs", 0, "size=1m"); err != nil {
				t.Skip("mounting needs root: ", err)
			}
			defer unix.Unmount(host, unix.MNT_DETACH)
			for range 10 {
				f, err := os.Create(filepath.Join(host, "file"))
				must(t, err)
				r, err := Open(int(f.Fd()), Config{Engine: kind, Depth: 4})
				if err != nil {
					f.Close()
					t.Skip(err)
				}
				must(t, r.Write(0, [][]byte{make([]byte, 4096)}, nil))
				must(t, r.Sync())
				must(t, r.Close())
				must(t, f.Close())
				if err := unix.Unmount(host, 0); err != nil {
					t.Fatal("the host is still in use: ", err)
				}
				must(t, unix.Mount("none", host, "tmpfs", 0, "size=1m"))
			}
		})
	}
}
