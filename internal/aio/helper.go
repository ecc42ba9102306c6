package aio

import "sync"

// helper is a goroutine that carries out the requests of a syncEngine one after the
// other, in their order, while the caller of the Ring goes on. One is enough: writes
// to a file wait for each other in the kernel.
type helper struct {
	fd int

	mu       sync.Mutex
	work     sync.Cond // for the helper: something is queued, or it is to stop
	enough   sync.Cond // for the Ring: wanted requests are finished
	queue    []*op
	finished []*op
	left     int // queued or being carried out
	wanted   int
	stopped  bool
}

func startHelper(fd int) *helper {
	h := &helper{fd: fd}
	h.work.L, h.enough.L = &h.mu, &h.mu
	go h.run()
	return h
}

// add queues a request.
func (h *helper) add(o *op) {
	h.mu.Lock()
	h.queue = append(h.queue, o)
	h.left++
	if len(h.queue) == 1 {
		h.work.Signal()
	}
	h.mu.Unlock()
}

// reap appends what is finished to out. If less is than asked for it waits, and for half of
// what is left then rather than for one, as waiting costs more than a request may.
func (h *helper) reap(least int, out []*op) []*op {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.finished) < least {
		h.wanted = max(least, len(h.finished)+h.left/2)
		for len(h.finished) < h.wanted {
			h.enough.Wait()
		}
		h.wanted = 0
	}
	out = append(out, h.finished...)
	clear(h.finished)
	h.finished = h.finished[:0]
	return out
}

// stop ends the helper, which has nothing to do.
func (h *helper) stop() {
	h.mu.Lock()
	h.stopped = true
	h.work.Signal()
	h.mu.Unlock()
}

func (h *helper) run() {
	var list []*op
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		for len(h.queue) == 0 {
			if h.stopped {
				return
			}
			h.work.Wait()
		}
		list, h.queue = h.queue, list[:0]
		for i, o := range list {
			h.mu.Unlock()
			o.transfer(h.fd)
			h.mu.Lock()
			list[i] = nil
			h.left--
			h.finished = append(h.finished, o)
			if len(h.finished) == h.wanted {
				h.enough.Signal()
			}
		}
	}
}
