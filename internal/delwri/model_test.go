package delwri

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
)

// model is a Writer that follows the contract to the letter and is as
// unhelpful as it allows: it writes when a request completes, in any order,
// and asserts what a List owes it.
type model struct {
	disk  []byte
	depth int
	rnd   *rand.Rand
	held  []held
	log   []taken // every request taken, in order

	badByte int64 // a write fails at this byte; negative for none
	told    bool  // the list has been told of an error
	first   error
	count   int // done functions run
}

type taken struct{ off, end int64 }

type held struct {
	taken
	vec  [][]byte
	done func(error)
}

func newModel(size, depth int, seed uint64) *model {
	return &model{disk: make([]byte, size), depth: depth, rnd: rand.New(rand.NewPCG(seed, 0)), badByte: -1}
}

// offError carries its place as aio's does, wrapped by a stranger.
type offError struct {
	off int64
	err error
}

func (e *offError) Error() string { return fmt.Sprintf("model at %d: %v", e.off, e.err) }
func (e *offError) Unwrap() error { return e.err }
func (e *offError) Offset() int64 { return e.off }

func (m *model) Write(off int64, vec [][]byte, done func(error)) error {
	if m.told {
		panic("model: a request after an error")
	}
	if len(m.held) == m.depth {
		m.complete()
	}
	if m.first != nil {
		m.told = true
		return m.first
	}
	h := held{taken: taken{off, off}, done: done}
	for _, p := range vec {
		if len(p) == 0 {
			panic("model: empty piece")
		}
		h.end += int64(len(p))
		h.vec = append(h.vec, p)
	}
	for _, o := range m.held {
		if h.off < o.end && o.off < h.end {
			panic("model: overlapping requests in flight")
		}
	}
	m.held = append(m.held, h)
	m.log = append(m.log, h.taken)
	return nil
}

func (m *model) Reap(n int) error {
	for ; n > 0 && len(m.held) > 0; n-- {
		m.complete()
	}
	for len(m.held) > 0 && m.rnd.IntN(3) == 0 {
		m.complete()
	}
	return m.first
}

func (m *model) complete() {
	i, last := m.rnd.IntN(len(m.held)), len(m.held)-1
	h := m.held[i]
	m.held[i] = m.held[last]
	m.held = m.held[:last]
	var err error
	off := h.off
	for _, p := range h.vec {
		copy(m.disk[off:], p)
		off += int64(len(p))
	}
	if h.off <= m.badByte && m.badByte < h.end {
		err = fmt.Errorf("wrapped: %w", &offError{m.badByte, syscall.EIO})
		if m.first == nil {
			m.first = err
		}
		m.told = true
	}
	m.count++
	h.done(err)
}

// null is a Writer that does nothing, at once, keeping a few requests.
type null struct {
	done [64]func(error)
	n    int
}

func (w *null) Write(_ int64, _ [][]byte, done func(error)) error {
	if w.n == len(w.done) {
		w.Reap(w.n)
	}
	w.done[w.n] = done
	w.n++
	return nil
}

func (w *null) Reap(int) error {
	n := w.n
	w.n = 0
	for _, done := range w.done[:n] {
		done(nil)
	}
	return nil
}

// stuck is a Writer that breaks the contract: it never completes anything.
type stuck struct{}

func (stuck) Write(int64, [][]byte, func(error)) error { return nil }
func (stuck) Reap(int) error                           { return errors.New("stuck") }
