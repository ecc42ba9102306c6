// Package livetest is for tests of what works on a filesystem: new ones in memory,
// images that the reference has made, and how they differ.
package livetest

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// Device is a device in memory, of which only what was written takes any. It is
// a buffer.Ring that does all at once.
type Device struct {
	pages map[int64]*[pageSize]byte
	base  *image // what was not written comes from here; nil for zeros
}

const pageSize = 4096

// NewDevice makes one of zeros.
func NewDevice() *Device { return &Device{pages: map[int64]*[pageSize]byte{}} }

// Open makes one of an image file, which is not changed.
func Open(t testing.TB, path string) *Device {
	t.Helper()
	d := NewDevice()
	d.base = openImage(t, path)
	return d
}

// Clone makes another one with the same contents.
func (d *Device) Clone() *Device {
	c := &Device{pages: make(map[int64]*[pageSize]byte, len(d.pages)), base: d.base}
	for at, page := range d.pages {
		data := *page
		c.pages[at] = &data
	}
	return c
}

// ReadAt reads, zeros where nothing is.
func (d *Device) ReadAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		at := off + int64(n)
		page, from := at/pageSize, int(at%pageSize)
		if data := d.pages[page]; data != nil {
			n += copy(p[n:], data[from:])
			continue
		}
		end := (page + 1) * pageSize
		for end < off+int64(len(p)) && d.pages[end/pageSize] == nil {
			end += pageSize
		}
		part := p[n:min(int64(len(p)), end-off)]
		clear(part)
		if d.base != nil {
			d.base.read(part, at)
		}
		n += len(part)
	}
	return len(p), nil
}

// WriteAt writes.
func (d *Device) WriteAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		at := off + int64(n)
		page, from := at/pageSize, int(at%pageSize)
		data := d.pages[page]
		if data == nil {
			data = new([pageSize]byte)
			if _, err := d.ReadAt(data[:], page*pageSize); err != nil {
				return n, err
			}
			d.pages[page] = data
		}
		n += copy(data[from:], p[n:])
	}
	return len(p), nil
}

// Read is of buffer.Ring.
func (d *Device) Read(off int64, vec [][]byte, done func(error)) error {
	for _, p := range vec {
		_, _ = d.ReadAt(p, off)
		off += int64(len(p))
	}
	done(nil)
	return nil
}

// Write is of buffer.Ring.
func (d *Device) Write(off int64, vec [][]byte, done func(error)) error {
	for _, p := range vec {
		_, _ = d.WriteAt(p, off)
		off += int64(len(p))
	}
	done(nil)
	return nil
}

// Reap is of buffer.Ring.
func (d *Device) Reap(int) error { return nil }

// Save writes all of it to a file of so many bytes, for programs that judge it.
func (d *Device) Save(t testing.TB, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if d.base != nil {
		if err := d.base.copyTo(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for page, data := range d.pages {
		if _, err := f.WriteAt(data[:], page*pageSize); err != nil {
			t.Fatal(err)
		}
	}
}

// Differ tells where two devices differ first in a range: "" if nowhere.
func Differ(a, b *Device, off, n int64) string {
	x, y := make([]byte, n), make([]byte, n)
	_, _ = a.ReadAt(x, off)
	_, _ = b.ReadAt(y, off)
	if bytes.Equal(x, y) {
		return ""
	}
	for i := range x {
		if x[i] != y[i] {
			return fmt.Sprintf("byte %d (+%#x): %#x and %#x", off+int64(i), i, x[i], y[i])
		}
	}
	return ""
}
