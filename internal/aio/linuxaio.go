package aio

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's AIO interface; see io_setup(2) and io_submit(2).
const (
	iocbPreadv  = 7
	iocbPwritev = 8
)

// iocb is struct iocb. Two of its words trade places on big-endian machines;
// both are always zero here.
type iocb struct {
	data   uint64
	_      [2]uint32 // key, rw_flags
	opcode uint16
	_      int16 // reqprio
	fd     uint32
	buf    uint64
	n      uint64
	off    int64
	_      uint64 // reserved
	_      uint32 // flags
	_      uint32 // resfd
}

// ioEvent is struct io_event.
type ioEvent struct {
	data uint64
	obj  uint64
	res  int64
	res2 int64
}

// linuxAIO is the engine over io_submit.
type linuxAIO struct {
	ctx     uintptr
	fd      int
	ops     []op
	cbs     []iocb    // one a slot
	pending []*iocb   // queued, not submitted
	refused []*op     // io_submit would not have them; res is set
	flying  int       // submitted, not reaped
	events  []ioEvent // room for all
}

func newLinuxAIO(fd int, ops []op) (*linuxAIO, error) {
	e := &linuxAIO{
		fd:      fd,
		ops:     ops,
		cbs:     make([]iocb, len(ops)),
		pending: make([]*iocb, 0, len(ops)),
		refused: make([]*op, 0, len(ops)),
		events:  make([]ioEvent, len(ops)),
	}
	errno := setup(func() unix.Errno {
		_, _, errno := unix.Syscall(unix.SYS_IO_SETUP, uintptr(len(ops)), uintptr(unsafe.Pointer(&e.ctx)), 0)
		return errno
	})
	if errno != 0 {
		return nil, setupError("io_setup", errno)
	}
	// A filter may let a context be made and not be used.
	if _, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, e.ctx, 0, 0); errno != 0 {
		e.close()
		return nil, setupError("io_submit", errno)
	}
	if _, errno := e.getEvents(0, 1); errno != 0 && errno != unix.EINTR {
		e.close()
		return nil, setupError("io_getevents", errno)
	}
	return e, nil
}

func (e *linuxAIO) name() string { return AIO.String() }

func (e *linuxAIO) queue(o *op) status {
	cb := &e.cbs[o.slot]
	*cb = iocb{
		data:   uint64(o.slot),
		opcode: iocbPwritev,
		fd:     uint32(e.fd),
		buf:    uint64(uintptr(unsafe.Pointer(&o.iov[0]))),
		n:      uint64(len(o.iov)),
		off:    o.off,
	}
	if o.read {
		cb.opcode = iocbPreadv
	}
	e.pending = append(e.pending, cb)
	return queued
}

// commit never fails: if io_submit does it is about the first request, which
// is refused with that errno, or about resources, and then the rest waits.
func (e *linuxAIO) commit() error {
	taken := 0
	for taken < len(e.pending) {
		rest := e.pending[taken:]
		n, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, e.ctx, uintptr(len(rest)), uintptr(unsafe.Pointer(&rest[0])))
		if errno == unix.EINTR {
			continue
		}
		if errno == unix.EAGAIN || errno == 0 && n == 0 {
			break
		}
		if errno != 0 {
			o := &e.ops[rest[0].data]
			o.res = -int(errno)
			e.refused = append(e.refused, o)
			taken++
			continue
		}
		e.flying += int(n)
		taken += int(n)
	}
	e.pending = e.pending[:copy(e.pending, e.pending[taken:])]
	return nil
}

func (e *linuxAIO) reap(least int, out []*op) ([]*op, error) {
	for s := (stall{}); ; {
		e.commit()
		out = append(out, e.refused...)
		e.refused = e.refused[:0]
		need := max(0, least-len(out))
		if need > 0 && e.flying == 0 {
			// Others have used up the system's requests.
			if !s.hope(stallTime) {
				return out, fmt.Errorf("io_submit: %w: %w", errStalled, unix.EAGAIN)
			}
			continue
		}
		n, errno := e.getEvents(min(need, e.flying), len(e.events))
		if errno != 0 && errno != unix.EINTR {
			return out, fmt.Errorf("io_getevents: %w", errno)
		}
		for i := range e.events[:n] {
			o := &e.ops[e.events[i].data]
			o.res = int(e.events[i].res)
			out = append(out, o)
		}
		e.flying -= n
		s = stall{}
		if len(out) >= least {
			return out, nil
		}
	}
}

// getEvents waits for need events and takes up to most of them. With need 0
// it does not wait.
func (e *linuxAIO) getEvents(need, most int) (int, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, e.ctx, uintptr(need), uintptr(most),
		uintptr(unsafe.Pointer(&e.events[0])), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func (e *linuxAIO) close() error {
	if _, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, e.ctx, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
