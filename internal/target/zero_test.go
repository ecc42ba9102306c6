package target

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// blocks returns how many bytes the host has set aside for the file.
func blocks(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // ext4 counts blocks when it has chosen them
		t.Fatal(err)
	}
	return mustStat(t, path).Blocks * 512
}

func TestZeroKeepsHoles(t *testing.T) {
	for name, dir := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "img")
			tg := mustOpen(t, path, Options{Write: true, Create: true})
			if err := tg.Grow(64 << 20); err != nil {
				t.Fatal(err)
			}
			data := bytes.Repeat([]byte{0xa5}, 1<<20)
			for _, off := range []int64{0, 10 << 20, 63 << 20} {
				if _, err := tg.WriteAt(data, off); err != nil {
					t.Fatal(err)
				}
			}
			before := blocks(t, path)
			if err := tg.Zero(4097, 62<<20); err != nil {
				t.Fatal(err)
			}
			after := blocks(t, path)
			if after > before {
				t.Errorf("takes %d bytes, %d before", after, before)
			}
			if tg.zeroMode.Load() == 0 && after != before {
				t.Errorf("takes %d bytes, %d before, though zeroed in place", after, before)
			}
			got := make([]byte, 64<<20)
			if _, err := tg.ReadAt(got, 0); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, 64<<20)
			copy(want, data[:4097])
			copy(want[63<<20:], data)
			if !bytes.Equal(got, want) {
				t.Error("wrong content")
			}
		})
	}
}

func TestZeroKeepsAllocation(t *testing.T) {
	path := makeFile(t, 32<<20)
	tg := mustOpen(t, path, Options{Write: true})
	if err := unix.Fallocate(tg.Fd(), 0, 0, 32<<20); err != nil {
		t.Skip("the host does not preallocate:", err)
	}
	if _, err := tg.WriteAt(bytes.Repeat([]byte{1}, 1<<20), 5<<20+1); err != nil {
		t.Fatal(err)
	}
	before := blocks(t, path)
	if err := tg.Zero(0, 32<<20); err != nil {
		t.Fatal(err)
	}
	if tg.zeroMode.Load() != 0 {
		t.Skip("the host cannot zero in place")
	}
	if after := blocks(t, path); after != before {
		t.Errorf("takes %d bytes, %d before", after, before)
	}
	mustBeZero(t, tg, 0, 32<<20)
}

// Where nothing can be zeroed in place, space is given back and no zeros are written.
func TestZeroGivesBack(t *testing.T) {
	dir := hosts(t)["shm"]
	if dir == "" {
		t.Skip("needs tmpfs, which cannot zero in place")
	}
	path := filepath.Join(dir, "img")
	tg := mustOpen(t, path, Options{Write: true, Create: true})
	if err := tg.Grow(4 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := tg.WriteAt(bytes.Repeat([]byte{1}, 4<<20), 0); err != nil {
		t.Fatal(err)
	}
	if err := tg.Zero(0, 4<<20); err != nil {
		t.Fatal(err)
	}
	if tg.zeroMode.Load() == 0 {
		t.Skip("this host zeroes in place")
	}
	if n := blocks(t, path); n != 0 {
		t.Errorf("takes %d bytes", n)
	}
}

// Ends that are no whole sectors of a device are written, and what lies between is
// left to the device all the same.
func TestZeroPartOfSectors(t *testing.T) {
	tg := mustOpen(t, attach(t, makeFile(t, 8<<20), "--sector-size=4096"), Options{Write: true})
	if err := tg.Zero(0, 1<<20); err != nil {
		t.Fatal(err)
	}
	way := tg.zeroMode.Load()
	if int(way) == len(zeroWays) {
		t.Skip("this device must be sent the zeros")
	}
	for _, c := range [][2]int64{{100, 2 << 20}, {4096, 2<<20 + 100}, {4000, 200}, {4097, 10}} {
		if err := tg.Zero(c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		if now := tg.zeroMode.Load(); now != way {
			t.Errorf("after Zero(%d, %d) way %d is taken, %d before", c[0], c[1], now, way)
		}
	}
}

func mustBeZero(t *testing.T, tg *Target, off, n int64) {
	t.Helper()
	got := make([]byte, n)
	if _, err := tg.ReadAt(got, off); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(got, func(r rune) bool { return r != 0 }); i >= 0 {
		t.Errorf("byte %d is %#x", off+int64(i), got[i])
	}
}

func TestZeroEdges(t *testing.T) {
	path := makeFile(t, 1000)
	tg := mustOpen(t, path, Options{Write: true})
	if _, err := tg.WriteAt(bytes.Repeat([]byte{7}, 1000), 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int64{{-1, 5}, {0, -1}} {
		if tg.Zero(c[0], c[1]) == nil {
			t.Errorf("Zero(%d, %d) works", c[0], c[1])
		}
	}
	for _, c := range [][2]int64{{0, 0}, {1000, 0}, {1000, 1}, {5000, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}} {
		if err := tg.Zero(c[0], c[1]); err != nil {
			t.Errorf("Zero(%d, %d): %v", c[0], c[1], err)
		}
	}
	got := make([]byte, 1000)
	if _, err := tg.ReadAt(got, 0); err != nil || bytes.Count(got, []byte{7}) != 1000 {
		t.Errorf("something was zeroed: %v", err)
	}
	if err := tg.Zero(999, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	if _, err := tg.ReadAt(got, 0); err != nil || bytes.Count(got, []byte{7}) != 999 || got[999] != 0 {
		t.Errorf("the last byte was not zeroed: %v", err)
	}
	if mustStat(t, path).Size != 1000 {
		t.Error("the length has changed")
	}
	if err := tg.Discard(0, 1000); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Discard of a file: %v", err)
	}
	if err := tg.Discard(-1, 1000); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Discard at -1: %v", err)
	}
}

// TestZeroModel compares files with byte slices, for each way to zero. Pieces
// are written, preallocated and zeroed in any order.
func TestZeroModel(t *testing.T) {
	for name, dir := range hosts(t) {
		for way := range len(zeroWays) + 1 {
			t.Run(name+string(rune('0'+way)), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) { zeroModel(rt, filepath.Join(dir, "img"), way) })
			})
		}
	}
}

