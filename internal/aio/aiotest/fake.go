// Package aiotest has an engine for tests: it fails, hesitates and changes the order of
// requests as a seed says.
package aiotest

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"

	"mkfs/internal/aio"

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
	Depth int // as aio.Config.Depth

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

// Open makes a Ring for tests over store. What happens, and in which
// order, follows from the seed and the calls alone.
//
// The fake moves data when a request completes, not when it is queued, and
// panics if a write's memory has changed in between: that is a caller that
// used a buffer again before it was reaped. It also panics if it is given a
// request after it has reported a hard error.
func Open(store Store, seed uint64, f Faults) (*aio.Ring, error) {
	depth := f.Depth
	if depth == 0 {
		depth = aio.DefaultDepth
	}
	if f.Errno == 0 {
		f.Errno = unix.EIO
	}
	e := &fakeEngine{
		store: store,
		f:     f,
		rand:  rand.New(rand.NewPCG(seed, 0)),
		sums:  make([]uint64, max(0, depth)),
		doom:  make([]bool, max(0, depth)),
		seed:  maphash.MakeSeed(),
	}
	return aio.OpenCustom(e, depth, f.NoDirect > 0)
}

// fakeEngine is the engine of Open.
type fakeEngine struct {
	store  Store
	f      Faults
	rand   *rand.Rand
	queued []aio.Request
	flying []aio.Request
	sums   []uint64 // by slot: checksum of the memory when queued
	doom   []bool   // by slot: this request fails
	seed   maphash.Seed

	writes, reads, syncs int
	failed               bool
	buffered             bool
}

func (e *fakeEngine) Name() string { return "fake" }

// Buffered notes that direct IO is given up.
func (e *fakeEngine) Buffered() { e.buffered = true }

func (e *fakeEngine) chance(percent int) bool {
	return percent > 0 && e.rand.IntN(100) < percent
}

func (e *fakeEngine) Queue(o aio.Request) aio.Answer {
	if e.failed {
		panic("aiotest: request started after a hard error")
	}
	if len(e.queued)+len(e.flying) > 0 && e.chance(e.f.Busy) {
		return aio.Busy
	}
	if o.Fresh() {
		count, fail := &e.writes, e.f.FailWrite
		if o.Reads() {
			count, fail = &e.reads, e.f.FailRead
		}
		*count++
		e.doom[o.Slot()] = *count == fail
	}
	e.sums[o.Slot()] = e.sum(o)
	if e.chance(e.f.Now) {
		e.carryOut(o)
		return aio.Done
	}
	e.queued = append(e.queued, o)
	return aio.Queued
}

// commit pushes some or all: partial submission.
func (e *fakeEngine) Commit() error {
	n := len(e.queued)
	if n > 0 && e.chance(e.f.Busy) {
		n = e.rand.IntN(n)
	}
	e.flying = append(e.flying, e.queued[:n]...)
	e.queued = e.queued[:copy(e.queued, e.queued[n:])]
	return nil
}

func (e *fakeEngine) Reap(least int, out []aio.Request) ([]aio.Request, error) {
	for e.Commit(); len(e.flying) < least; {
		e.Commit()
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

func (e *fakeEngine) Close() error {
	if n := len(e.queued) + len(e.flying); n > 0 {
		panic(fmt.Sprintf("aiotest: closed with %d requests in flight", n))
	}
	return nil
}

func (e *fakeEngine) Sync() error {
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
func (e *fakeEngine) carryOut(o aio.Request) {
	if !o.Reads() && e.sum(o) != e.sums[o.Slot()] {
		panic(fmt.Sprintf("aiotest: memory of the write at byte %d changed before it completed", o.Offset()))
	}
	if e.f.NoDirect > 0 && e.writes+e.reads >= e.f.NoDirect && !e.buffered {
		o.End(-int(unix.EINVAL))
		return
	}
	if !e.doom[o.Slot()] && e.chance(e.f.Retry) {
		o.End(-int([]unix.Errno{unix.EINTR, unix.EAGAIN}[e.rand.IntN(2)]))
		return
	}
	res := e.result(o)
	o.End(res)
	e.failed = e.failed || res <= 0
}

// result transfers what the seed and the faults grant.
func (e *fakeEngine) result(o aio.Request) int {
	if e.doom[o.Slot()] {
		if !o.Reads() {
			e.move(o, e.rand.IntN(o.Len()+1))
		}
		return -int(e.f.Errno)
	}
	n := o.Len()
	if e.chance(e.f.Short) {
		n = 1 + e.rand.IntN(n)
	}
	if end := o.Offset() + int64(n); o.Offset() < e.f.BadTo && end > e.f.BadFrom {
		n = int(max(0, e.f.BadFrom-o.Offset()))
	}
	if n == 0 {
		return -int(e.f.Errno)
	}
	return e.move(o, n)
}

// move transfers the first n bytes of o and returns a result as the kernel
// would.
func (e *fakeEngine) move(o aio.Request, n int) int {
	moved := 0
	for p := range o.Memory {
		p = p[:min(len(p), n-moved)]
		var m int
		var err error
		if o.Reads() {
			m, err = e.store.ReadAt(p, o.Offset()+int64(moved))
		} else {
			m, err = e.store.WriteAt(p, o.Offset()+int64(moved))
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

func (e *fakeEngine) sum(o aio.Request) uint64 {
	if o.Reads() {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(e.seed)
	for p := range o.Memory {
		h.Write(p)
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
