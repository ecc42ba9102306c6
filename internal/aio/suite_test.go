package aio

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// opener makes a Ring over f, closed with the test; a test may close it
// earlier.
type opener func(t testing.TB, f *os.File, depth int) *Ring

// engines are all there are. Every test of the suite runs over each of them.
var engines = []struct {
	name string
	open func(f *os.File, depth int) (*Ring, error)
}{
	{"io_uring", func(f *os.File, depth int) (*Ring, error) {
		return Open(int(f.Fd()), Config{Engine: Uring, Depth: depth})
	}},
	{"io_uring, the oldest mode", func(f *os.File, depth int) (*Ring, error) {
		r := newRing(depth)
		r.fsync = func() error { return fsync(int(f.Fd())) }
		var err error
		r.eng, err = newUring(int(f.Fd()), r.ops, []uint32{0})
		return r, err
	}},
	{"aio", func(f *os.File, depth int) (*Ring, error) {
		return Open(int(f.Fd()), Config{Engine: AIO, Depth: depth})
	}},
	{"sync", func(f *os.File, depth int) (*Ring, error) {
		return Open(int(f.Fd()), Config{Engine: Sync, Depth: depth})
	}},
	{"sync, with a helper", func(f *os.File, depth int) (*Ring, error) {
		r, err := Open(int(f.Fd()), Config{Engine: Sync, Depth: depth})
		if err == nil {
			r.eng.(*syncEngine).helper = startHelper(int(f.Fd()))
		}
		return r, err
	}},
}

func eachEngine(t *testing.T, test func(t *testing.T, open opener)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			test(t, func(t testing.TB, f *os.File, depth int) *Ring {
				t.Helper()
				r, err := e.open(f, depth)
				if err != nil {
					t.Skipf("engine cannot run here: %v", err)
				}
				if !strings.HasPrefix(e.name, r.Engine()) {
					t.Fatalf("Engine() = %q", r.Engine())
				}
				t.Cleanup(func() { r.Close() })
				return r
			})
		})
	}
}

func tempFile(t testing.TB) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "image"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func noise(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// cut cuts b into pieces, some of them empty.
func cut(rnd *rand.Rand, b []byte, pieces int) [][]byte {
	var vec [][]byte
	for ; pieces > 1; pieces-- {
		n := rnd.IntN(len(b) + 1)
		vec = append(vec, b[:n])
		b = b[n:]
	}
	return append(vec, b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestContents(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		for _, depth := range []int{1, 2, 7, 100} {
			f := tempFile(t)
			r := open(t, f, depth)
			rnd := rand.New(rand.NewPCG(uint64(depth), 1))
			const n, slot = 400, 8192
			want := make([]byte, n*slot)
			runs := make([]int, n)
			for _, i := range rnd.Perm(n) {
				data := noise(rnd, 1+rnd.IntN(slot))
				copy(want[i*slot:], data)
				must(t, r.Write(int64(i*slot), cut(rnd, data, 1+rnd.IntN(20)), func(err error) {
					runs[i]++
					if err != nil {
						t.Errorf("request %d: %v", i, err)
					}
				}))
				if r.inflight > depth || r.engaged > depth {
					t.Fatalf("depth %d: %d in flight", depth, r.inflight)
				}
			}
			must(t, r.Sync())
			for i, n := range runs {
				if n != 1 {
					t.Fatalf("done of request %d ran %d times", i, n)
				}
			}
			must(t, f.Truncate(n*slot))
			got, err := os.ReadFile(f.Name())
			must(t, err)
			if !bytes.Equal(got, want) {
				t.Fatalf("depth %d: file differs from what was written", depth)
			}

			clear(got)
			for _, i := range rnd.Perm(n) {
				must(t, r.Read(int64(i*slot), cut(rnd, got[i*slot:(i+1)*slot], 1+rnd.IntN(5)), nil))
			}
			must(t, r.Close())
			if !bytes.Equal(got, want) {
				t.Fatalf("depth %d: what was read differs from what was written", depth)
			}
			s := r.Stats()
			if s.PeakDepth < 1 || s.PeakDepth > depth || s.AverageDepth < 1 || s.AverageDepth > float64(depth) {
				t.Errorf("depth %d: peak %d, average %g", depth, s.PeakDepth, s.AverageDepth)
			}
			if s.Reads != n || s.Writes != n || s.Bytes < n*slot {
				t.Errorf("stats %+v", s)
			}
		}
	})
}

// A done function runs in a later call than the one that took its request,
// also when the engine is done at once.
func TestDoneRunsLater(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		r := open(t, tempFile(t), 4)
		inside := -1
		for i := range 50 {
			inside = i
			must(t, r.Write(int64(i), [][]byte{{1}}, func(error) {
				if inside == i {
					t.Fatalf("done of request %d ran inside its own Write", i)
				}
			}))
		}
		inside = -1
		must(t, r.Reap(1<<30))
	})
}

