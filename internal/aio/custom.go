package aio

import "fmt"

// Custom is an engine from elsewhere. It carries out requests in whatever way and
// order it likes, and says how each ended; the Ring does the rest. [OpenCustom]
// makes a Ring of one; package aiotest has one for tests.
type Custom interface {
	Name() string
	// Queue takes a request, which stays as it is until it is reaped.
	Queue(Request) Answer
	// Commit starts some or all of what is queued.
	Commit() error
	// Reap starts what is queued, waits for at least min requests, and appends them to
	// out, each with its result. min is at most what was queued and not reaped.
	Reap(min int, out []Request) ([]Request, error)
	// Sync makes all that was written durable.
	Sync() error
	// Buffered is told that direct IO is given up.
	Buffered()
	Close() error
}

// Answer is what an engine says to a request.
type Answer int

const (
	Done   = Answer(done)   // carried out, with a result
	Queued = Answer(queued) // it comes back from Reap
	Busy   = Answer(busy)   // no room: the Ring reaps and asks again
)

// Request is a transfer, or what is left of one.
type Request struct{ op *op }

// Slot is less than the Ring's depth, and no other request in flight has it.
func (r Request) Slot() int { return r.op.slot }

// Reads tells whether it is a read; else it is a write.
func (r Request) Reads() bool { return r.op.read }

// Fresh tells whether an engine sees it for the first time: it is no rest, and
// was not retried.
func (r Request) Fresh() bool { return r.op.fresh }

// Offset is the byte that it begins at, Len how long it is.
func (r Request) Offset() int64 { return r.op.off }
func (r Request) Len() int      { return r.op.left }

// Memory calls f for each piece of memory, in order, until it returns false.
func (r Request) Memory(f func(p []byte) bool) {
	for _, v := range r.op.iov {
		if !f(iovecBytes(v)) {
			return
		}
	}
}

// End sets the result: bytes, or -errno.
func (r Request) End(result int) { r.op.res = result }

// OpenCustom makes a Ring over an engine. direct says that requests may fail with
// EINVAL until it is told that they are Buffered.
func OpenCustom(e Custom, depth int, direct bool) (*Ring, error) {
	if depth == 0 {
		depth = DefaultDepth
	}
	if depth < 1 || depth > MaxDepth {
		return nil, fmt.Errorf("IO depth %d: must be 1 to %d", depth, MaxDepth)
	}
	r := newRing(depth)
	r.eng, r.fsync = &custom{Custom: e}, e.Sync
	if direct {
		r.direct = true
		r.dropDirect = func() error { e.Buffered(); return nil }
	}
	return r, nil
}

// custom makes an engine of a Custom.
type custom struct {
	Custom
	reaped []Request
}

func (c *custom) name() string       { return c.Name() }
func (c *custom) queue(o *op) status { return status(c.Queue(Request{o})) }
func (c *custom) commit() error      { return c.Commit() }
func (c *custom) close() error       { return c.Close() }

func (c *custom) reap(min int, out []*op) ([]*op, error) {
	list, err := c.Reap(min, c.reaped[:0])
	for _, r := range list {
		out = append(out, r.op)
	}
	c.reaped = list
	return out, err
}
