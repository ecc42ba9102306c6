package delwri

import (
	"fmt"
	"sort"
)

// batch is what an Issue has handed to the Writer.
type batch struct {
	spans  []span // ascending
	flying int    // requests that the Writer has
	open   bool   // there will be more
}

// span is a place that a batch writes to.
type span struct {
	off, end int64
	place    Place
}

// done tells whether the Writer has nothing of the batch any more.
func (t *batch) done() bool { return t.flying == 0 && !t.open }

// covers returns the span that ends behind a byte and begins before another, or nil.
func (t *batch) covers(off, end int64) *span {
	if n := len(t.spans); n == 0 || t.spans[n-1].end <= off || t.spans[0].off >= end {
		return nil
	}
	s := &t.spans[sort.Search(len(t.spans), func(i int) bool { return t.spans[i].end > off })]
	if s.off >= end {
		return nil
	}
	return s
}

// open begins a batch.
func (l *List) open() *batch {
	if len(l.idle) == 0 {
		l.idle = append(l.idle, new(batch))
	}
	n := len(l.idle) - 1
	t := l.idle[n]
	l.idle, t.open = l.idle[:n], true
	l.batches = append(l.batches, t)
	return t
}

// retire lets go of the oldest batches, as far as they are done.
func (l *List) retire() {
	n := 0
	for n < len(l.batches) && l.batches[n].done() {
		t := l.batches[n]
		t.spans = t.spans[:0]
		l.idle = append(l.idle, t)
		n++
	}
	if n > 0 {
		l.retired += int64(n)
		l.batches = append(l.batches[:0], l.batches[n:]...)
	}
}

// Issued is how many batches there have been.
func (l *List) Issued() int64 { return l.retired + int64(len(l.batches)) }

// Done is how many of them are done: the first that many.
func (l *List) Done() int64 {
	l.retire()
	return l.retired
}

// Flying tells whether any of n bytes at a place are being written.
func (l *List) Flying(off int64, n int) bool { return l.flying > 0 && l.busy(off, off+int64(n)) }

func (l *List) busy(off, end int64) bool {
	for _, t := range l.batches {
		if t.flying > 0 && !t.open && t.covers(off, end) != nil {
			return true
		}
	}
	return false
}

// Wait waits until all batches are done. If anything has failed it empties the
// queue, and returns the first error, a *WriteError.
func (l *List) Wait() error { return l.WaitFor(l.Issued()) }

// WaitFor is Wait for the first n batches; but if anything has failed, for all.
func (l *List) WaitFor(n int64) error {
	n = min(n, l.Issued())
	for l.err == nil {
		if l.retire(); l.retired >= n {
			return nil
		}
		l.reap(&l.batches[0].flying)
	}
	l.reap(&l.flying)
	l.retire()
	for l.queue.next != &l.queue {
		l.Remove(l.queue.next)
	}
	err := l.err
	l.err, l.from = nil, 0
	return err
}

// reap waits until a count of requests is 0.
func (l *List) reap(flying *int) {
	for idle := 0; *flying > 0; {
		before := l.flying
		err := l.w.Reap(*flying)
		// The Writer may have waited for somebody else's requests instead, but
		// it has only so many.
		if idle++; l.flying < before {
			idle = 0
		} else if idle > maxIdle {
			panic(fmt.Sprintf("delwri: the Writer does not complete %d requests (%v)", before, err))
		}
		// Our own errors have come through done. One that has not is a
		// reader's, but a Writer that has failed is nothing to report
		// success over.
		if err != nil {
			l.fail(-1, err)
		}
	}
}

// maxIdle is far more than the depth of any Writer.
const maxIdle = 1 << 16
