package delwri

import "fmt"

// Issue hands everything queued to the Writer. It returns when the Writer has
// it all, not when it is written, or at the first error. Either way Wait must
// follow, and returns the same error again.
func (l *List) Issue() error {
	l.begin()
	l.queue, l.issued = l.issued, l.queue
	l.bytes = 0
	return l.issue()
}

// IssueAged is Issue for buffers that have been queued for at least age ticks
// and for promoted ones. The rest stays queued.
func (l *List) IssueAged(age int64) error {
	l.begin()
	kept := l.queue[:0]
	for _, e := range l.queue {
		if e.promoted || l.now-e.born >= age {
			l.issued = append(l.issued, e)
			l.bytes -= int64(len(e.Data))
		} else {
			kept = append(kept, e)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	return l.issue()
}

// Submit is Issue and Wait.
func (l *List) Submit() error {
	l.Issue() // Wait returns its error
	return l.Wait()
}

// Wait waits until everything issued is written and returns the first error,
// a *WriteError.
func (l *List) Wait() error {
	if !l.waiting {
		return nil
	}
	for idle := 0; l.flying > 0; {
		before := l.flying
		err := l.w.Reap(l.flying)
		// The Writer may have waited for another list's requests instead, but
		// it has only so many.
		if idle++; l.flying < before {
			idle = 0
		} else if idle > maxIdle {
			panic(fmt.Sprintf("delwri: the Writer does not complete %d requests (%v)", before, err))
		}
		// Our own errors have come through done. One that has not is another
		// list's or a reader's, but a Writer that has failed is nothing to
		// report success over.
		if err != nil {
			l.fail(-1, err)
		}
	}
	err := l.err
	if err != nil {
		clear(l.queue)
		l.queue, l.bytes, l.sorted = l.queue[:0], 0, true
	}
	clear(l.issued)
	l.issued, l.waiting, l.err = l.issued[:0], false, nil
	return err
}

// maxIdle is far more than the depth of any Writer.
const maxIdle = 1 << 16

// begin opens a batch; issued is empty.
func (l *List) begin() {
	if l.waiting {
		panic("delwri: Issue without a Wait for the one before")
	}
	l.tidy()
	l.waiting = true
}

// issue cuts what is issued into requests.
func (l *List) issue() error {
	for i := range l.issued {
		b := &l.issued[i].Buffer
		for off, data := b.Off, b.Data; len(data) > 0; {
			n := min(len(data), l.cfg.MaxRequest)
			if !l.extend(off, data[:n]) {
				if l.send(); l.err != nil {
					return l.err
				}
				l.off, l.size = off, n
				l.vec = append(l.vec, data[:n])
			}
			off, data = off+int64(n), data[n:]
		}
	}
	l.send()
	return l.err
}

// extend adds data to the request being put together, if it belongs there.
func (l *List) extend(off int64, data []byte) bool {
	if len(l.vec) == 0 || off != l.off+int64(l.size) || l.size+len(data) > l.cfg.MaxRequest {
		return false
	}
	last := &l.vec[len(l.vec)-1]
	switch {
	case follows(*last, data):
		*last = (*last)[:len(*last)+len(data)]
	case len(l.vec) < MaxPieces:
		l.vec = append(l.vec, data)
	default:
		return false
	}
	l.size += len(data)
	return true
}

// follows says whether b begins where a ends, in the same allocation: a's
// capacity must reach over b.
func follows(a, b []byte) bool {
	return cap(a)-len(a) >= len(b) && &a[:len(a)+1][len(a)] == &b[0]
}

// send hands the request to the Writer.
func (l *List) send() {
	if len(l.vec) == 0 {
		return
	}
	r := l.request(l.off)
	l.flying++
	if err := l.w.Write(l.off, l.vec, r.done); err != nil {
		l.flying--
		l.idle = append(l.idle, r)
		l.fail(l.off, err)
	} else {
		l.stats.Requests++
		l.stats.Pieces += int64(len(l.vec))
		l.stats.Bytes += int64(l.size)
	}
	clear(l.vec)
	l.vec = l.vec[:0]
}

// request is one that the Writer has. They are recycled, together with the
// function value that the Writer calls.
type request struct {
	list *List
	off  int64
	done func(error)
}

func (l *List) request(off int64) *request {
	if n := len(l.idle); n > 0 {
		r := l.idle[n-1]
		l.idle = l.idle[:n-1]
		r.off = off
		return r
	}
	r := &request{list: l, off: off}
	r.done = r.complete
	return r
}

func (r *request) complete(err error) {
	l := r.list
	l.flying--
	l.idle = append(l.idle, r)
	if err != nil {
		l.fail(r.off, err)
	}
}
