package aio

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// Store is what a fake ring reads and writes; *os.File and *Mem are Stores. A
// Store that has a Sync method is flushed by Ring.Sync. A Store that fails
// after part of a transfer should say how much it did, or the error's offset
// is too low; os.File does not.
type Store interface {
	io.ReaderAt
	io.WriterAt
}

// Faults says what goes wrong in a fake ring. The zero value means nothing
// does: requests then complete out of order, and that is all.
//
// Requests and flushes count from 1, 0 is never; a request continued or
// retried is not counted again. A failed write may have written any part of
// its data, as on a real device.
type Faults struct {
	Depth int // as Config.Depth

	FailWrite int        // this write fails
	FailRead  int        // this read fails
	FailSync  int        // this flush fails
	Errno     unix.Errno // what they fail with, 0 for EIO

	// No transfer gets past byte BadFrom into [BadFrom, BadTo), a bad spot of
	// the device: what is before it goes through, the rest fails with Errno.
	BadFrom, BadTo int64

	// NoDirect counts requests too: from this one on they fail with EINVAL, as
	// direct IO does that a file takes only in part, until the Ring gives it up.
	NoDirect int

	Short int // percent of transfers that stop early
	Retry int // percent of transfers that fail with EINTR or EAGAIN
	Busy  int // percent of requests refused at first for lack of room
	Now   int // percent of requests carried out as soon as they are queued
}

// OpenFake makes a Ring for tests over store. What happens, and in which
// order, follows from the seed and the calls alone.
//
// The fake moves data when a request completes, not when it is queued, and
// panics if a write's memory has changed in between: that is a caller that
// used a buffer again before it was reaped. It also panics if it is given a
// request after it has reported a hard error.
func OpenFake(store Store, seed uint64, f Faults) (*Ring, error) {
	depth := f.Depth
	if depth == 0 {
		depth = DefaultDepth
	}
	if depth < 1 || depth > MaxDepth {
		return nil, fmt.Errorf("IO depth %d: must be 1 to %d", f.Depth, MaxDepth)
	}
	if f.Errno == 0 {
		f.Errno = unix.EIO
	}
	r := newRing(depth)
	e := &fakeEngine{
		store: store,
		f:     f,
		rand:  rand.New(rand.NewPCG(seed, 0)),
		sums:  make([]uint64, depth),
		doom:  make([]bool, depth),
		seed:  maphash.MakeSeed(),
	}
	r.eng, r.fsync = e, e.sync
	if f.NoDirect > 0 {
		r.direct = true
		r.dropDirect = func() error { e.buffered = true; return nil }
	}
	return r, nil
}

// fakeEngine is the engine of OpenFake.
type fakeEngine struct {
	store  Store
	f      Faults
	rand   *rand.Rand
	queued []*op
	flying []*op
	sums   []uint64 // by slot: checksum of the memory when queued
	doom   []bool   // by slot: this request fails
	seed   maphash.Seed

	writes, reads, syncs int
	failed               bool
	buffered             bool
}

func (e *fakeEngine) name() string { return "fake" }

func (e *fakeEngine) chance(percent int) bool {
	return percent > 0 && e.rand.IntN(100) < percent
}

func (e *fakeEngine) queue(o *op) status {
	if e.failed {
		panic("aio: request started after a hard error")
	}
	if len(e.queued)+len(e.flying) > 0 && e.chance(e.f.Busy) {
		return busy
	}
	if o.fresh {
		count, fail := &e.writes, e.f.FailWrite
		if o.read {
			count, fail = &e.reads, e.f.FailRead
		}
		*count++
		e.doom[o.slot] = *count == fail
	}
	e.sums[o.slot] = e.sum(o)
	if e.chance(e.f.Now) {
		e.carryOut(o)
		return done
	}
	e.queued = append(e.queued, o)
	return queued
}

// commit pushes some or all: partial submission.
func (e *fakeEngine) commit() error {
	n := len(e.queued)
	if n > 0 && e.chance(e.f.Busy) {
		n = e.rand.IntN(n)
	}
	e.flying = append(e.flying, e.queued[:n]...)
	e.queued = e.queued[:copy(e.queued, e.queued[n:])]
	return nil
}

