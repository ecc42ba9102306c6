package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Copy makes a new file with the contents of the target at src, or of a part of
// it, which nothing may be using; a loop device made of it that is idle may be
// there. It shares the blocks of a file where the host can (reflink),
// and leaves out holes and zeros where it cannot. The file is durable; it is
// closed, and may be removed by RemoveCreated. After an error there is none.
func Copy(ctx context.Context, dst, src string, part *Window) (*Target, error) {
	from, err := Open(src, Options{Window: part})
	if err != nil {
		return nil, err
	}
	defer from.Close() // nothing was written
	if err := CheckUse(from.info); err != nil && !isIdle(err) {
		return nil, err
	}
	to, err := NewFile(dst, false)
	if err != nil {
		return nil, err
	}
	if err = to.readableAs(from); err == nil {
		err = to.copyFrom(ctx, from)
	}
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

// NewFile makes an empty file for a copy, for direct IO if that is asked for and
// can be had. It may be removed by RemoveCreated.
func NewFile(path string, direct bool) (*Target, error) {
	if _, err := Probe(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", path, ErrExists)
	}
	return Open(path, Options{Write: true, Create: true, Direct: direct})
}

// readableAs keeps a copy of a file from those who may not read the file.
func (t *Target) readableAs(from *Target) error {
	if from.info.Kind != File {
		return nil
	}
	var is, has unix.Stat_t
	err := unix.Fstat(int(from.Fd()), &is)
	if err == nil {
		err = unix.Fstat(int(t.Fd()), &has)
	}
	if err == nil {
		err = unix.Fchmod(int(t.Fd()), is.Mode&has.Mode&0o777)
	}
	if err != nil {
		return pathError(t.info.Path, "set its mode", err)
	}
	return nil
}

// ErrExists refuses to copy over something.
var ErrExists = errors.New("exists; a copy is made in a new file")

// copyChunk is how much is copied between two looks at whether to go on.
const copyChunk = 4 << 20

func (t *Target) copyFrom(ctx context.Context, from *Target) error {
	if t.clone(from) == nil {
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
		start, end, err := from.NextData(off, size)
		if err != nil {
			return err
		}
		if off = start; off >= size {
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

// clone shares the blocks of a file.
func (t *Target) clone(from *Target) error {
	if !from.info.Part {
		return unix.IoctlFileClone(t.Fd(), from.Fd())
	}
	return unix.IoctlFileCloneRange(t.Fd(), &unix.FileCloneRange{
		Src_fd: int64(from.Fd()), Src_offset: uint64(from.info.Offset), Src_length: uint64(from.info.Size),
	})
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
