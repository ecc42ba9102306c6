package aio

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the kernel is short of for a moment at set-up is asked for again, and not
// for long.
func TestSetup(t *testing.T) {
	answers := []unix.Errno{unix.EAGAIN, unix.EINTR, unix.EAGAIN, 0}
	asked := 0
	if errno := setup(func() unix.Errno { asked++; return answers[asked-1] }); errno != 0 || asked != len(answers) {
		t.Errorf("%v after %d calls", errno, asked)
	}
	if errno := setup(func() unix.Errno { return unix.ENOSYS }); errno != unix.ENOSYS {
		t.Error(errno)
	}
	asked = 0
	started := time.Now()
	errno := setup(func() unix.Errno { asked++; return unix.EAGAIN })
	if took := time.Since(started); errno != unix.EAGAIN || asked < 2 || took > 20*setupTime {
		t.Errorf("%v after %d calls and %v", errno, asked, took)
	}
}

// Requests that the kernel has do not keep one that only says EAGAIN from being
// an error: there is no end to wait for.
func TestStalledInFlight(t *testing.T) {
	onThread(t, func(forbid func(unix.Errno, ...uint32)) {
		from, to, err := os.Pipe() // a read of it never ends
		must(t, err)
		defer from.Close()
		defer to.Close()
		r, err := Open(int(from.Fd()), Config{Engine: Uring, Depth: 4})
		if err != nil {
			t.Log("skipped:", err)
			return
		}
		must(t, r.Read(0, [][]byte{make([]byte, 1)}, nil))
		must(t, r.Reap(0))
		forbid(unix.EAGAIN, unix.SYS_IO_URING_ENTER)
		must(t, r.Read(0, [][]byte{make([]byte, 1)}, nil))
		started := time.Now()
		err = r.Reap(1)
		if took := time.Since(started); !errors.Is(err, unix.EAGAIN) || !errors.Is(err, errStalled) || took > 10*stallTime {
			t.Errorf("%v after %v", err, took)
		}
		r.Close()
	})
}
