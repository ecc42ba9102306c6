package hostfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

var _ tree.Data = (*Data)(nil)

// piece is data from byte start to end.
type piece struct{ start, end int64 }

// sparse makes a file of a size with data in the given pieces, and opens it.
func sparse(t testing.TB, size int64, pieces ...piece) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		if _, err := f.WriteAt(pattern(p), p.start); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// pattern is what the test files hold there.
func pattern(p piece) []byte {
	b := make([]byte, p.end-p.start)
	for i := range b {
		b[i] = byte((p.start+int64(i))*7%251) | 1
	}
	return b
}

// pieces collects those of d, and checks what they hold.
func pieces(t *testing.T, d *Data) (list []piece) {
	t.Helper()
	for off := int64(0); ; {
		start, end, err := d.Next(off)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, end-start)
		if err := d.ReadAt(got, start); err != nil {
			t.Fatal(err)
		}
		if want := pattern(piece{start, end}); !bytes.Equal(got, want) {
			t.Errorf("bytes %d to %d differ", start, end)
		}
		list, off = append(list, piece{start, end}), end
	}
}

func TestPieces(t *testing.T) {
	const k = 4096
	for _, c := range []struct {
		size   int64
		pieces []piece
		block  int64
		stored int64
		count  int
		load   bool
	}{
		{0, nil, k, 0, 0, true},
		{5, []piece{{0, 5}}, k, k, 1, true},
		{k, []piece{{0, k}}, 512, k, 1, true},
		{k + 1, []piece{{0, k + 1}}, 512, k + 512, 1, true},
		{5, nil, k, 0, 0, true},
		{3 * k, nil, k, 0, 0, true},
		{3 * k, []piece{{0, k}}, k, k, 1, false},
		{3 * k, []piece{{2 * k, 3 * k}}, k, k, 1, false},
		{5*k + 1, []piece{{0, k}, {2 * k, 3 * k}, {4 * k, 5*k + 1}}, k, 4 * k, 3, false},
		{5*k + 1, []piece{{0, k}, {2 * k, 3 * k}, {4 * k, 5*k + 1}}, 2 * k, 6 * k, 1, false},
		{5*k + 1, []piece{{0, k}, {2 * k, 3 * k}, {4 * k, 5*k + 1}}, 16 * k, 16 * k, 1, false},
		{9 * k, []piece{{k, 2 * k}, {8 * k, 9 * k}}, 2 * k, 4 * k, 2, false},
		{Small, []piece{{0, Small}}, k, Small, 1, true},
		{Small + 1, []piece{{0, Small + 1}}, k, Small + k, 1, false},
		{8 << 30, []piece{{8<<30 - k, 8 << 30}}, k, k, 1, false},
	} {
		t.Run(fmt.Sprint(c.size, c.pieces, c.block), func(t *testing.T) {
			f := sparse(t, c.size, c.pieces...)
			var d Data
			d.Reset(int(f.Fd()), c.size)
			stored, count, err := d.Count(c.block)
			if stored != c.stored || count != c.count || err != nil {
				t.Errorf("%d bytes in %d pieces, %v; want %d in %d", stored, count, err, c.stored, c.count)
			}
			if got := pieces(t, &d); !slices.Equal(got, c.pieces) {
				t.Errorf("pieces %v", got)
			}
			held, err := d.Load()
			if held != c.load || err != nil {
				t.Errorf("loaded: %v, %v", held, err)
			}
			if held {
				f.Close()
			}
			if got := pieces(t, &d); !slices.Equal(got, c.pieces) {
				t.Errorf("pieces when it is loaded %v", got)
			}
		})
	}
}

// A file that grows is copied up to the length that it had.
func TestGrown(t *testing.T) {
	const size = 100_000
	f := sparse(t, 2*size, piece{0, 2 * size})
	var d Data
	d.Reset(int(f.Fd()), size)
	if got := pieces(t, &d); !slices.Equal(got, []piece{{0, size}}) {
		t.Errorf("pieces %v", got)
	}
}

// A file that shrinks is an error, whatever is asked first: its tail is no hole.
func TestShrunk(t *testing.T) {
	const k = 4096
	for _, c := range []struct{ was, is int64 }{
		{5, 4}, {5, 0}, {2 * k, k}, {2 * k, k + 1}, {100 * k, 50 * k}, {100 * k, 0},
	} {
		f := sparse(t, c.is, piece{0, c.is})
		var d Data
		d.Reset(int(f.Fd()), c.was)
		if _, _, err := d.Count(k); !errors.Is(err, ErrShrunk) {
			t.Errorf("%v: counted: %v", c, err)
		}
		if err := d.ReadAt(make([]byte, c.was), 0); !errors.Is(err, ErrShrunk) {
			t.Errorf("%v: read: %v", c, err)
		}
		if held, err := d.Load(); held || err != nil && !errors.Is(err, ErrShrunk) {
			t.Errorf("%v: loaded: %v, %v", c, held, err)
		}
	}
}

// What the host refuses is told: here by a directory, which has no data to read, and a closed file.
func TestDataErrors(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var d Data
	d.Reset(int(dir.Fd()), 100)
	if err := d.ReadAt(make([]byte, 10), 0); !errors.Is(err, unix.EISDIR) {
		t.Errorf("read: %v", err)
	}
	d.Reset(-1, 100)
	_, _, next := d.Next(0)
	_, _, later := d.Next(50)
	_, _, count := d.Count(4096)
	_, load := d.Load()
	for i, err := range []error{next, later, count, load, d.ReadAt(make([]byte, 10), 0)} {
		if !errors.Is(err, unix.EBADF) {
			t.Errorf("%d: %v", i, err)
		}
	}
	// A file whose length the host tells only to who reads it.
	proc, err := os.Open("/proc/version")
	if err != nil {
		t.Skip(err)
	}
	defer proc.Close()
	d.Reset(int(proc.Fd()), 0)
	if _, _, err := d.Count(4096); !errors.Is(err, unix.EINVAL) {
		t.Errorf("/proc/version: %v", err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	f := sparse(t, 5, piece{0, 5})
	var d Data
	var a Attrs
	p := make([]byte, 5)
	if n := testing.AllocsPerRun(100, func() {
		fd, err := Open(unix.AT_FDCWD, "/dev/null", 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		d.Reset(int(f.Fd()), 5)
		if held, err := d.Load(); !held || err != nil {
			t.Fatal(held, err)
		}
		if _, end, err := d.Next(0); end != 5 || err != nil {
			t.Fatal(end, err)
		}
		if err := d.ReadAt(p, 0); err != nil {
			t.Fatal(err)
		}
		if list, err := a.OfFile(int(f.Fd())); len(list) != 0 || err != nil {
			t.Fatal(list, err)
		}
	}); n > 1 { // the path's, in Open
		t.Errorf("%v allocations", n)
	}
}
