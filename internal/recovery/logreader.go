package recovery

import (
	"fmt"
	"io"
)

// The log is read in chunks, some of them ahead of what is asked for as long
// as that comes in order.
const (
	chunkSize   = 256 << 10
	chunksAhead = 8
)

// logReader reads the log from its device, as xlog wants it: from byte 0 on.
type logReader struct {
	dev    *Device
	base   int64
	size   int64
	chunks map[int64]*chunk
	free   []*chunk
	last   int64 // chunk that was asked for
	memory slabs
}

type chunk struct {
	index   int64
	data    []byte
	pending bool
	err     error
}

func newLogReader(dev *Device, base, size int64, memory func(int) ([]byte, func() error, error)) *logReader {
	return &logReader{dev: dev, base: base, size: size, chunks: map[int64]*chunk{}, last: -1, memory: slabs{get: memory}}
}

func (r *logReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off+int64(len(p)) > r.size {
		return 0, fmt.Errorf("%d bytes at byte %d of the log: %w", len(p), off, io.ErrUnexpectedEOF)
	}
	for n < len(p) {
		index := (off + int64(n)) / chunkSize
		c, err := r.chunk(index)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], c.data[off+int64(n)-index*chunkSize:])
	}
	return n, nil
}

// chunk returns a chunk, and starts to read those behind it if it is the one
// that follows the last.
func (r *logReader) chunk(index int64) (*chunk, error) {
	first := r.chunks[index]
	until := index
	if index == r.last || index == r.last+1 {
		until = min(index+chunksAhead, (r.size-1)/chunkSize)
	}
	r.last = index
	if first == nil || until > index {
		if err := r.drop(index, until); err != nil {
			return nil, err
		}
	}
	for i := index; i <= until; i++ {
		if r.chunks[i] == nil {
			if err := r.start(i); err != nil {
				return nil, err
			}
		}
	}
	c := r.chunks[index]
	for c.pending {
		if err := r.dev.Ring.Reap(1); err != nil {
			return nil, err
		}
	}
	return c, c.err
}

// drop lets go of the chunks outside of a range.
func (r *logReader) drop(from, to int64) error {
	for i, c := range r.chunks {
		if from <= i && i <= to {
			continue
		}
		for c.pending {
			if err := r.dev.Ring.Reap(1); err != nil {
				return err
			}
		}
		delete(r.chunks, i)
		r.free = append(r.free, c)
	}
	return nil
}

func (r *logReader) start(index int64) error {
	c, err := r.take()
	if err != nil {
		return err
	}
	c.index, c.pending, c.err = index, true, nil
	n := min(chunkSize, r.size-index*chunkSize)
	c.data = c.data[:n]
	err = r.dev.Ring.Read(r.base+index*chunkSize, [][]byte{c.data}, func(err error) { c.pending, c.err = false, err })
	if err != nil {
		return err
	}
	r.chunks[index] = c
	return nil
}

func (r *logReader) take() (*chunk, error) {
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		c.data = c.data[:cap(c.data)]
		return c, nil
	}
	data, err := r.memory.take(chunkSize)
	return &chunk{data: data}, err
}

// release waits for what is in flight and gives the memory back. What was
// read is read again if it is asked for.
func (r *logReader) release() error {
	err := r.drop(1, 0)
	r.free = nil
	if e := r.memory.release(); err == nil {
		err = e
	}
	return err
}
