package walk

import (
	"encoding/binary"
	"io"

	"golang.org/x/sys/unix"
)

// content is the data of a regular file: in memory if it has been read ahead, in which case it has
// no holes, else behind an open file.
type content struct {
	memory []byte
	host   host // nil if no file is open
	fd     int
	size   int64
}

// Next is that of tree.Data.
func (c *content) Next(off int64) (start, end int64, err error) {
	if off >= c.size {
		return 0, 0, io.EOF
	}
	if c.memory != nil {
		return off, c.size, nil
	}
	return piece(c.host, c.fd, off, c.size)
}

// piece finds the first piece of data of a file from off on, if it were of some size. A host that
// knows nothing of holes has none.
func piece(h host, fd int, off, size int64) (start, end int64, err error) {
	switch start, err = h.seek(fd, off, unix.SEEK_DATA); err {
	case nil:
	case unix.ENXIO:
		return 0, 0, io.EOF
	case unix.EINVAL:
		return off, size, nil
	default:
		return 0, 0, fail("its data cannot be found", err)
	}
	if start >= size {
		return 0, 0, io.EOF
	}
	if end, err = h.seek(fd, start, unix.SEEK_HOLE); err != nil {
		return 0, 0, fail("its holes cannot be found", err)
	}
	return start, min(max(end, start+1), size), nil
}

// ReadAt is that of tree.Data.
func (c *content) ReadAt(p []byte, off int64) error {
	if c.memory != nil {
		if n := copy(p, c.memory[min(off, c.size):]); n < len(p) {
			return shrunk(off+int64(n), c.size)
		}
		return nil
	}
	return readFull(c.host, c.fd, p, off, c.size)
}

// readFull reads from a file that had some size.
func readFull(h host, fd int, p []byte, off, size int64) error {
	for len(p) > 0 {
		n, err := h.read(fd, p, off)
		if err != nil {
			return fail("it cannot be read", err)
		}
		if n == 0 {
			return shrunk(off, size)
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

func (c *content) close() {
	if c.host != nil {
		_ = c.host.close(c.fd) // nothing was written
		c.host = nil
	}
}

// unit is the least that a hole of a local filesystem takes: a sector.
const unit = 512

// dense tells that no sector of p is but zeros: all of it is data for certain, whatever the host.
func dense(p []byte) bool {
	for ; len(p) > unit; p = p[unit:] {
		if zeros(p[:unit]) {
			return false
		}
	}
	return !zeros(p)
}

func zeros(p []byte) bool {
	for ; len(p) >= 8; p = p[8:] {
		if binary.NativeEndian.Uint64(p) != 0 {
			return false
		}
	}
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}
