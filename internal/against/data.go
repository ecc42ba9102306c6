package against

import (
	"bytes"
	"errors"
	"fmt"
)

// Limits of what is in flight.
const (
	requests   = 64
	maxRequest = 128 << 10 // bytes
)

// data compares what is in blocks with what the source has. Requests are in a queue: the blocks are
// read while what the source has is put beside them, and when the first of them has come it is compared.
// Blocks that follow each other become one request, of many files where these are small.
type data struct {
	c       *comparer
	release func() error
	spare   []byte // for what is compared with holes
	ring    [requests]request
	first   int  // the oldest request
	count   int  // of requests
	growing bool // the newest is not given to the reader yet
	files   []*file
}

// request is blocks that follow each other.
type request struct {
	off    int64
	n      int    // bytes
	blocks []byte // as they are read
	source []byte // the same bytes as the source has them
	parts  []part
	vec    [1][]byte
	done   bool
	err    error
	came   func(error)
}

// part is the blocks of a file in a request, up to the end of the file.
type part struct {
	file  *file
	from  int64 // byte of the file
	at, n int   // in the request
}

// file is a file whose data is compared.
type file struct {
	dir       string
	name      []byte
	parts     int // that have not come
	ended     bool
	differs   bool
	at        int64 // the first byte that differs
	want, got byte
}

// differ notes a byte that differs.
func (f *file) differ(at int64, want, got byte) {
	if !f.differs || at < f.at {
		f.differs, f.at, f.want, f.got = true, at, want, got
	}
}

func (d *data) open(c *comparer) error {
	d.c = c
	get := c.Memory
	if get == nil {
		get = func(size int) ([]byte, func() error, error) {
			return make([]byte, size), func() error { return nil }, nil
		}
	}
	memory, release, err := get((2*requests + 1) * maxRequest)
	if err != nil {
		return err
	}
	d.release = release
	take := func() []byte {
		b := memory[:maxRequest:maxRequest]
		memory = memory[maxRequest:]
		return b
	}
	d.spare = take()
	for i := range d.ring {
		r := &d.ring[i]
		r.blocks, r.source = take(), take()
		r.came = func(err error) { r.done, r.err = true, err }
	}
	return nil
}

// close waits for all that is in flight, which is of no interest any more.
func (d *data) close() error {
	if d.growing {
		d.count--
	}
	for ; d.count > 0; d.drop() {
		for !d.oldest().done {
			_ = d.c.Ring.Reap(1) // it completes, with an error or without
		}
	}
	return d.release()
}

func (d *data) oldest() *request { return &d.ring[d.first] }
func (d *data) newest() *request { return &d.ring[(d.first+d.count-1)%requests] }
func (d *data) drop()            { d.first, d.count = (d.first+1)%requests, d.count-1 }

// begin begins a file.
func (d *data) begin(dir, name string) *file {
	f := new(file)
	if n := len(d.files); n > 0 {
		f, d.files = d.files[n-1], d.files[:n-1]
	}
	*f = file{dir: dir, name: append(f.name[:0], name...)}
	return f
}

// end says that all of a file is in requests.
func (d *data) end(f *file) {
	f.ended = true
	d.settle(f)
}

// settle tells what differs of a file of which all has come.
func (d *data) settle(f *file) {
	if !f.ended || f.parts > 0 {
		return
	}
	if f.differs {
		d.c.tell(Difference{
			Path: f.dir + "/" + string(f.name), What: fmt.Sprintf("byte %d", f.at),
			Want: fmt.Sprintf("0x%02x", f.want), Got: fmt.Sprintf("0x%02x", f.got),
		})
	}
	d.files = append(d.files, f)
}

// compare queues blocks: n bytes of a file from one on, which are at a place of the device.
func (d *data) compare(f *file, w *wanted, from, off int64, n int) error {
	size := int(d.c.FS.G.BlockSize)
	whole := (n + size - 1) &^ (size - 1)
	if d.growing {
		if r := d.newest(); r.off+int64(r.n) != off || r.n+whole > maxRequest {
			if err := d.submit(); err != nil {
				return err
			}
		}
	}
	if !d.growing {
		if err := d.grow(off); err != nil {
			return err
		}
	}
	r := d.newest()
	if err := w.read(r.source[r.n:][:n], from); err != nil {
		return err
	}
	f.parts++
	r.parts = append(r.parts, part{f, from, r.n, n})
	r.n += whole
	d.c.counts.Bytes += int64(n)
	return nil
}

// grow begins a request.
func (d *data) grow(off int64) error {
	if err := d.c.stopped(); err != nil {
		return err
	}
	if d.count == requests {
		if err := d.take(); err != nil {
			return err
		}
	}
	d.count++
	r := d.newest()
	r.off, r.n, r.parts, r.done, r.err = off, 0, r.parts[:0], false, nil
	d.growing = true
	return nil
}

// submit gives the newest request to the reader, and takes those that have come.
func (d *data) submit() error {
	r := d.newest()
	r.vec[0] = r.blocks[:r.n]
	d.c.progress()
	d.growing = false
	if err := d.c.Ring.Read(r.off, r.vec[:], r.came); err != nil {
		d.count--
		return d.unread(r, err)
	}
	for d.count > 0 && d.oldest().done {
		if err := d.take(); err != nil {
			return err
		}
	}
	return nil
}

// take compares what the oldest request has read, which it waits for.
func (d *data) take() error {
	r := d.oldest()
	for !r.done {
		if err := d.c.Ring.Reap(1); err != nil && !r.done {
			return d.unread(r, err)
		}
	}
	if r.err != nil {
		return d.unread(r, r.err)
	}
	for _, p := range r.parts {
		want, got := r.source[p.at:][:p.n], r.blocks[p.at:][:p.n]
		if !bytes.Equal(want, got) {
			i := 0
			for want[i] == got[i] {
				i++
			}
			p.file.differ(p.from+int64(i), want[i], got[i])
		}
		p.file.parts--
		d.settle(p.file)
	}
	d.drop()
	return nil
}

// finish compares all that is left.
func (d *data) finish() error {
	if d.growing {
		if err := d.submit(); err != nil {
			return err
		}
	}
	for d.count > 0 {
		if err := d.take(); err != nil {
			return err
		}
	}
	return nil
}

// unread is an error of reading.
func (d *data) unread(r *request, err error) error {
	var at interface {
		Offset() int64
		Unwrap() error
	}
	off := r.off
	if errors.As(err, &at) && at.Unwrap() != nil {
		off, err = at.Offset(), at.Unwrap()
	}
	return fmt.Errorf("reading data at byte %d: %w", off, err)
}
