package aio

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

func (e *uring) commit() error {
	_, err := e.run(0, false, nil)
	return err
}

func (e *uring) reap(least int, out []*op) ([]*op, error) {
	return e.run(least, true, out)
}

// run submits what is queued and, when collecting, appends completions to out
// until there are least of them. One system call does both whenever the
// kernel is not short of resources. What it has none for stays queued.
func (e *uring) run(least int, collect bool, out []*op) ([]*op, error) {
	atomic.StoreUint32(e.sqTail, e.tail)
	polled := true
	if collect {
		out = e.drain(out)
		polled = len(out) > 0
	}
	for s := (stall{}); ; {
		send, need := e.unsent(), max(0, least-len(out))
		if need == 0 && send == 0 && polled {
			return out, nil
		}
		n, errno := e.enter(send, need)
		e.flying += n
		polled = true
		if collect {
			out = e.drain(out)
		}
		switch errno {
		case 0, unix.EINTR:
			s = stall{}
			continue
		case unix.EAGAIN, unix.EBUSY:
		default:
			return out, e.broken(errno)
		}
		// Out of resources for a submission. Our own completions give some
		// back; without any, only time does.
		had := len(out)
		if e.flying > 0 && had < least {
			if _, errno = e.enter(0, 1); errno != 0 && errno != unix.EINTR && errno != unix.EBUSY && errno != unix.EAGAIN {
				return out, e.broken(errno)
			}
			out = e.drain(out)
		}
		switch {
		case len(out) >= least:
			return out, nil
		case len(out) > had || errno == 0 || errno == unix.EINTR:
			s = stall{} // it has moved, or waited
		case !s.hope(stallTime):
			return out, fmt.Errorf("io_uring_enter: %w: %w", errStalled, errno)
		}
	}
}

func (e *uring) broken(errno unix.Errno) error {
	if errno == unix.EEXIST {
		return fmt.Errorf("io_uring_enter: %w (used from another goroutine than the one that opened it)", errno)
	}
	return fmt.Errorf("io_uring_enter: %w", errno)
}

// enter submits send SQEs and waits for need completions, and says how many
// SQEs the kernel took. Completions that overflowed their ring, and those the
// kernel defers, are only delivered to someone who asks for events, so it
// always asks.
func (e *uring) enter(send, need int) (int, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(e.fd), uintptr(send), uintptr(need),
		uringEnterGetEvents, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// drain appends the completions that are there to out.
func (e *uring) drain(out []*op) []*op {
	for {
		head, tail := *e.cqHead, atomic.LoadUint32(e.cqTail)
		for ; head != tail; head++ {
			c := &e.cqes[head&uint32(len(e.cqes)-1)]
			o := &e.ops[c.userData]
			o.res = int(c.res)
			out = append(out, o)
			e.flying--
		}
		atomic.StoreUint32(e.cqHead, head)
		// Cannot be: there are twice as many CQEs as requests. If it is, the
		// kernel holds the rest back until asked.
		if atomic.LoadUint32(e.sqFlags)&uringSQCQOverflow == 0 {
			return out
		}
		if _, errno := e.enter(0, 0); errno != 0 && errno != unix.EINTR {
			return out
		}
	}
}
