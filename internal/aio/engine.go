package aio

import (
	"time"

	"golang.org/x/sys/unix"
)

// status is an engine's answer to a request.
type status int

const (
	done   status = iota // carried out, op.res holds the result
	queued               // the engine has it; it comes back from reap
	busy                 // no room: reap and ask again
)

// engine starts requests and reports raw results. It retries what concerns
// the submission (EINTR, EAGAIN, partial submission); the Ring does all that
// concerns the transfer.
type engine interface {
	// name is the Kind's name.
	name() string
	// queue takes o, which stays in place and unchanged until it is reaped.
	queue(o *op) status
	// commit pushes what is queued to the kernel. It may leave some behind
	// for the next commit or reap when the kernel is out of resources.
	commit() error
	// reap pushes what is queued, waits until at least min requests have
	// completed, sets their res and appends them to out, and more if more
	// are there. min is at most what was queued and not reaped. An error
	// means that the engine is broken and will never return the rest.
	reap(min int, out []*op) ([]*op, error)
	// close is called with nothing in flight, unless reap has failed.
	close() error
}

// op is a request and its slot in the Ring.
type op struct {
	slot  int // index in Ring.ops, an engine's cookie
	read  bool
	fresh bool         // not yet given to the engine
	off   int64        // byte in the file of the first byte not yet transferred
	left  int          // bytes not yet transferred
	iov   []unix.Iovec // what is not yet transferred; keeps the memory reachable
	all   []unix.Iovec // array under iov, kept for the slot's next request
	done  func(error)

	engaged  bool      // the engine has it
	lost     bool      // the engine broke while it had it; never used again
	tries    int       // retries since the last progress
	stalled  time.Time // when the first of them was
	buffered bool      // retried without direct IO
	res      int       // the engine's result: bytes, or -errno
	err      error     // the final result
}

// fill puts a new request into the slot. vec is copied.
func (o *op) fill(read bool, off int64, vec [][]byte, left int, done func(error)) {
	o.read, o.off, o.left, o.done = read, off, left, done
	o.fresh, o.buffered, o.tries, o.res, o.err = true, false, 0, 0, nil
	o.all = o.all[:0]
	for _, p := range vec {
		if len(p) == 0 {
			continue
		}
		v := unix.Iovec{Base: &p[0]}
		v.SetLen(len(p))
		o.all = append(o.all, v)
	}
	o.iov = o.all
}

// release lets go of the memory.
func (o *op) release() {
	clear(o.all)
	o.iov, o.done, o.err = nil, nil, nil
}

// advance moves the request past its first n bytes, n < left.
func (o *op) advance(n int) {
	o.off += int64(n)
	o.left -= n
	for n >= int(o.iov[0].Len) {
		n -= int(o.iov[0].Len)
		o.iov = o.iov[1:]
	}
	if n > 0 {
		o.iov[0] = iovecFrom(o.iov[0], n)
	}
}

func (o *op) opName() string {
	if o.read {
		return "read"
	}
	return "write"
}

// fifo is a queue of ops. An op is in at most one, so a capacity of the
// ring's depth is enough.
type fifo struct {
	ops     []*op
	head, n int
}

func (f *fifo) push(o *op) {
	if f.n == len(f.ops) {
		panic("aio: more requests than slots")
	}
	f.ops[(f.head+f.n)%len(f.ops)] = o
	f.n++
}

func (f *fifo) front() *op { return f.ops[f.head] }

func (f *fifo) pop() *op {
	o := f.ops[f.head]
	f.ops[f.head] = nil
	f.head = (f.head + 1) % len(f.ops)
	f.n--
	return o
}
