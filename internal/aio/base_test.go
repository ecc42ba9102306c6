package aio

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// With a base, byte 0 of the requests is there in the file, and offsets in
// errors are those of the requests.
func TestBase(t *testing.T) {
	const base = 3 << 12
	for _, kind := range []Kind{Uring, AIO, Sync} {
		t.Run(kind.String(), func(t *testing.T) {
			f, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := f.Truncate(base + 8192); err != nil {
				t.Fatal(err)
			}
			r, err := Open(int(f.Fd()), Config{Engine: kind, Depth: 4, Base: base})
			if err != nil {
				t.Skip(err)
			}
			defer r.Close()
			want := bytes.Repeat([]byte("base"), 1024)
			if err := errors.Join(r.Write(4096, [][]byte{want}, nil), r.Sync()); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			if _, err := f.ReadAt(got, base+4096); err != nil || !bytes.Equal(got, want) {
				t.Errorf("it is not in its place: %v", err)
			}
			clear(got)
			if err := errors.Join(r.Read(4096, [][]byte{got}, nil), r.Reap(1)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("read back: %v", err)
			}
			var e *Error
			if err := r.Write(math.MaxInt64-base-100, [][]byte{want}, nil); !errors.As(err, &e) || e.Err != unix.EINVAL {
				t.Errorf("behind the end of all files: %v", err)
			}
			err = errors.Join(r.Read(8192, [][]byte{got}, nil), r.Reap(1))
			if !errors.As(err, &e) || !errors.Is(err, io.ErrUnexpectedEOF) || e.Off != 8192 {
				t.Errorf("behind the end: %v", err)
			}
		})
	}
}
