package target

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mustOpen opens path and closes it when the test ends.
func mustOpen(t *testing.T, path string, opts Options) *Target {
	t.Helper()
	tg, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

func TestOpenMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	for _, opts := range []Options{{}, {Write: true}, {Write: true, Truncate: true}} {
		if _, err := Open(path, opts); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%+v): %v", opts, err)
		}
	}
	for _, opts := range []Options{{Create: true}, {Truncate: true}} {
		if _, err := Open(path, opts); err == nil {
			t.Errorf("Open(%+v) works without Write", opts)
		}
	}
	if _, err := os.Lstat(path); err == nil {
		t.Fatal("the file was made")
	}
	tg := mustOpen(t, path, Options{Write: true, Create: true})
	if tg.Info().Size != 0 || tg.Info().Kind != File {
		t.Errorf("got %+v", tg.Info())
	}
}

func TestOpenTruncate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "img")
	if err := os.WriteFile(path, []byte("old data"), 0o644); err != nil {
		t.Fatal(err)
	}
	tg := mustOpen(t, path, Options{Write: true, Create: true})
	if tg.Info().Size != 8 {
		t.Errorf("size %d after an open without Truncate", tg.Info().Size)
	}
	if _, err := Open(path, Options{Write: true}); !errors.As(err, new(*InUseError)) {
		t.Errorf("opened twice for writing: %v", err)
	}
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	tg = mustOpen(t, path, Options{Write: true, Create: true, Truncate: true})
	if st := mustStat(t, path); tg.Info().Size != 0 || st.Size != 0 {
		t.Errorf("size %d, on disk %d", tg.Info().Size, st.Size)
	}
}

func TestReadWrite(t *testing.T) {
	for _, opts := range []Options{{Write: true}, {Write: true, Direct: true}} {
		tg := mustOpen(t, makeFile(t, 1<<20+77), opts)
		want := []byte("seven bytes and more")
		for _, off := range []int64{0, 511, 4095, 1<<20 + 77 - int64(len(want))} {
			if _, err := tg.WriteAt(want, off); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			if _, err := tg.ReadAt(got, off); err != nil || !bytes.Equal(got, want) {
				t.Errorf("at %d: read %q, %v", off, got, err)
			}
		}
		if _, err := tg.ReadAt(make([]byte, 1), 1<<20+77); err != io.EOF {
			t.Errorf("behind the end: %v", err)
		}
		if err := tg.Sync(); err != nil {
			t.Error(err)
		}
	}
}

// TestDirect writes with the alignment that DirectIO tells and reads it back by
// the other descriptor, and the other way round.
func TestDirect(t *testing.T) {
	for name, dir := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "img")
			if err := os.WriteFile(path, make([]byte, 64<<10), 0o644); err != nil {
				t.Fatal(err)
			}
			tg := mustOpen(t, path, Options{Write: true, Direct: true})
			ok, align := tg.DirectIO()
			flags, err := unix.FcntlInt(uintptr(tg.Fd()), unix.F_GETFL, 0)
			if err != nil {
				t.Fatal(err)
			}
			if ok != (flags&unix.O_DIRECT != 0) {
				t.Errorf("DirectIO says %v, the flags are %#x", ok, flags)
			}
			if flags&unix.O_NONBLOCK != 0 {
				t.Error("the descriptor is non-blocking")
			}
			if !ok {
				if align != 1 {
					t.Errorf("alignment %d without direct I/O", align)
				}
				t.Skip("no direct I/O here")
			}
			buf := aligned(align, align)
			for i := range buf {
				buf[i] = byte(i)
			}
			if _, err := tg.File().WriteAt(buf, int64(align)); err != nil {
				t.Fatalf("write with alignment %d: %v", align, err)
			}
			got := make([]byte, align)
			if _, err := tg.ReadAt(got, int64(align)); err != nil || !bytes.Equal(got, buf) {
				t.Errorf("ReadAt does not see what Fd wrote: %v", err)
			}
			if _, err := tg.WriteAt([]byte("small"), int64(align)+3); err != nil {
				t.Fatal(err)
			}
			if _, err := tg.File().ReadAt(buf, int64(align)); err != nil || string(buf[3:8]) != "small" {
				t.Errorf("Fd does not see what WriteAt wrote: %v", err)
			}
		})
	}
}

// TestNotDirect has tmpfs, which lets O_DIRECT pass and copies all the same.
func TestNotDirect(t *testing.T) {
	dir, ok := hosts(t)["shm"]
	if !ok {
		t.Skip("needs /dev/shm")
	}
	tg := mustOpen(t, filepath.Join(dir, "img"), Options{Write: true, Create: true, Direct: true})
	if !inMemory(tg.Fd()) {
		t.Skip("/dev/shm is no tmpfs")
	}
	if ok, align := tg.DirectIO(); ok || align != 1 {
		t.Errorf("DirectIO %v, %d", ok, align)
	}
}

