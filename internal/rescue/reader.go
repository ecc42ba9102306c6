package rescue

import (
	"fmt"

	"mkfs/internal/recovery"
)

// reader keeps reads of small blocks in flight.
type reader struct {
	dev      *recovery.Device
	memory   func(int) ([]byte, func() error, error)
	size     int // of the largest block
	slots    []*slot
	free     []*slot
	done     []*slot // read, and not yet looked at
	flying   int
	releases []func() error
}

// slot is the memory of one read.
type slot struct {
	buf  []byte
	off  int64  // of data on the device
	data []byte // what was asked for
	err  error
	of   any // what it is for
}

func newReader(dev *recovery.Device, opts *recovery.Options, depth int) *reader {
	r := &reader{dev: dev, memory: opts.Memory, size: maxBlock}
	for range max(1, depth) {
		r.free = append(r.free, &slot{})
	}
	r.slots = append(r.slots, r.free...)
	return r
}

// maxBlock is the largest block there is.
const maxBlock = 64 << 10

// room tells whether another read can be started.
func (r *reader) room() bool { return len(r.free) > 0 }

// start begins to read n bytes at off, widened to what the device can read.
func (r *reader) start(off int64, n int, of any) error {
	s := r.free[len(r.free)-1]
	if s.buf == nil {
		buf, release, err := r.memory(r.size + 2*max(1, r.dev.Align))
		if err != nil {
			return err
		}
		s.buf, r.releases = buf, append(r.releases, release)
	}
	align := int64(max(1, r.dev.Align))
	from, to := off&^(align-1), (off+int64(n)+align-1)&^(align-1)
	s.off, s.data, s.of, s.err = off, s.buf[off-from:][:n], of, nil
	err := r.dev.Ring.Read(from, [][]byte{s.buf[:to-from]}, func(err error) {
		s.err = err
		r.flying--
		r.done = append(r.done, s)
	})
	if err != nil {
		return fmt.Errorf("%s: reading %d bytes at byte %d: %w", r.dev.Name, n, off, err)
	}
	r.free = r.free[:len(r.free)-1]
	r.flying++
	return nil
}

// next waits for a read. What it returns must be given back.
func (r *reader) next() (*slot, error) {
	for len(r.done) == 0 {
		if err := r.dev.Ring.Reap(1); err != nil {
			return nil, fmt.Errorf("%s: %w", r.dev.Name, err)
		}
	}
	s := r.done[0]
	r.done = r.done[1:]
	if s.err != nil {
		return nil, fmt.Errorf("%s: %w", r.dev.Name, s.err)
	}
	return s, nil
}

func (r *reader) giveBack(s *slot) { r.free = append(r.free, s) }

// one reads a single block.
func (r *reader) one(off int64, n int) ([]byte, error) {
	if err := r.start(off, n, nil); err != nil {
		return nil, err
	}
	s, err := r.next()
	if err != nil {
		return nil, err
	}
	r.giveBack(s)
	return s.data, nil
}

// release waits for what is in flight and gives the memory back.
func (r *reader) release() {
	if r.flying > 0 {
		_ = r.dev.Ring.Reap(1 << 30) // what it fails with has been said
	}
	for _, f := range r.releases {
		_ = f() // nothing else can be done with it
	}
}
