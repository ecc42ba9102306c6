package walk

import (
	"encoding/binary"
	"io"

	"mkfs/internal/hostfile"
)

// content is the data of a regular file: in memory if it has been read ahead, in which case it has
// no holes, else behind an open file.
type content struct {
	memory []byte
	file   hostfile.Data
	host   host // nil if no file is open
	fd     int
}

// Next is that of tree.Data.
func (c *content) Next(off int64) (start, end int64, err error) {
	if c.memory == nil {
		return c.host.next(&c.file, off)
	}
	if size := int64(len(c.memory)); off < size {
		return off, size, nil
	}
	return 0, 0, io.EOF
}

// ReadAt is that of tree.Data.
func (c *content) ReadAt(p []byte, off int64) error {
	if c.memory == nil {
		return c.host.read(&c.file, p, off)
	}
	if n := copy(p, c.memory[min(off, int64(len(c.memory))):]); n < len(p) {
		return io.ErrUnexpectedEOF
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
