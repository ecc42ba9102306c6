package aio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// An unaligned write to a real file with O_DIRECT goes through the page cache.
func TestDirectUnaligned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_DIRECT, 0o600)
	if err != nil {
		t.Skip("no direct IO in the temporary folder: ", err)
	}
	defer f.Close()
	for _, kind := range []Kind{Uring, AIO, Sync} {
		r, err := Open(int(f.Fd()), Config{Engine: kind, Depth: 4})
		if err != nil {
			t.Logf("%v: %v", kind, err)
			continue
		}
		text := []byte("unaligned, " + kind.String())
		if err := r.Write(3, [][]byte{text}, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Sync(); err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(got[3:], text) {
			t.Errorf("%v: the file holds %q", kind, got)
		}
		flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, flags|unix.O_DIRECT); err != nil {
			t.Fatal(err)
		}
	}
}
