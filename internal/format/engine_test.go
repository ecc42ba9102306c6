package format

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
	"mkfs/internal/target"
)

// Every engine writes what the fake one does, with and without direct IO.
func TestEngines(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	want := formatted(t, g)
	for _, kind := range []aio.Kind{aio.Uring, aio.AIO, aio.Sync} {
		for _, direct := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v direct %v", kind, direct), func(t *testing.T) {
				for _, c := range []struct{ batch, depth int }{{0, 0}, {1, 1}, {3, 2}, {256, 100}} {
					path := filepath.Join(t.TempDir(), "image")
					if err := os.WriteFile(path, nil, 0o600); err != nil {
						t.Fatal(err)
					}
					if err := os.Truncate(path, testSize); err != nil {
						t.Fatal(err)
					}
					dev, err := target.Open(path, target.Options{Write: true, Direct: direct})
					if err != nil {
						t.Fatal(err)
					}
					defer dev.Close()
					if on, align := dev.DirectIO(); direct && (!on || align > 512) {
						t.Skipf("no direct IO of 512 bytes here (%v, %d)", on, align)
					}
					ring := aio.Config{Engine: kind, Depth: c.depth}
					if r, err := aio.Open(dev.Fd(), ring); err != nil {
						t.Skip(err)
					} else if err := r.Close(); err != nil {
						t.Fatal(err)
					}
					job := testJob(g, nil)
					job.Data, job.Batch = On(dev, testSize, ring), c.batch
					stats, err := Run(context.Background(), job)
					if err != nil {
						t.Fatal(err)
					}
					if stats.Engine != kind.String() {
						t.Errorf("engine %s", stats.Engine)
					}
					if err := sameAsFile(want, path); err != nil {
						t.Errorf("batch %d, depth %d: %v", c.batch, c.depth, err)
					}
				}
			})
		}
	}
}

// sameAsFile compares a disk with a file, of which it reads only what is no hole.
func sameAsFile(want *disk, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	got := newDisk(want.size)
	buf := make([]byte, 1<<20)
	for off := int64(0); ; {
		if off, err = unix.Seek(int(f.Fd()), off, unix.SEEK_DATA); errors.Is(err, unix.ENXIO) {
			break // no more data
		} else if err != nil {
			return err
		}
		end, err := unix.Seek(int(f.Fd()), off, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), end-off)], off)
		if err != nil {
			return err
		}
		if _, err := got.put(buf[:n], off); err != nil {
			return err
		}
		off += int64(n)
	}
	return got.same(want)
}
