package delwri

import (
	"fmt"
	"math"
)

// Buffer is a piece of memory and where it goes.
type Buffer struct {
	Off   int64 // bytes from the start of the device
	Data  []byte
	Place Place
	Owner any // for Config.Take

	list       *List // that it is queued on; nil for none
	prev, next *Buffer
	born       int64 // tick at which it was queued
	promoted   bool
}

func (b *Buffer) end() int64 { return b.Off + int64(len(b.Data)) }

// Queued tells whether the buffer waits to be written.
func (b *Buffer) Queued() bool { return b.list != nil }

// Writer is what a List needs below it.
type Writer interface {
	// Write takes vec, consecutive pieces of memory, to be written at byte
	// off. If it is full it waits for earlier requests first, so that their
	// done functions may run inside. done runs exactly once, on the caller's
	// goroutine, inside a later Write or Reap. vec may be reused at once; the
	// memory of its pieces belongs to the Writer until done runs. An error
	// means that the request was not taken and done will not run.
	Write(off int64, vec [][]byte, done func(error)) error
	// Reap pushes what was taken and waits until at least min requests in
	// flight have completed, fewer if fewer are, and runs their done
	// functions. It does so even if it returns an error.
	Reap(min int) error
}

// Limits of a request.
const (
	// DefaultMaxRequest is what Config.MaxRequest 0 means: beyond it devices
	// split requests themselves.
	DefaultMaxRequest = 1 << 20
	// MaxPieces is how many pieces a request may have (IOV_MAX).
	MaxPieces = 1024

	// A buffer larger than a request is cut at multiples of this from its
	// start, so that the cuts suit direct IO.
	alignment = 4096
)

// Config of a List. The zero value is good.
type Config struct {
	Device     string // for error messages
	MaxRequest int    // bytes, rounded down to a multiple of 4096 but not to 0; 0 for DefaultMaxRequest
	Age        int64  // ticks after which a buffer is due
	// Take is asked for each buffer, as it is issued, for the memory that is written:
	// as much as the buffer has. Nil leaves the buffer in the queue. If it wants no
	// more it returns false, which ends the batch before the buffer. Without Take
	// the buffer's own memory is written. It must not call the List.
	Take func(b *Buffer) (memory []byte, more bool)
}

// List is a delayed write list. The package comment is its contract.
type List struct {
	w   Writer
	cfg Config

	// The queue: those that were promoted, then all others in the order in which
	// they were first added. What is before young is due.
	queue  Buffer // before the first and behind the last
	young  *Buffer
	queued int64 // bytes
	due    int64
	now    int64 // ticks

	chosen []choice // for the batch that is being issued
	from   int64    // where the next batch begins

	batches []*batch // in flight, the oldest first
	retired int64    // how many were before those
	idle    []*batch
	flying  int   // requests that the Writer has
	err     error // the first, as a *WriteError

	request builder
	free    []*request

	stats Stats
}

// Stats counts what a List has done.
type Stats struct {
	Buffers  int64 // added
	Requests int64 // taken by the Writer, after merging
	Pieces   int64 // pieces of memory in them
	Bytes    int64 // in them
}

// NewList returns an empty list over w.
func NewList(w Writer, cfg Config) *List {
	if cfg.MaxRequest <= 0 {
		cfg.MaxRequest = DefaultMaxRequest
	}
	cfg.MaxRequest = max(alignment, cfg.MaxRequest/alignment*alignment)
	l := &List{w: w, cfg: cfg}
	l.queue.prev, l.queue.next, l.young = &l.queue, &l.queue, &l.queue
	l.request.vec = make([][]byte, 0, MaxPieces)
	return l
}

// Add queues b, unless it is queued already.
func (l *List) Add(b *Buffer) {
	l.stats.Buffers++
	if b.list == l {
		return
	}
	if b.list != nil || len(b.Data) == 0 || b.Off < 0 || b.Off > math.MaxInt64-int64(len(b.Data)) {
		panic(fmt.Sprintf("delwri: %v: %d bytes at byte %d", b.Place, len(b.Data), b.Off))
	}
	b.list, b.born, b.promoted = l, l.now, false
	b.link(l.queue.prev)
	l.queued += int64(len(b.Data))
	if l.old(b) {
		l.due += int64(len(b.Data))
	} else if l.young == &l.queue {
		l.young = b
	}
}

// Remove takes b off the queue, if it is there: what is in it is of no use any more.
// If an older content is in flight, that is written all the same.
func (l *List) Remove(b *Buffer) {
	if b.list != l {
		return
	}
	if l.old(b) {
		l.due -= int64(len(b.Data))
	}
	if l.young == b {
		l.young = b.next
	}
	l.queued -= int64(len(b.Data))
	b.unlink()
	b.list = nil
}

// Promote makes a queued buffer due, whatever its age.
func (l *List) Promote(b *Buffer) {
	if b.list != l || b.promoted {
		return
	}
	if !l.old(b) {
		l.due += int64(len(b.Data))
	}
	if l.young == b {
		l.young = b.next
	}
	b.unlink()
	b.promoted = true
	b.link(&l.queue)
}

// Tick makes every queued buffer one tick older.
func (l *List) Tick() {
	l.now++
	for l.young != &l.queue && l.old(l.young) {
		l.due += int64(len(l.young.Data))
		l.young = l.young.next
	}
}

// Queued is how many bytes wait to be written, and Due how many of them need not
// wait any longer.
func (l *List) Queued() int64 { return l.queued }
func (l *List) Due() int64    { return l.due }

// Stats returns the counts so far.
func (l *List) Stats() Stats { return l.stats }

// old tells whether a queued buffer is due.
func (l *List) old(b *Buffer) bool { return b.promoted || l.now-b.born >= l.cfg.Age }

// link puts b behind another in the queue.
func (b *Buffer) link(behind *Buffer) {
	b.prev, b.next = behind, behind.next
	b.prev.next, b.next.prev = b, b
}

func (b *Buffer) unlink() {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
}