func TestTryAlign(t *testing.T) {
	path := makeFile(t, 64<<10)
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Skip("no direct I/O here:", err)
	}
	defer f.Close()
	if n := tryAlign(int(f.Fd()), 64<<10); n < 512 || n > maxAlign || sector(n, 512) != n {
		t.Errorf("alignment %d", n)
	}
	if n := tryAlign(int(f.Fd()), 0); n != maxAlign {
		t.Errorf("alignment %d of an empty file, want the strictest", n)
	}
}

// aligned returns n bytes at a multiple of align.
func aligned(n, align int) []byte {
	mem := make([]byte, n+align)
	pad := -int(uintptr(unsafe.Pointer(&mem[0]))) & (align - 1)
	return mem[pad:][:n]
}

// hosts returns folders on the file systems to test on.
// Only the file that was made is removed, not what has come in its place.
func TestRemoveOnlyOwn(t *testing.T) {
	for name, remove := range map[string]func(*Target){"RemoveCreated": (*Target).RemoveCreated, "Remove": (*Target).Remove} {
		dir := t.TempDir()
		path, other := filepath.Join(dir, "img"), filepath.Join(dir, "other")
		tg := mustOpen(t, path, Options{Write: true, Create: true})
		if err := os.WriteFile(other, []byte("of somebody else"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		remove(tg)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		tg = mustOpen(t, filepath.Join(dir, "own"), Options{Write: true, Create: true})
		remove(tg)
		if _, err := os.Stat(tg.Info().Path); !os.IsNotExist(err) {
			t.Errorf("%s: the file is still there: %v", name, err)
		}
	}
}

func hosts(t *testing.T) map[string]string {
	t.Helper()
	h := map[string]string{"tmp": t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "target"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		h["shm"] = dir
	}
	return h
}

func TestGrowTruncate(t *testing.T) {
	for name, dir := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "img")
			tg := mustOpen(t, path, Options{Write: true, Create: true})
			if _, err := tg.WriteAt([]byte("data"), 0); err != nil {
				t.Fatal(err)
			}
			if err := tg.Truncate(4); err != nil {
				t.Fatal(err)
			}
			if err := tg.Grow(1<<40 + 1); err != nil {
				t.Fatal(err)
			}
			st := mustStat(t, path)
			if st.Size != 1<<40+1 || tg.Info().Size != st.Size || st.Blocks > 8 {
				t.Errorf("size %d, %d blocks", st.Size, st.Blocks)
			}
			if err := tg.Grow(17); err != nil || mustStat(t, path).Size != 1<<40+1 {
				t.Errorf("Grow made it smaller, or %v", err)
			}
			if err := tg.Truncate(2); err != nil || mustStat(t, path).Size != 2 || tg.Info().Size != 2 {
				t.Errorf("Truncate: %v", err)
			}
			if err := tg.Truncate(-1); err == nil {
				t.Error("a length of -1 is accepted")
			}
		})
	}
}

// TestGrowTooLarge needs a host with a limit below 8 EiB; ext4 has one.
func TestGrowTooLarge(t *testing.T) {
	tg := mustOpen(t, makeFile(t, 100), Options{Write: true})
	err := tg.Grow(math.MaxInt64)
	if err == nil {
		t.Skip("this host has files of 8 EiB - 1")
	}
	if !errors.Is(err, unix.EFBIG) || !strings.Contains(err.Error(), "9223372036854775807 bytes (8.0 EiB) are more than the ") {
		t.Errorf("error %q", err)
	}
	if tg.Info().Size != 100 {
		t.Errorf("size %d after a failed Grow", tg.Info().Size)
	}
}

func TestCloseTwice(t *testing.T) {
	tg := mustOpen(t, makeFile(t, 4096), Options{Direct: true})
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tg.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if err := tg.Sync(); !errors.Is(err, os.ErrClosed) || !strings.HasPrefix(err.Error(), tg.Info().Path) {
		t.Errorf("Sync after Close: %v", err)
	}
}

func TestBlank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "img")
	tg := mustOpen(t, path, Options{Write: true, Create: true})
	if !tg.Blank() {
		t.Error("an empty file is not blank")
	}
	if err := tg.Grow(1 << 30); err != nil {
		t.Fatal(err)
	}
	if !tg.Blank() {
		t.Skip("no holes on this file system")
	}
	if _, err := tg.WriteAt([]byte{1}, 1<<29); err != nil {
		t.Fatal(err)
	}
	if tg.Blank() {
		t.Error("a byte in the middle of a hole was missed")
	}
}
