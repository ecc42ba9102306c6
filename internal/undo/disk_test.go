package undo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"mkfs/internal/ondisk"
)

// disk is a Target in memory. It fails at the failAt-th change, from 1, of
// which it may have done a part.
type disk struct {
	data      []byte
	device    bool // it cannot change its size
	failAt    int
	allocated int64 // bytes at its start that have space
	ops       int
}

var errFails = errors.New("it fails")

func (d *disk) fails() bool { d.ops++; return d.ops == d.failAt }

func (d *disk) Size() int64 { return int64(len(d.data)) }

func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(d.data).ReadAt(p, off)
}

func (d *disk) NextData(off, end int64) (int64, int64, error) {
	for off < end && allZero(d.data[off:min(off+unit, end)]) {
		off = min(off+unit, end)
	}
	to := off
	for to < end && !allZero(d.data[to:min(to+unit, end)]) {
		to = min(to+unit, end)
	}
	return off, to, nil
}

// NextAllocated says that what lies before byte allocated has space.
func (d *disk) NextAllocated(off, end int64) (int64, int64, error) {
	if off >= d.allocated {
		return end, end, nil
	}
	return off, min(end, d.allocated), nil
}

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > d.Size() {
		return 0, fmt.Errorf("write of %d bytes at %d of %d", len(p), off, d.Size())
	}
	if d.fails() {
		if len(p) <= 512 { // sectors are written whole, or not
			return 0, errFails
		}
		return copy(d.data[off:], p[:len(p)/2&^511]), errFails
	}
	return copy(d.data[off:], p), nil
}

func (d *disk) Zero(off, n int64) error {
	_, err := d.WriteAt(make([]byte, n), off)
	return err
}

func (d *disk) Release(off, n int64) error { return d.Zero(off, n) }

func (d *disk) Truncate(size int64) error {
	if d.device && size != d.Size() {
		return errors.New("a device cannot change its size")
	}
	if d.fails() {
		return errFails
	}
	if size <= d.Size() {
		d.data = d.data[:size:size]
	} else {
		d.data = append(d.data, make([]byte, size-d.Size())...)
	}
	return nil
}

func (d *disk) Sync() error {
	if d.fails() {
		return errFails
	}
	return nil
}

func (d *disk) copyOf() *disk { return &disk{data: bytes.Clone(d.data), device: d.device} }

// memory is an undo file in memory, which fails likewise.
type memory struct {
	data   []byte
	failAt int
	ops    int
}

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m.data)) {
		return 0, io.EOF
	}
	return bytes.NewReader(m.data).ReadAt(p, off)
}

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.ops++
	fails := m.ops == m.failAt
	if fails {
		p = p[:len(p)/2]
		if off < stateSize {
			p = nil // a sector is written whole, or not
		}
	}
	if end := off + int64(len(p)); end > int64(len(m.data)) {
		m.data = append(m.data, make([]byte, end-int64(len(m.data)))...)
	}
	n := copy(m.data[off:], p)
	if fails {
		return n, errFails
	}
	return n, nil
}

func (m *memory) Sync() error {
	m.ops++
	if m.ops == m.failAt {
		return errFails
	}
	return nil
}

func (m *memory) Close() error { return nil }

// someDisk has data here and there, by a seed.
func someDisk(size int64, seed byte) *disk {
	d := &disk{data: make([]byte, size)}
	for i := int64(seed) % 7 * 1000; i < size; i += 20000 {
		for j := i; j < min(size, i+9000); j++ {
			d.data[j] = byte(j*7) ^ seed
		}
	}
	return d
}

// newSuperblock is that of a filesystem; it may be in progress.
func newSuperblock(inProgress uint8) []byte {
	b := make([]byte, 512)
	(&ondisk.Superblock{SectorSize: 512, InProgress: inProgress, UUID: testUUID}).Put(b)
	return b
}

var testUUID = ondisk.UUID{1, 2, 3, 4}

// changes are what a format does to a disk, in their order.
var changes = [][2]int64{{0, 128 << 10}, {872 << 10, 128 << 10}, {300 << 10, 100 << 10}, {500 << 10, 28 << 10}, {0, 28 << 10}}

// header is for a disk that grows by some bytes.
func header(d *disk, grow int64) Header {
	return Header{
		UUID: fmt.Sprintf("%x", testUUID), Superblock: Sum(newSuperblock(0)), SectorSize: 512,
		Devices: []Device{{Role: RoleData, Path: "/dev/fake", File: !d.device, Before: d.Size(), After: d.Size() + grow}},
	}
}

// saved is an undo file of a disk before those changes.
func saved(t testing.TB, d *disk, h Header, m *memory) error {
	t.Helper()
	w, err := newWriter("undo", m, h)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := w.Save(t.Context(), 0, d, c[0], c[1]); err != nil {
			return err
		}
	}
	return w.Finish()
}

// format makes the first n changes.
func format(d *disk, n int) {
	for i, c := range changes[:n] {
		end := min(c[0]+c[1], d.Size())
		for j := c[0]; j < end; j++ {
			d.data[j] = byte(i * 50) // the first zeroes
		}
	}
	if n == len(changes) {
		copy(d.data, newSuperblock(1))
	}
}
