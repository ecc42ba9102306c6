package aio

import (
	"math"

	"golang.org/x/sys/unix"
)

// Ring keeps requests in flight. The package comment is its contract.
//
// A request is in one of these places, and moves down, or back up for the
// rest of a short transfer or for a retry:
//
//	free     no request
//	waiting  taken, to be given to the engine
//	engine   counted by engaged
//	ready    finished, done not yet run
type Ring struct {
	eng   engine
	base  int64 // added to all offsets
	fsync func() error
	// direct says that the file was opened for direct IO, which dropDirect ends.
	direct     bool
	dropDirect func() error
	batch      int // how many requests to gather before commit and to reap when full
	// alone is a sync engine that is to have a helper, when helpFrom bytes have been transferred.
	alone    *syncEngine
	helpFrom int64

	ops      []op  // slots
	free     []*op // empty slots, a stack
	waiting  fifo
	engaged  int
	ready    fifo
	inflight int // waiting + engaged + ready
	reaped   []*op

	err     error // the first hard error
	running bool  // a done function is running
	closed  bool

	stats    Stats
	depthSum int64
	starts   int64
}

// Stats counts what a Ring has done.
type Stats struct {
	Depth         int   // most requests that can be in flight
	Reads, Writes int64 // requests taken
	Bytes         int64 // transferred
	PeakDepth     int   // most requests the engine had at once
	// AverageDepth is weighted by submission: the mean, over all requests
	// given to the engine (again, if short or retried), of how many it had
	// with that one. Not time weighted: a pause does not show.
	AverageDepth float64
	Retries      int64 // EINTR and EAGAIN
	Short        int64 // short transfers continued
	Buffered     bool  // direct IO was refused on the way and given up
}

func newRing(depth int) *Ring {
	r := &Ring{}
	r.slots(depth)
	return r
}

// slots makes room for so many requests in flight. There are none.
func (r *Ring) slots(depth int) {
	r.batch = max(1, depth/16)
	r.ops, r.free = make([]op, depth), make([]*op, depth)
	r.waiting, r.ready = fifo{ops: make([]*op, depth)}, fifo{ops: make([]*op, depth)}
	r.reaped = make([]*op, 0, depth)
	for i := range r.ops {
		r.ops[i].slot = i
		r.free[depth-1-i] = &r.ops[i]
	}
}

// Engine returns the name of the engine in use.
func (r *Ring) Engine() string { return r.eng.name() }

// Stats returns the counts so far.
func (r *Ring) Stats() Stats {
	s := r.stats
	s.Depth = len(r.ops)
	if r.starts > 0 {
		s.AverageDepth = float64(r.depthSum) / float64(r.starts)
	}
	return s
}

// Write takes a request to write vec, consecutive pieces of memory, at byte
// off. If the ring is full it first reaps, and done functions of earlier
// requests run. done runs exactly once, inside a later call, with nil or an
// *Error. An error from Write means that the request was not taken and done
// will not run: it is the first error of the Ring, or an *Error around EINVAL
// for a request outside of the limits, which does not stop the Ring, or
// ErrClosed. done may
// be nil; then only the Ring's first error tells of a failure.
func (r *Ring) Write(off int64, vec [][]byte, done func(error)) error {
	return r.take(false, off, vec, done)
}

// Read takes a request to fill vec from byte off; otherwise it is like Write.
// If the file ends before vec is full the request fails with
// io.ErrUnexpectedEOF.
func (r *Ring) Read(off int64, vec [][]byte, done func(error)) error {
	return r.take(true, off, vec, done)
}

func (r *Ring) take(read bool, off int64, vec [][]byte, done func(error)) error {
	r.enter()
	r.dispatch()
	if r.alone != nil {
		r.help()
	}
	if len(r.free) == 0 && r.err == nil && !r.closed {
		r.wait(r.batch)
	}
	if r.closed {
		return ErrClosed
	}
	if r.err != nil {
		return r.err
	}
	size := 0
	for _, p := range vec {
		size += len(p)
	}
	if off < 0 || off > math.MaxInt64-r.base-int64(size) || size <= 0 || size > MaxRequest || len(vec) > MaxPieces {
		return &Error{Op: (&op{read: read}).opName(), Off: off, Err: unix.EINVAL}
	}

	o := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	o.fill(read, r.base+off, vec, size, done)
	if read {
		r.stats.Reads++
	} else {
		r.stats.Writes++
	}
	r.inflight++
	r.waiting.push(o)
	if r.waiting.n >= r.batch {
		r.start()
		r.commit()
	}
	return nil
}

// Reap pushes waiting requests to the kernel and waits until at least min
// requests have completed since it was called, or all that are in flight if
// those are fewer, and runs their done functions. It returns the first error
// of the Ring, whichever request it was; even then it has waited.
func (r *Ring) Reap(min int) error {
	r.enter()
	if r.closed {
		return ErrClosed
	}
	r.wait(min)
	return r.err
}

// Sync waits for all that is in flight and flushes the file. It returns the
// first error of the Ring, without a flush if there was one before.
func (r *Ring) Sync() error {
	r.enter()
	if r.closed {
		return ErrClosed
	}
	r.wait(r.inflight)
	if r.err != nil {
		return r.err
	}
	if err := r.fsync(); err != nil {
		r.err = &Error{Op: "fsync", Off: -1, Err: err}
	}
	return r.err
}

// Close waits for all that is in flight, running the done functions, releases
// the engine and returns the first error of the Ring. It does not flush, and
// does not close the file. Closing again is harmless and returns the same.
func (r *Ring) Close() error {
	if r.closed {
		return r.err
	}
	r.wait(r.inflight)
	r.closed = true
	if err := r.eng.close(); err != nil && r.err == nil {
		r.err = &Error{Op: "close", Off: -1, Err: err}
	}
	return r.err
}

func (r *Ring) enter() {
	if r.running {
		panic("aio: ring used from a completion")
	}
}