func TestReap(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		r := open(t, tempFile(t), 64)
		must(t, r.Reap(5)) // nothing in flight
		ran := 0
		for i := range 20 {
			must(t, r.Write(int64(i)*4096, [][]byte{make([]byte, 4096)}, func(error) { ran++ }))
		}
		before := ran
		must(t, r.Reap(3))
		if ran < before+3 {
			t.Errorf("Reap(3) ran %d", ran-before)
		}
		must(t, r.Reap(0))
		must(t, r.Reap(100))
		if ran != 20 || r.inflight != 0 {
			t.Errorf("%d of 20 ran, %d in flight", ran, r.inflight)
		}
	})
}

func TestReadPastEnd(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		f := tempFile(t)
		must(t, f.Truncate(6000))
		r := open(t, f, 4)
		var got error
		must(t, r.Read(4096, [][]byte{make([]byte, 1000), make([]byte, 3000)}, func(err error) { got = err }))
		err := r.Reap(1)
		var e *Error
		if !errors.As(got, &e) || !errors.Is(got, io.ErrUnexpectedEOF) || e.Offset() != 6000 || e.Op != "read" {
			t.Errorf("done got %v", got)
		}
		if err != got {
			t.Errorf("Reap returned %v, done got %v", err, got)
		}
	})
}

func TestCloseInFlight(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		f := tempFile(t)
		r := open(t, f, 64)
		ran := 0
		for i := range 50 {
			must(t, r.Write(int64(i), [][]byte{{byte(i)}}, func(error) { ran++ }))
		}
		must(t, r.Close())
		must(t, r.Close())
		if ran != 50 {
			t.Errorf("%d of 50 done functions ran", ran)
		}
		got, err := os.ReadFile(f.Name())
		must(t, err)
		for i, b := range got {
			if int(b) != i {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
		for what, err := range map[string]error{
			"Write": r.Write(0, [][]byte{{1}}, nil), "Read": r.Read(0, [][]byte{{1}}, nil),
			"Reap": r.Reap(0), "Sync": r.Sync(),
		} {
			if err != ErrClosed {
				t.Errorf("%s after Close: %v", what, err)
			}
		}
	})
}

func TestBadRequests(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		r := open(t, tempFile(t), 4)
		many := make([][]byte, MaxPieces+1)
		for i := range many {
			many[i] = []byte{1}
		}
		for _, c := range []struct {
			off int64
			vec [][]byte
		}{
			{-1, [][]byte{{1}}},
			{0, nil},
			{0, [][]byte{{}}},
			{0, many},
			{1<<63 - 1, [][]byte{{1}}},
		} {
			err := r.Write(c.off, c.vec, func(error) { t.Error("done of a refused request ran") })
			if !errors.Is(err, unix.EINVAL) {
				t.Errorf("Write(%d, %d pieces) = %v", c.off, len(c.vec), err)
			}
		}
		must(t, r.Write(0, many[1:], nil)) // refusals do not stop the ring
		must(t, r.Close())
	})
}

// Nothing is allocated for a request once the slots have been used.
func TestNoAllocations(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		r := open(t, tempFile(t), 16)
		var ran int
		fn := func(error) { ran++ }
		vec := [][]byte{make([]byte, 512), make([]byte, 512)}
		some := func() {
			for i := range int64(64) {
				if err := r.Write(i*1024, vec, fn); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Reap(64); err != nil {
				t.Fatal(err)
			}
		}
		some()
		if n := testing.AllocsPerRun(20, some); n != 0 {
			t.Errorf("%g allocations per 64 requests", n)
		}
	})
}

func TestDescriptorsReleased(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		f := tempFile(t)
		count := func() int {
			d, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Skipf("cannot count descriptors: %v", err)
			}
			return len(d)
		}
		open(t, f, 8).Close()
		before := count()
		for range 20 {
			open(t, f, 8).Close()
		}
		if after := count(); after > before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}

// Two rings may be open on one goroutine, and be closed in any order.
func TestTwoRings(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		ran := 0
		f := tempFile(t)
		a, b := open(t, f, 8), open(t, f, 8)
		for i := range int64(30) {
			must(t, a.Write(2*i, [][]byte{{1}}, func(error) { ran++ }))
			must(t, b.Write(2*i+1, [][]byte{{2}}, func(error) { ran++ }))
		}
		must(t, a.Close())
		must(t, b.Close())
		if ran != 60 {
			t.Errorf("%d of 60 ran", ran)
		}
	})
}

func TestDirectIO(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		name := filepath.Join(t.TempDir(), "image")
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600)
		if err != nil {
			t.Skipf("no direct IO here: %v", err)
		}
		defer f.Close()
		slab, release, err := NewSlab(256 << 10)
		must(t, err)
		rnd := rand.New(rand.NewPCG(1, 2))
		copy(slab, noise(rnd, len(slab)))
		r, err := Open(int(f.Fd()), Config{})
		must(t, err)
		if t.Name() != "TestDirectIO/fake" { // the fake's short transfers are not aligned
			r.Close()
			r = open(t, f, 8)
		}
		for off := 0; off < len(slab); off += 16 << 10 {
			must(t, r.Write(int64(off), [][]byte{slab[off : off+4096], slab[off+4096 : off+16<<10]}, nil))
		}
		must(t, r.Sync())
		must(t, r.Close())
		got, err := os.ReadFile(name)
		must(t, err)
		if !bytes.Equal(got, slab) {
			t.Error("contents differ")
		}
		must(t, release())
	})
}
