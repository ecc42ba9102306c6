package aio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// syncEngine carries every request out at once, or has a helper do it if there is one. Results, also
// short ones and EINTR, go to the Ring like everybody's.
type syncEngine struct {
	fd     int
	helper *helper
}

func (e *syncEngine) name() string { return Sync.String() }

// queue leaves writes to the helper. A read is wanted soon, and nothing in flight overlaps it, so that
// it need not wait behind them.
func (e *syncEngine) queue(o *op) status {
	if e.helper == nil || o.read {
		o.transfer(e.fd)
		return done
	}
	e.helper.add(o)
	return queued
}

func (e *syncEngine) commit() error { return nil }

func (e *syncEngine) reap(least int, out []*op) ([]*op, error) {
	if e.helper == nil {
		return out, nil
	}
	return e.helper.reap(least, out), nil
}

func (e *syncEngine) close() error {
	if e.helper != nil {
		e.helper.stop()
	}
	return nil
}

// transfer carries a request out, or a part of it.
func (o *op) transfer(fd int) {
	call := uintptr(unix.SYS_PWRITEV)
	if o.read {
		call = unix.SYS_PREADV
	}
	// The kernel takes the offset as two longs, low first; on 64 bits the
	// second one is ignored.
	n, _, errno := unix.Syscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&o.iov[0])), uintptr(len(o.iov)),
		uintptr(o.off), uintptr(o.off>>32), 0)
	o.res = int(n)
	if errno != 0 {
		o.res = -int(errno)
	}
}
