package delwri

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Buffer is a piece of memory and where it goes.
type Buffer struct {
	Off   int64 // bytes from the start of the device
	Data  []byte
	Place Place
}

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
	Device      string // for error messages
	MaxRequest  int    // bytes, rounded down to a multiple of 4096 but not to 0; 0 for DefaultMaxRequest
	MemoryLimit int64  // bytes queued at which Full says so; 0 for none
}

// List is a delayed write list. The package comment is its contract.
type List struct {
	w   Writer
	cfg Config

	queue  []entry // not issued
	sorted bool    // queue is ascending without duplicates
	tidyAt int     // length at which an unsorted queue is tidied
	bytes  int64   // queued, duplicates counted until they are found
	now    int64   // ticks

	issued  []entry // ascending; from Issue to Wait
	waiting bool    // between Issue and Wait
	flying  int     // requests the Writer has
	err     error   // the first, as a *WriteError
	idle    []*request

	// The request being put together.
	off  int64
	size int
	vec  [][]byte

	stats Stats
}

// Stats counts what a List has done.
type Stats struct {
	Buffers  int64 // added
	Requests int64 // taken by the Writer, after merging
	Pieces   int64 // pieces of memory in them
	Bytes    int64 // in them
}

type entry struct {
	Buffer
	born     int64 // tick at which it was first queued
	seq      int   // order of addition, set for sorting
	promoted bool
}

func (e *entry) end() int64 { return e.Off + int64(len(e.Data)) }

// NewList returns an empty list over w.
func NewList(w Writer, cfg Config) *List {
	if cfg.MaxRequest <= 0 {
		cfg.MaxRequest = DefaultMaxRequest
	}
	cfg.MaxRequest = max(alignment, cfg.MaxRequest/alignment*alignment)
	return &List{w: w, cfg: cfg, sorted: true, tidyAt: minTidy, vec: make([][]byte, 0, MaxPieces)}
}

// Add queues b, or replaces the queued buffer at the same place. It is cheap
// when buffers come in ascending order.
func (l *List) Add(b Buffer) {
	if l.waiting {
		panic("delwri: Add between Issue and Wait")
	}
	if len(b.Data) == 0 || b.Off < 0 || b.Off > math.MaxInt64-int64(len(b.Data)) {
		panic(fmt.Sprintf("delwri: %v: %d bytes at byte %d", b.Place, len(b.Data), b.Off))
	}
	l.stats.Buffers++
	if n := len(l.queue); n > 0 && l.sorted {
		if last := &l.queue[n-1]; b.Off < last.end() {
			if b.Off == last.Off && len(b.Data) == len(last.Data) {
				last.Buffer = b
				return
			}
			l.sorted = false
		}
	}
	l.queue = append(l.queue, entry{Buffer: b, born: l.now})
	l.bytes += int64(len(b.Data))
	// A buffer that is added over and over must not grow the queue for ever.
	if !l.sorted && len(l.queue) >= l.tidyAt {
		l.tidy()
		l.tidyAt = max(minTidy, 2*len(l.queue))
	}
}

const minTidy = 4096

// Full says whether as much is queued as Config.MemoryLimit allows.
func (l *List) Full() bool {
	if l.cfg.MemoryLimit <= 0 || l.bytes < l.cfg.MemoryLimit {
		return false
	}
	l.tidy() // some of it may be duplicates
	return l.bytes >= l.cfg.MemoryLimit
}

// Promote makes the next IssueAged write the buffer queued at byte off,
// whatever its age. If there is none nothing happens: it has been written.
func (l *List) Promote(off int64) {
	l.tidy()
	i := sort.Search(len(l.queue), func(i int) bool { return l.queue[i].Off >= off })
	if i < len(l.queue) && l.queue[i].Off == off {
		l.queue[i].promoted = true
	}
}

// Tick makes every queued buffer one tick older.
func (l *List) Tick() { l.now++ }

// Stats returns the counts so far.
func (l *List) Stats() Stats { return l.stats }

// tidy sorts the queue and drops all but the last of each duplicate.
func (l *List) tidy() {
	if l.sorted {
		return
	}
	for i := range l.queue {
		l.queue[i].seq = i
	}
	slices.SortFunc(l.queue, func(a, b entry) int {
		if c := cmp.Compare(a.Off, b.Off); c != 0 {
			return c
		}
		return cmp.Compare(a.seq, b.seq)
	})
	kept := l.queue[:1]
	for i := 1; i < len(l.queue); i++ {
		e, last := &l.queue[i], &kept[len(kept)-1]
		switch {
		case e.Off >= last.end():
			kept = append(kept, *e)
		case e.Off == last.Off && len(e.Data) == len(last.Data):
			l.bytes -= int64(len(e.Data))
			last.Buffer = e.Buffer // and the age and promotion of the first
		default:
			panic(fmt.Sprintf("delwri: %v (bytes %d to %d) overlaps %v (bytes %d to %d)",
				e.Place, e.Off, e.end(), last.Place, last.Off, last.end()))
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	l.sorted = true
}
