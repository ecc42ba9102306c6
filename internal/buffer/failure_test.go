package buffer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
	"mkfs/internal/aio/aiotest"
	"mkfs/internal/delwri"
)

// work is a run of operations on a cache.
func work(c *Cache) error {
	for op := range 300 {
		for _, i := range []int{op % 7, 20 + op*5%90} {
			off, n := int64(i)*8192, 4096
			if op%17 == 3 {
				n = 8192
			}
			get := c.Get
			if op%11 == 5 {
				n, get = 8192, c.Fresh
				c.Forget(off, 8192)
			}
			if op%4 == 0 {
				if _, err := c.Ahead(int64(20+(op+3)*5%90)*8192, 4096); err != nil {
					return err
				}
			}
			b, err := get(off, n, plain)
			if err != nil {
				return err
			}
			c.Dirty(b)
			b.Data[op] = byte(op)
			c.Unpin(b)
		}
		if err := c.Tick(); err != nil {
			return err
		}
	}
	return c.Flush()
}

// Whichever read or write fails, an error comes out, and nothing after it is said to be
// written.
func TestEachRequestFails(t *testing.T) {
	for _, age := range []int64{AtOnce, 20, AtEnd} {
		failures := 0
		for n := 1; ; n++ {
			failed := false
			for _, f := range []aiotest.Faults{{FailWrite: n, Depth: 5}, {FailRead: n, Depth: 5}} {
				c, _, ring := setup(t, Config{Age: age, Limit: 40 * 4096}, f)
				c.cfg.Batch = 32 << 10
				c.least = min(c.least, 32<<10)
				err := work(c)
				if cerr := ring.Close(); cerr != nil {
					failed = true
					failures++
					var w *delwri.WriteError
					switch {
					case !errors.Is(err, unix.EIO) && !errors.Is(err, aio.ErrCanceled):
						t.Fatalf("age %d, request %d: %v, the ring failed with %v", age, n, err, cerr)
					case f.FailWrite > 0 && !errors.As(err, &w) && !strings.HasPrefix(err.Error(), "read disk: AG "):
						t.Fatalf("age %d, write %d: %v", age, n, err)
					}
					if c.Flush() == nil && f.FailWrite > 0 {
						t.Fatalf("age %d, request %d: a Flush after the error says all is well", age, n)
					}
				} else if err != nil {
					t.Fatal(err)
				}
				must(t, c.Release())
			}
			if !failed {
				break
			}
		}
		if failures < 100 {
			t.Errorf("age %d: only %d failures", age, failures)
		}
	}
}

// Over every engine, with direct IO where that works, a file ends as a device in memory does.
func TestEngines(t *testing.T) {
	want := aiotest.NewMem(4 << 20)
	ring, err := aiotest.Open(want, 1, aiotest.Faults{})
	must(t, err)
	must(t, work(New(ring, Config{Age: AtEnd})))
	for _, kind := range []aio.Kind{aio.Uring, aio.AIO, aio.Sync} {
		for _, flags := range []int{0, unix.O_DIRECT} {
			f, err := os.OpenFile(filepath.Join(t.TempDir(), "device"), os.O_RDWR|os.O_CREATE|flags, 0o600)
			if err != nil {
				continue
			}
			must(t, f.Truncate(4<<20))
			ring, err := aio.Open(int(f.Fd()), aio.Config{Engine: kind})
			if err != nil {
				t.Logf("%v: %v", kind, err)
				f.Close()
				continue
			}
			c := New(ring, Config{Age: 30, Limit: 40 * 4096, Memory: aio.NewSlab})
			c.least = 64 << 10
			must(t, work(c))
			must(t, c.Release())
			if s := ring.Stats(); s.Buffered && kind != aio.Sync {
				t.Logf("%v: direct IO was given up", kind)
			}
			must(t, ring.Close())
			f.Close()
			got, err := os.ReadFile(f.Name())
			must(t, err)
			if !bytes.Equal(got, want.B) {
				t.Errorf("%v, flags %#x: the file differs", kind, flags)
			}
		}
	}
}
