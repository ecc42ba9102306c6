package aio

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how often a request is retried at once. After that it waits for
// pause before each try, until it has made no progress for stallTime.
const patience = 8

// wait runs the done functions of at least n requests, fewer if fewer are
// in flight. It pushes what is waiting even if n is 0.
func (r *Ring) wait(n int) {
	n -= r.dispatch()
	for {
		r.start()
		r.collect(n - r.ready.n)
		n -= r.dispatch()
		if n <= 0 || r.inflight == 0 {
			return
		}
	}
}

// start gives what is waiting to the engine, without a commit.
func (r *Ring) start() {
	for r.waiting.n > 0 {
		o := r.waiting.front()
		if o.tries > patience {
			time.Sleep(pause)
		}
		st := r.eng.queue(o)
		if st == busy {
			r.collect(1)
			continue
		}
		r.waiting.pop()
		o.fresh, o.engaged = false, true
		r.engaged++
		r.starts++
		r.depthSum += int64(r.engaged)
		r.stats.PeakDepth = max(r.stats.PeakDepth, r.engaged)
		if st == done {
			r.settle(o)
		}
	}
}

func (r *Ring) commit() {
	if r.engaged == 0 {
		return
	}
	if err := r.eng.commit(); err != nil {
		r.abandon(err)
	}
}

// collect takes at least n results from the engine, or all it has to give if
// those are fewer. n <= 0 takes what is there.
func (r *Ring) collect(n int) {
	if r.engaged == 0 {
		return
	}
	var err error
	r.reaped, err = r.eng.reap(max(0, min(n, r.engaged)), r.reaped[:0])
	for _, o := range r.reaped {
		r.settle(o)
	}
	if err != nil {
		r.abandon(err)
	}
}

// settle decides what becomes of a request that the engine has returned.
func (r *Ring) settle(o *op) {
	o.engaged = false
	r.engaged--
	switch n := o.res; {
	case n < 0: // before any comparison with a length
		errno := unix.Errno(-n)
		if errno == unix.EINVAL && r.direct && !o.buffered && r.dropDirect() == nil {
			o.buffered = true
			r.stats.Buffered = true
			r.again(o)
			return
		}
		if errno != unix.EINTR && errno != unix.EAGAIN {
			r.finish(o, errno)
			return
		}
		if o.tries > patience && time.Since(o.stalled) > stallTime {
			r.finish(o, fmt.Errorf("%w: %w", errStalled, errno))
			return
		}
		if o.tries == 0 {
			o.stalled = time.Now()
		}
		o.tries++
		r.stats.Retries++
		r.again(o)
	case n == 0 && o.read:
		r.finish(o, io.ErrUnexpectedEOF)
	case n == 0:
		r.finish(o, io.ErrShortWrite)
	case n > o.left:
		r.finish(o, errOverrun)
	case n < o.left:
		o.advance(n)
		o.tries = 0
		r.stats.Bytes += int64(n)
		r.stats.Short++
		r.again(o)
	default:
		r.stats.Bytes += int64(n)
		r.finish(o, nil)
	}
}

// again puts a request that is not done yet back in line, unless the Ring has
// stopped.
func (r *Ring) again(o *op) {
	if r.err != nil {
		r.finish(o, ErrCanceled)
		return
	}
	r.waiting.push(o)
}

// finish makes a request ready. The first that fails stops the Ring.
func (r *Ring) finish(o *op, cause error) {
	r.ready.push(o)
	if cause == nil {
		return
	}
	o.err = &Error{Op: o.opName(), Off: o.off - r.base, Err: cause}
	if r.err == nil {
		r.stop(o.err)
	}
}

// stop records the first error and takes back what no engine has seen.
func (r *Ring) stop(err error) {
	r.err = err
	for r.waiting.n > 0 {
		r.finish(r.waiting.pop(), ErrCanceled)
	}
}

// dispatch runs the done functions of the requests that are ready and says
// how many it were. The slot is free before its function runs.
func (r *Ring) dispatch() int {
	n := r.ready.n
	for i := 0; i < n; i++ {
		o := r.ready.pop()
		fn, err := o.done, o.err
		r.inflight--
		if !o.lost {
			o.release()
			r.free = append(r.free, o)
		}
		if fn != nil {
			r.running = true
			fn(err)
			r.running = false
		}
	}
	return n
}

// abandoned keeps the memory of rings whose engine broke for ever: the kernel
// may still read from it or, worse, write to it.
var abandoned sync.Map

// abandon fails the requests of an engine that will never return them.
func (r *Ring) abandon(cause error) {
	abandoned.Store(r, true)
	if r.err == nil {
		r.stop(&Error{Op: "engine " + r.eng.name(), Off: -1, Err: cause})
	}
	for i := range r.ops {
		if o := &r.ops[i]; o.engaged {
			o.engaged, o.lost = false, true
			r.engaged--
			r.finish(o, cause)
		}
	}
}
