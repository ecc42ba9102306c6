package aio

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// checkStopped asserts all that holds after a hard error.
func checkStopped(t *testing.T, r *Ring, want unix.Errno) {
	t.Helper()
	first := r.Reap(1 << 30)
	var e *Error
	if !errors.As(first, &e) || !errors.Is(first, want) {
		t.Fatalf("first error %v, want %v", first, want)
	}
	if r.inflight != 0 || r.engaged != 0 || r.waiting.n != 0 || len(r.free) != len(r.ops) {
		t.Errorf("%d still in flight", r.inflight)
	}
	starts := r.starts
	for what, err := range map[string]error{
		"Write": r.Write(0, [][]byte{{1}}, func(error) { t.Error("done of a refused write ran") }),
		"Read":  r.Read(0, [][]byte{{1}}, func(error) { t.Error("done of a refused read ran") }),
		"Reap":  r.Reap(1), "Sync": r.Sync(), "Close": r.Close(),
	} {
		if err != first && err != ErrClosed {
			t.Errorf("%s returned %v, want the first error %v", what, err, first)
		}
	}
	if r.starts != starts {
		t.Error("a request was started after the first error")
	}
}

// Every write to /dev/full fails with ENOSPC, or with EINVAL from Linux AIO,
// which does not know character devices.
func TestDeviceFull(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		f, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		r := open(t, f, 16)
		want := unix.ENOSPC
		if r.Engine() == "aio" {
			want = unix.EINVAL
		}
		var errs []error
		taken := 0
		for i := range int64(100) {
			if err := r.Write(i*512, [][]byte{make([]byte, 512)}, func(err error) { errs = append(errs, err) }); err != nil {
				break
			}
			taken++
		}
		if taken == 100 {
			t.Error("all were taken")
		}
		checkStopped(t, r, want)
		if len(errs) != taken {
			t.Errorf("%d taken, %d done", taken, len(errs))
		}
		for i, err := range errs {
			var e *Error
			if !errors.As(err, &e) || e.Op != "write" || e.Off%512 != 0 {
				t.Errorf("done %d got %v", i, err)
			}
			if !errors.Is(err, want) && !errors.Is(err, ErrCanceled) {
				t.Errorf("done %d got %v", i, err)
			}
		}
		if errs[0] != r.err {
			t.Errorf("first done got %v, the ring has %v", errs[0], r.err)
		}
	})
}

// stopsExactly is false for the fake over a file: os.File.WriteAt does not
// count what was written before an error.
func stopsExactly(r *Ring) bool { return r.Engine() != "fake" }

// A write across the end of a full filesystem is short, and its rest fails at
// the very byte where the room ended.
func TestFilesystemFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	eachEngine(t, func(t *testing.T, open opener) {
		f, err := os.Create(dir + "/image")
		must(t, err)
		defer f.Close()
		r := open(t, f, 16)
		must(t, r.Write(0, [][]byte{make([]byte, 4096), make([]byte, 100), make([]byte, 100<<10)}, nil))
		checkStopped(t, r, unix.ENOSPC)
		if e := r.err.(*Error); stopsExactly(r) && e.Off != 64<<10 || r.stats.Short == 0 {
			t.Errorf("%v, %d short transfers", e, r.stats.Short)
		}
	})
}

// The same at the largest size of a file.
func TestFileTooBig(t *testing.T) {
	limit := func(f *os.File) int64 {
		lo, hi := int64(0), int64(1)<<62 // lo can be written, hi cannot
		for hi-lo > 1 {
			mid := lo + (hi-lo)/2
			_, err := unix.Pwrite(int(f.Fd()), []byte{1}, mid)
			if err == nil {
				lo = mid
			} else if err == unix.EFBIG {
				hi = mid
			} else {
				t.Skipf("cannot find the largest file: write at %d: %v", mid, err)
			}
		}
		if hi == 1<<62 {
			t.Skip("no limit on the size of a file here")
		}
		return hi
	}(tempFile(t))
	eachEngine(t, func(t *testing.T, open opener) {
		r := open(t, tempFile(t), 16)
		must(t, r.Write(limit-4096, [][]byte{make([]byte, 4000), make([]byte, 4192)}, nil))
		checkStopped(t, r, unix.EFBIG)
		if e := r.err.(*Error); stopsExactly(r) && e.Off != limit || r.stats.Short == 0 {
			t.Errorf("%v, want byte %d; %d short transfers", e, limit, r.stats.Short)
		}
	})
}

