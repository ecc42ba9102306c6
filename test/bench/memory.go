package main

import (
	"io"
	"os"

	"mkfs/internal/aio"
)

// memoryRing is a device in memory, over a file that is only read.
type memoryRing struct {
	f     *os.File
	pages map[int64][]byte
	free  []byte // memory for more
	done  []func(error)
}

const memoryPage, memorySlab = 64 << 10, 64 << 20

// page is the part of the device that a byte is in.
func (r *memoryRing) page(off int64) (p []byte, err error) {
	at := off / memoryPage
	if p = r.pages[at]; p != nil {
		return p, nil
	}
	if len(r.free) == 0 {
		if r.free, _, err = aio.NewSlab(memorySlab); err != nil {
			return nil, err
		}
	}
	p, r.free = r.free[:memoryPage], r.free[memoryPage:]
	r.pages[at] = p
	if _, err = r.f.ReadAt(p, at*memoryPage); err == io.EOF {
		err = nil
	}
	return p, err
}

func (r *memoryRing) move(off int64, vec [][]byte, done func(error), copyTo func(page, data []byte) int) error {
	for _, p := range vec {
		for len(p) > 0 {
			page, err := r.page(off)
			if err != nil {
				return err
			}
			n := copyTo(page[off%memoryPage:], p)
			off, p = off+int64(n), p[n:]
		}
	}
	r.done = append(r.done, done)
	return nil
}

func (r *memoryRing) Read(off int64, vec [][]byte, done func(error)) error {
	return r.move(off, vec, done, func(page, data []byte) int { return copy(data, page) })
}

func (r *memoryRing) Write(off int64, vec [][]byte, done func(error)) error {
	return r.move(off, vec, done, func(page, data []byte) int { return copy(page, data) })
}

func (r *memoryRing) Reap(int) error {
	list := r.done
	r.done = nil
	for _, f := range list {
		f(nil)
	}
	return nil
}
