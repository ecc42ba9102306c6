package hostfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// Small is the length of the largest file that Load holds, in bytes.
const Small = 64 << 10

// ErrShrunk is the error for a file that has become shorter since it was first looked at.
var ErrShrunk = errors.New("the file has shrunk since its size was asked for")

// Data is what a regular file holds. It is a tree.Data. The zero value is good for Reset.
type Data struct {
	fd    int
	size  int64
	held  bool   // what the file holds is in buf, and the file is not needed
	empty bool   // the file is but a hole; with held
	buf   []byte // of files that were loaded
}

// Reset makes d the data of the open file fd, which was size bytes long when it was first looked
// at. The caller closes fd when d is not needed any more, or after a Load that says so.
func (d *Data) Reset(fd int, size int64) {
	d.fd, d.size, d.held, d.empty = fd, size, false, false
}

// Size is the length that the file has for us, in bytes.
func (d *Data) Size() int64 { return d.size }

// Load reads a file at once that is not larger than Small and has no hole beside data. It tells
// whether it did: then the file may be closed, and d is good still.
func (d *Data) Load() (bool, error) {
	if d.held || d.size > Small {
		return d.held, nil
	}
	start, end, err := d.Next(0)
	switch {
	case errors.Is(err, io.EOF):
		d.held, d.empty = true, true
		return true, nil
	case err != nil:
		return false, err
	case start != 0 || end != d.size:
		return false, nil
	}
	if int64(cap(d.buf)) < d.size {
		d.buf = make([]byte, Small)
	}
	d.buf = d.buf[:d.size]
	if err := d.ReadAt(d.buf, 0); err != nil {
		return false, err
	}
	d.held = true
	return true, nil
}

// Next finds the first piece of data from byte off on, or returns io.EOF.
func (d *Data) Next(off int64) (start, end int64, err error) {
	if off >= d.size {
		return 0, 0, io.EOF
	}
	if d.held {
		if d.empty {
			return 0, 0, io.EOF
		}
		return off, d.size, nil
	}
	if off == 0 { // most files are one piece: one call finds that
		if end, err = d.seek(0, unix.SEEK_HOLE); err == nil && end > 0 {
			return 0, min(end, d.size), nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
	}
	if start, err = d.seek(off, unix.SEEK_DATA); err != nil || start >= d.size {
		return 0, 0, cmp.Or(err, io.EOF)
	}
	if end, err = d.seek(start, unix.SEEK_HOLE); err != nil {
		return 0, 0, err
	}
	if end <= start { // punched between the two calls: the rest is asked for anew
		return d.Next(start + 1)
	}
	return start, min(end, d.size), nil
}

// seek is lseek: io.EOF when there is nothing of that kind up to the end of the file, which then
// has to be where it was.
func (d *Data) seek(off int64, whence int) (int64, error) {
	for {
		at, err := unix.Seek(d.fd, off, whence)
		switch {
		case err == nil:
			return at, nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.ENXIO):
			return 0, fmt.Errorf("looking for data and holes: %w", err)
		default:
			return 0, cmp.Or(d.shrunk(), io.EOF)
		}
	}
}

// shrunk is ErrShrunk, with sizes, when the file is shorter than it was.
func (d *Data) shrunk() error {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return err
	}
	if st.Size < d.size {
		return fmt.Errorf("%w: from %d to %d bytes", ErrShrunk, d.size, st.Size)
	}
	return nil
}

// ReadAt fills p from byte off on. It returns ErrShrunk for a file that ends before.
func (d *Data) ReadAt(p []byte, off int64) error {
	if d.held {
		return d.copy(p, off)
	}
	for len(p) > 0 {
		n, err := unix.Pread(d.fd, p, off)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("reading %d bytes from byte %d on: %w", len(p), off, err)
		case n == 0:
			if err := d.shrunk(); err != nil {
				return err
			}
			return fmt.Errorf("reading %d bytes from byte %d on: %w", len(p), off, io.ErrUnexpectedEOF)
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// copy is ReadAt of a file that was loaded.
func (d *Data) copy(p []byte, off int64) error {
	if off < 0 || off > d.size || int64(len(p)) > d.size-off {
		return fmt.Errorf("reading %d bytes from byte %d on of a file of %d: %w", len(p), off, d.size,
			io.ErrUnexpectedEOF)
	}
	if d.empty {
		clear(p)
		return nil
	}
	copy(p, d.buf[off:])
	return nil
}

// Count goes through the pieces: how many bytes they take in blocks of so many bytes, and how many
// pieces there are when those that share a block are one. Unlike the others it also asks the host
// about a file of no length, so that one whose length is not known beforehand, as in /proc, is told
// by an error.
func (d *Data) Count(block int64) (stored int64, pieces int, err error) {
	if d.size == 0 {
		if _, err := d.seek(0, unix.SEEK_DATA); err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
	}
	last := int64(-1) // the end of the last piece, in whole blocks
	for off := int64(0); ; {
		start, end, err := d.Next(off)
		if errors.Is(err, io.EOF) {
			return stored, pieces, nil
		}
		if err != nil {
			return 0, 0, err
		}
		off = end
		start, end = start/block*block, (end+block-1)/block*block
		if start <= last {
			start = last
		} else {
			pieces++
		}
		stored += end - start
		last = end
	}
}
