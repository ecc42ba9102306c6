package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Copy makes a new file with the contents of the target at src, which nothing
// may be using. It shares the blocks of a file where the host can (reflink),
// and leaves out holes and zeros where it cannot. The file is durable; it is
// closed, and may be removed by RemoveCreated. After an error there is none.
func Copy(ctx context.Context, dst, src string) (*Target, error) {
	from, err := Open(src, Options{})
	if err != nil {
		return nil, err
	}
	defer from.Close() // nothing was written
	if err := CheckUse(from.info); err != nil {
		return nil, err
	}
	if _, err := Probe(dst); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", dst, ErrExists)
	}
	to, err := Open(dst, Options{Write: true, Create: true})
	if err != nil {
		return nil, err
	}
	err = to.copyFrom(ctx, from)
	if err == nil {
		err = to.Sync()
	}
	if e := to.Close(); err == nil {
		err = e
	}
	if err != nil {
		to.RemoveCreated()
		return nil, err
	}
	return to, nil
}

// ErrExists refuses to copy over something.
var ErrExists = errors.New("exists; a copy is made in a new file")

// copyChunk is how much is copied between two looks at whether to go on.
const copyChunk = 4 << 20

func (t *Target) copyFrom(ctx context.Context, from *Target) error {
	if unix.IoctlFileClone(t.Fd(), from.Fd()) == nil {
		t.info.Size = from.info.Size
		return nil
	}
	size := from.info.Size
	if err := t.Grow(size); err != nil {
		return err
	}
	buf := make([]byte, copyChunk)
	for off := int64(0); off < size; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var end int64
		if off, end = from.data(off, size); off >= size {
			break
		}
		n, err := from.ReadAt(buf[:min(copyChunk, end-off)], off)
		if n == 0 && err != nil && err != io.EOF {
			return pathError(from.info.Path, "read", bare(err))
		}
		if err := t.writeSparse(buf[:n], off); err != nil {
			return err
		}
		if n == 0 {
			break
		}
		off += int64(n)
	}
	return nil
}

// data finds the next range that may have data, from off on.
func (t *Target) data(off, size int64) (start, end int64) {
	if t.info.Kind != File {
		return off, size
	}
	start, err := unix.Seek(t.Fd(), off, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size
	}
	if err != nil {
		return off, size
	}
	if end, err = unix.Seek(t.Fd(), start, unix.SEEK_HOLE); err != nil || end <= start {
		end = size
	}
	return start, end
}

// sparseUnit is the least run of zeros that is left out.
const sparseUnit = 4096

// writeSparse writes what is not zero.
func (t *Target) writeSparse(p []byte, off int64) error {
	for at := 0; at < len(p); {
		n := min(sparseUnit, len(p)-at)
		if isZero(p[at : at+n]) {
			at += n
			continue
		}
		end := at + n
		for end < len(p) && !isZero(p[end:min(end+sparseUnit, len(p))]) {
			end = min(end+sparseUnit, len(p))
		}
		if _, err := t.WriteAt(p[at:end], off+int64(at)); err != nil {
			return pathError(t.info.Path, "write", bare(err))
		}
		at = end
	}
	return nil
}

func isZero(p []byte) bool {
	for len(p) > 0 {
		n := min(len(p), len(zeros))
		if string(p[:n]) != string(zeros[:n]) {
			return false
		}
		p = p[n:]
	}
	return true
}