func (e *fakeEngine) reap(least int, out []*op) ([]*op, error) {
	for e.commit(); len(e.flying) < least; {
		e.commit()
	}
	n := least
	if more := len(e.flying) - least; more > 0 {
		n += e.rand.IntN(more + 1)
	}
	for range n {
		i, last := e.rand.IntN(len(e.flying)), len(e.flying)-1
		o := e.flying[i]
		e.flying[i] = e.flying[last]
		e.flying = e.flying[:last]
		e.carryOut(o)
		out = append(out, o)
	}
	return out, nil
}

func (e *fakeEngine) close() error {
	if n := len(e.queued) + len(e.flying); n > 0 {
		panic(fmt.Sprintf("aio: closed with %d requests in flight", n))
	}
	return nil
}

func (e *fakeEngine) sync() error {
	e.syncs++
	if e.syncs == e.f.FailSync {
		return e.f.Errno
	}
	if s, ok := e.store.(interface{ Sync() error }); ok {
		return s.Sync()
	}
	return nil
}

// carryOut does the transfer, or the part of it that the seed grants, and
// sets the result.
func (e *fakeEngine) carryOut(o *op) {
	if !o.read && e.sum(o) != e.sums[o.slot] {
		panic(fmt.Sprintf("aio: memory of the write at byte %d changed before it completed", o.off))
	}
	switch {
	case e.f.NoDirect > 0 && e.writes+e.reads >= e.f.NoDirect && !e.buffered:
		o.res = -int(unix.EINVAL)
		return
	case e.doom[o.slot]:
		if !o.read {
			e.move(o, e.rand.IntN(o.left+1))
		}
		o.res = -int(e.f.Errno)
	case e.chance(e.f.Retry):
		o.res = -int([]unix.Errno{unix.EINTR, unix.EAGAIN}[e.rand.IntN(2)])
		return
	default:
		n := o.left
		if e.chance(e.f.Short) {
			n = 1 + e.rand.IntN(n)
		}
		end := o.off + int64(n)
		if o.off < e.f.BadTo && end > e.f.BadFrom {
			n = int(max(0, e.f.BadFrom-o.off))
		}
		if n == 0 {
			o.res = -int(e.f.Errno)
		} else {
			o.res = e.move(o, n)
		}
	}
	e.failed = e.failed || o.res <= 0
}

// move transfers the first n bytes of o and returns a result as the kernel
// would.
func (e *fakeEngine) move(o *op, n int) int {
	moved := 0
	for _, v := range o.iov {
		p := iovecBytes(v)
		p = p[:min(len(p), n-moved)]
		var m int
		var err error
		if o.read {
			m, err = e.store.ReadAt(p, o.off+int64(moved))
		} else {
			m, err = e.store.WriteAt(p, o.off+int64(moved))
		}
		moved += m
		if err != nil {
			if moved > 0 || err == io.EOF {
				return moved
			}
			errno := unix.EIO
			errors.As(err, &errno)
			return -int(errno)
		}
		if moved == n {
			break
		}
	}
	return moved
}

func (e *fakeEngine) sum(o *op) uint64 {
	if o.read {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(e.seed)
	for _, v := range o.iov {
		h.Write(iovecBytes(v))
	}
	return h.Sum64()
}

// Mem is a Store in memory with a fixed size, like a device: a write past its
// end fails with ENOSPC, a read ends there.
type Mem struct{ B []byte }

// NewMem returns a Mem of size zeroed bytes.
func NewMem(size int) *Mem { return &Mem{make([]byte, size)} }

func (m *Mem) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m.B)) {
		return 0, io.EOF
	}
	n := copy(p, m.B[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *Mem) WriteAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m.B)) {
		return 0, unix.ENOSPC
	}
	n := copy(m.B[off:], p)
	if n < len(p) {
		return n, unix.ENOSPC
	}
	return n, nil
}