func zeroModel(t *rapid.T, path string, way int) {
	size := rapid.Int64Range(1, 100_000).Draw(t, "size")
	tg, err := Open(path, Options{Write: true, Create: true, Truncate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	tg.zeroMode.Store(int32(way))
	if err := tg.Grow(size); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, size)
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		off := rapid.Int64Range(0, size-1).Draw(t, "off")
		n := rapid.Int64Range(1, size-off).Draw(t, "n")
		switch rapid.SampledFrom([]string{"write", "zero", "allocate"}).Draw(t, "what") {
		case "write":
			piece := bytes.Repeat([]byte{byte(off%255 + 1)}, int(n))
			copy(want[off:], piece)
			if _, err := tg.WriteAt(piece, off); err != nil {
				t.Fatal(err)
			}
		case "allocate":
			_ = unix.Fallocate(tg.Fd(), unix.FALLOC_FL_KEEP_SIZE, off, n) // where it can
		case "zero":
			clear(want[off : off+n])
			extra := rapid.Int64Range(0, 5000).Draw(t, "extra")
			if off+n < size {
				extra = 0
			}
			if err := tg.Zero(off, n+extra); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := make([]byte, size)
	if _, err := tg.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("file and model differ")
	}
	var st unix.Stat_t
	if err := unix.Fstat(tg.Fd(), &st); err != nil || st.Size != size {
		t.Fatalf("length %d, want %d: %v", st.Size, size, err)
	}
}

func TestReadOnlyTarget(t *testing.T) {
	path := makeFile(t, 8192)
	tg := mustOpen(t, path, Options{})
	if _, err := tg.WriteAt([]byte("x"), 0); err == nil {
		t.Error("wrote to a target that is open for reading")
	}
	if err := tg.Zero(0, 8192); err != nil {
		t.Error("a hole needs no zeroing, but:", err)
	}
}

// TestHugeFile does what can be done with the largest file there is.
func TestHugeFile(t *testing.T) {
	dir, ok := hosts(t)["shm"]
	if !ok {
		t.Skip("needs /dev/shm")
	}
	tg := mustOpen(t, filepath.Join(dir, "img"), Options{Write: true, Create: true})
	if err := tg.Grow(math.MaxInt64); err != nil {
		t.Skip("no files of 8 EiB - 1 here:", err)
	}
	last := int64(math.MaxInt64) - 4096
	if _, err := tg.WriteAt([]byte("xyz"), last); err != nil {
		t.Fatal(err)
	}
	if err := tg.Zero(last+1, 1); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := tg.ReadAt(got, last); err != nil || string(got) != "x\x00z" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := tg.Zero(0, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	if _, err := tg.ReadAt(got, last); err != nil || string(got) != "\x00\x00\x00" {
		t.Errorf("read %q, %v", got, err)
	}
}

// What is written as zeros is data, whatever it was: a hole, space that was never
// written, or data; and nothing beside it changes.
func TestWriteZeros(t *testing.T) {
	for name, dir := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			tg := mustOpen(t, filepath.Join(dir, "img"), Options{Write: true, Create: true})
			if err := tg.Grow(16 << 20); err != nil {
				t.Fatal(err)
			}
			_ = unix.Fallocate(tg.Fd(), 0, 4<<20, 4<<20) // where it can
			if _, err := tg.WriteAt(bytes.Repeat([]byte{1}, 4<<20), 8<<20); err != nil {
				t.Fatal(err)
			}
			const off, end = 1<<20 + 4096, 10<<20 + 5
			if err := tg.WriteZeros(off, end-off); err != nil {
				t.Fatal(err)
			}
			mustBeZero(t, tg, 0, end)
			if from, to, err := tg.NextData(0, 16<<20); err != nil || from != off || to != 12<<20 {
				t.Errorf("data from %d to %d, want %d to %d: %v", from, to, off, 12<<20, err)
			}
			rest := make([]byte, 12<<20-end)
			if _, err := tg.ReadAt(rest, end); err != nil || bytes.Count(rest, []byte{1}) != len(rest) {
				t.Errorf("what lies behind has changed: %v", err)
			}
			if err := tg.WriteZeros(16<<20-1, 1<<30); err != nil || mustStat(t, filepath.Join(dir, "img")).Size != 16<<20 {
				t.Errorf("past the end: %v", err)
			}
		})
	}
}