func TestSyncFails(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		f, err := os.OpenFile("/dev/full", os.O_RDWR, 0) // cannot be flushed
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		r := open(t, f, 16)
		err = r.Sync()
		var e *Error
		if !errors.As(err, &e) || e.Op != "fsync" || e.Off >= 0 {
			t.Fatalf("Sync: %v", err)
		}
		if again := r.Sync(); again != err {
			t.Errorf("a second Sync says %v", again)
		}
		if err := r.Write(0, [][]byte{{1}}, nil); err != e {
			t.Errorf("Write after it says %v", err)
		}
		if err := r.Close(); err != e {
			t.Errorf("Close says %v", err)
		}
	})
}

// A descriptor that cannot be written, so that the kernel refuses early.
func TestReadOnlyDescriptor(t *testing.T) {
	eachEngine(t, func(t *testing.T, open opener) {
		f, err := os.Open(tempFile(t).Name())
		must(t, err)
		defer f.Close()
		r := open(t, f, 4)
		for i := range int64(3) {
			if r.Write(i, [][]byte{{1}}, nil) != nil {
				break
			}
		}
		checkStopped(t, r, unix.EBADF)
	})
}

func TestLimitErrors(t *testing.T) {
	proc := func(v string) func(string) ([]byte, error) {
		return func(string) ([]byte, error) {
			if v == "" {
				return nil, os.ErrNotExist
			}
			return []byte(v + "\n"), nil
		}
	}
	for _, c := range []struct {
		call  string
		errno unix.Errno
		proc  string
		want  string
	}{
		{"io_uring_setup", unix.EPERM, "2", "io_uring_setup: operation not permitted (forbidden by sysctl kernel.io_uring_disabled=2)"},
		{"io_uring_setup", unix.EPERM, "0", "io_uring_setup: operation not permitted (kernel.io_uring_disabled=0 allows it: forbidden by seccomp or a container)"},
		{"io_uring_setup", unix.EPERM, "", "io_uring_setup: operation not permitted (forbidden by seccomp, a container or the kernel's configuration)"},
		{"io_uring_setup", unix.ENOSYS, "", "io_uring_setup: function not implemented (not in this kernel, or hidden by seccomp)"},
		{"io_uring_setup", unix.EMFILE, "", "io_uring_setup: too many open files"},
		{"io_setup", unix.EAGAIN, "77", "io_setup: resource temporarily unavailable (limit fs.aio-max-nr=77 reached, fs.aio-nr=77)"},
		{"io_setup", unix.EAGAIN, "", "io_setup: resource temporarily unavailable (limit fs.aio-max-nr reached)"},
		{"io_setup", unix.ENOSYS, "", "io_setup: function not implemented (not in this kernel, or hidden by seccomp)"},
	} {
		err := limitError(c.call, c.errno, proc(c.proc))
		if err.Error() != c.want || !errors.Is(err, c.errno) {
			t.Errorf("%s %v: %v", c.call, c.errno, err)
		}
	}
	err := limitError("io_uring_setup", unix.ENOMEM, proc(""))
	if !errors.Is(err, unix.ENOMEM) || !contains(err, "RLIMIT_MEMLOCK") {
		t.Error(err)
	}
}

// The real limit of Linux AIO, when it is within reach.
func TestAIOLimit(t *testing.T) {
	e, err := newLinuxAIO(0, make([]op, 200_000))
	if err == nil {
		e.close()
		t.Skip("fs.aio-max-nr is large here")
	}
	if errors.Is(err, unix.EAGAIN) && !contains(err, "fs.aio-max-nr") {
		t.Error(err)
	}
}
