package aio

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// EAGAIN says that the kernel is short of something, which takes time to pass,
// but one that only ever says EAGAIN must not hang us: after so long without any
// progress it is an error. A ring that cannot be set up soon leaves the work to
// the next engine.
const (
	pause     = time.Millisecond
	stallTime = 3 * time.Second
	setupTime = 50 * time.Millisecond
)

var errStalled = errors.New("kernel takes no requests")

// stall is a time without progress. The zero value is good, and one that has
// ended is set to it.
type stall struct{ since time.Time }

// hope waits for a pause, and tells whether another try makes sense.
func (s *stall) hope(limit time.Duration) bool {
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if time.Since(s.since) > limit {
		return false
	}
	time.Sleep(pause)
	return true
}

// setup makes a system call that sets something up, again if the kernel is short
// of something for a moment.
func setup(call func() unix.Errno) unix.Errno {
	for s := (stall{}); ; {
		errno := call()
		switch {
		case errno == unix.EINTR:
		case errno != unix.EAGAIN || !s.hope(setupTime):
			return errno
		}
	}
}
