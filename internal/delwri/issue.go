package delwri

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// choice is a queued buffer, with what it is sorted by.
type choice struct {
	off int64
	b   *Buffer
}

// Issue hands everything queued to the Writer, but for what is left as the package
// comment says. It returns when the Writer has it, not when it is written, or at
// the first error, which Wait returns again.
func (l *List) Issue() error { return l.issue(&l.queue) }

// IssueDue is Issue for the buffers that are due. The rest stays queued.
func (l *List) IssueDue() error { return l.issue(l.young) }

// Submit writes all that is queued, but for what Config.Take keeps back, and waits
// for it.
func (l *List) Submit() error {
	for {
		before, idle := l.queued, l.Done() == l.Issued()
		l.Issue() // Wait returns its error
		if err := l.Wait(); err != nil || l.queued == 0 || idle && l.queued == before {
			return err
		}
	}
}

// issue makes a batch of what is queued before an end, or two if the elevator
// comes from below on the way.
func (l *List) issue(end *Buffer) error {
	l.retire()
	if l.err != nil {
		return l.err
	}
	l.choose(end)
	if len(l.chosen) == 0 {
		return nil
	}
	first := sort.Search(len(l.chosen), func(i int) bool { return l.chosen[i].off >= l.from })
	if l.from = 0; l.batch(l.chosen[first:]) {
		l.batch(l.chosen[:first])
	}
	clear(l.chosen)
	return l.err
}

// batch makes one of buffers in ascending order, and tells whether it has come to
// their end.
func (l *List) batch(list []choice) bool {
	var t *batch
	for _, c := range list {
		if l.busy(c.b.Off, c.b.end()) {
			continue
		}
		memory, more := c.b.Data, true
		if l.cfg.Take != nil {
			memory, more = l.cfg.Take(c.b)
		}
		if !more {
			l.from = c.off
			break
		}
		if memory == nil {
			continue
		}
		if len(memory) != len(c.b.Data) {
			panic(fmt.Sprintf("delwri: %v: %d bytes taken of %d", c.b.Place, len(memory), len(c.b.Data)))
		}
		if t == nil {
			t = l.open()
		}
		t.spans = append(t.spans, span{c.b.Off, c.b.end(), c.b.Place})
		l.Remove(c.b)
		if l.write(t, c.off, memory); l.err != nil {
			break
		}
	}
	if t != nil {
		l.send(t)
		t.open = false
	}
	return l.err == nil && l.from == 0
}

// choose collects the buffers before an end, sorted.
func (l *List) choose(end *Buffer) {
	l.chosen = l.chosen[:0]
	sorted, last := true, int64(-1)
	for b := l.queue.next; b != end; b = b.next {
		l.chosen = append(l.chosen, choice{b.Off, b})
		sorted = sorted && b.Off > last
		last = b.Off
	}
	if !sorted {
		slices.SortFunc(l.chosen, func(a, b choice) int { return cmp.Compare(a.off, b.off) })
	}
	for i := 1; i < len(l.chosen); i++ {
		if a, b := l.chosen[i-1].b, l.chosen[i].b; a.end() > b.Off {
			panic(fmt.Sprintf("delwri: %v (bytes %d to %d) overlaps %v (bytes %d to %d)",
				b.Place, b.Off, b.end(), a.Place, a.Off, a.end()))
		}
	}
}

// builder is the request that is being put together.
type builder struct {
	off  int64
	size int
	vec  [][]byte
}

// write cuts the memory of a buffer into requests.
func (l *List) write(t *batch, off int64, data []byte) {
	for len(data) > 0 {
		n := min(len(data), l.cfg.MaxRequest)
		if !l.request.extend(off, data[:n], l.cfg.MaxRequest) {
			if l.send(t); l.err != nil {
				return
			}
			l.request.off, l.request.size = off, n
			l.request.vec = append(l.request.vec, data[:n])
		}
		off, data = off+int64(n), data[n:]
	}
}

// extend adds data to a request, if it belongs there.
func (r *builder) extend(off int64, data []byte, most int) bool {
	if len(r.vec) == 0 || off != r.off+int64(r.size) || r.size+len(data) > most {
		return false
	}
	last := &r.vec[len(r.vec)-1]
	switch {
	case follows(*last, data):
		*last = (*last)[:len(*last)+len(data)]
	case len(r.vec) < MaxPieces:
		r.vec = append(r.vec, data)
	default:
		return false
	}
	r.size += len(data)
	return true
}

// follows says whether b begins where a ends, in the same allocation: a's
// capacity must reach over b.
func follows(a, b []byte) bool {
	return cap(a)-len(a) >= len(b) && &a[:len(a)+1][len(a)] == &b[0]
}

// send hands the request to the Writer.
func (l *List) send(t *batch) {
	q := &l.request
	if len(q.vec) == 0 {
		return
	}
	if l.err == nil {
		r := l.newRequest(t, q.off)
		t.flying++
		l.flying++
		if err := l.w.Write(q.off, q.vec, r.done); err != nil {
			t.flying--
			l.flying--
			l.free = append(l.free, r)
			l.fail(q.off, err)
		} else {
			l.stats.Requests++
			l.stats.Pieces += int64(len(q.vec))
			l.stats.Bytes += int64(q.size)
		}
	}
	clear(q.vec)
	q.vec = q.vec[:0]
}

// request is one that the Writer has. They are recycled, together with the
// function value that the Writer calls.
type request struct {
	list  *List
	batch *batch
	off   int64
	done  func(error)
}

func (l *List) newRequest(t *batch, off int64) *request {
	if n := len(l.free); n > 0 {
		r := l.free[n-1]
		l.free = l.free[:n-1]
		r.batch, r.off = t, off
		return r
	}
	r := &request{list: l, batch: t, off: off}
	r.done = r.complete
	return r
}

func (r *request) complete(err error) {
	l := r.list
	r.batch.flying--
	l.flying--
	l.free = append(l.free, r)
	if err != nil {
		l.fail(r.off, err)
	}
}
