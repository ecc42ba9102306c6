package aio

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onThread runs f on a thread of its own, which ends with f. f is given a
// function that makes system calls fail with errno on this thread from then
// on, as they do in a container.
func onThread(t *testing.T, f func(forbid func(errno unix.Errno, calls ...uint32))) {
	t.Helper()
	res := make(chan error)
	go func() {
		defer close(res)
		runtime.LockOSThread() // and never unlocked: a filter stays for good
		f(func(errno unix.Errno, calls ...uint32) {
			if err := forbidCalls(errno, calls); err != nil {
				res <- err
				runtime.Goexit()
			}
		})
	}()
	if err := <-res; err != nil {
		t.Skipf("cannot forbid system calls: %v", err)
	}
}

func forbidCalls(errno unix.Errno, calls []uint32) error {
	prog := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for _, nr := range calls {
		prog = append(prog,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: nr},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	prog = append(prog, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0)
}

func TestFallBack(t *testing.T) {
	available := func(k Kind) bool {
		r, err := Open(int(tempFile(t).Fd()), Config{Engine: k})
		if err != nil {
			return false
		}
		return r.Close() == nil
	}
	if !available(Uring) || !available(AIO) {
		t.Skip("needs all engines")
	}
	for _, c := range []struct {
		name  string
		errno unix.Errno
		calls []uint32
		auto  string
		uring string // part of the error when it is forced
		aio   string
	}{
		{"nothing", unix.EPERM, nil, "io_uring", "", ""},
		{"uring setup", unix.EPERM, []uint32{unix.SYS_IO_URING_SETUP}, "aio", "io_uring_setup: operation not permitted (", ""},
		{"uring enter", unix.EPERM, []uint32{unix.SYS_IO_URING_ENTER}, "aio", "io_uring_enter: operation not permitted (", ""},
		{"uring register", unix.EPERM, []uint32{unix.SYS_IO_URING_REGISTER}, "io_uring", "", ""},
		{"both", unix.ENOSYS, []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_SETUP}, "sync",
			"io_uring_setup: function not implemented (", "io_setup: function not implemented ("},
		{"uring setup for ever", unix.EAGAIN, []uint32{unix.SYS_IO_URING_SETUP}, "aio", "io_uring_setup: resource temporarily unavailable", ""},
		{"uring enter for ever", unix.EAGAIN, []uint32{unix.SYS_IO_URING_ENTER}, "aio", "io_uring_enter: resource temporarily unavailable", ""},
		{"all for ever", unix.EAGAIN, []uint32{unix.SYS_IO_URING_ENTER, unix.SYS_IO_SETUP}, "sync",
			"io_uring_enter: resource temporarily unavailable", "io_setup: resource temporarily unavailable ("},
		{"enter and submit", unix.EPERM, []uint32{unix.SYS_IO_URING_ENTER, unix.SYS_IO_SUBMIT}, "sync",
			"io_uring_enter: operation not permitted (", "io_submit: operation not permitted"},
		{"enter and getevents", unix.EPERM, []uint32{unix.SYS_IO_URING_ENTER, unix.SYS_IO_GETEVENTS}, "sync",
			"io_uring_enter: operation not permitted (", "io_getevents: operation not permitted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tempFile(t)
			onThread(t, func(forbid func(unix.Errno, ...uint32)) {
				forbid(c.errno, c.calls...)
				r, err := Open(int(f.Fd()), Config{})
				if err != nil {
					t.Error(err)
					return
				}
				if r.Engine() != c.auto {
					t.Errorf("auto is %s, want %s", r.Engine(), c.auto)
				}
				for i := range int64(100) {
					if err := r.Write(i, [][]byte{{1}}, nil); err != nil {
						t.Error(err)
					}
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				for kind, want := range map[Kind]string{Uring: c.uring, AIO: c.aio} {
					r, err := Open(int(f.Fd()), Config{Engine: kind})
					if err == nil {
						r.Close()
					}
					if (err == nil) != (want == "") || err != nil && !(errors.Is(err, c.errno) && contains(err, want)) {
						t.Errorf("%v forced: %v, want %q", kind, err, want)
					}
				}
			})
		})
	}
}

// Another goroutine than the one that opened the ring gets an error that says
// so, where the kernel notices.
func TestForeignGoroutine(t *testing.T) {
	r, err := Open(int(tempFile(t).Fd()), Config{Engine: Uring})
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	ran := 0
	res := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := r.Write(0, [][]byte{{1}}, func(error) { ran++ }); err != nil {
			res <- err
			return
		}
		res <- r.Reap(1)
	}()
	if err = <-res; err == nil {
		t.Skip("this kernel lets any thread use the ring")
	}
	if !errors.Is(err, unix.EEXIST) || !contains(err, "another goroutine") || ran != 1 {
		t.Errorf("%v; done ran %d times", err, ran)
	}
}

// A kernel that stops taking requests, or stops answering, after the ring was
// opened: everything in flight fails, once, with the cause, and nobody hangs.
func TestKernelRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  Kind
		errno unix.Errno
		call  uint32
		want  string
	}{
		{"uring short of resources", Uring, unix.EAGAIN, unix.SYS_IO_URING_ENTER, "engine io_uring: io_uring_enter: kernel takes no requests"},
		{"uring overflow", Uring, unix.EBUSY, unix.SYS_IO_URING_ENTER, "engine io_uring: io_uring_enter: kernel takes no requests"},
		{"uring broken", Uring, unix.EPERM, unix.SYS_IO_URING_ENTER, "engine io_uring: io_uring_enter: operation not permitted"},
		{"aio short of resources", AIO, unix.EAGAIN, unix.SYS_IO_SUBMIT, "engine aio: io_submit: kernel takes no requests"},
		{"aio refused", AIO, unix.EPERM, unix.SYS_IO_SUBMIT, "write at byte 0: operation not permitted"},
		{"aio broken", AIO, unix.EPERM, unix.SYS_IO_GETEVENTS, "engine aio: io_getevents: operation not permitted"},
		{"sync short of resources", Sync, unix.EAGAIN, unix.SYS_PWRITEV, "kernel takes no requests: resource temporarily unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := tempFile(t)
			onThread(t, func(forbid func(unix.Errno, ...uint32)) {
				r, err := Open(int(f.Fd()), Config{Engine: c.kind, Depth: 32})
				if err != nil {
					t.Logf("skipped: %v", err)
					return
				}
				forbid(c.errno, c.call)
				ran, taken := 0, 0
				for i := range int64(100) {
					if r.Write(i, [][]byte{{1}}, func(err error) {
						ran++
						if !errors.Is(err, c.errno) && !errors.Is(err, ErrCanceled) {
							t.Errorf("done got %v", err)
						}
					}) != nil {
						break
					}
					taken++
				}
				err = r.Close()
				if err == nil || !contains(err, c.want) || !errors.Is(err, c.errno) {
					t.Errorf("Close: %v", err)
				}
				if ran != taken || taken > 32 {
					t.Errorf("%d taken, %d done", taken, ran)
				}
			})
		})
	}
}
