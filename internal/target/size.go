package target

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Grow makes the target at least size bytes long. A file that is shorter gets
// longer, the new part a hole; one that is as long already is left alone. A
// block device cannot grow, so it is an error if it is smaller.
func (t *Target) Grow(size int64) error {
	if size <= t.info.Size {
		return nil
	}
	if t.info.Kind == BlockDevice {
		return fmt.Errorf("%s: device has %d bytes, %d are needed", t.info.Path, t.info.Size, size)
	}
	if t.info.Part {
		return fmt.Errorf("%s: this part of it has %d bytes, %d are needed", t.info.Name(), t.info.Size, size)
	}
	return t.setLength(size)
}

// Truncate makes a file exactly size bytes long; what lies behind is lost.
// A block device has the size it has: anything else is an error.
func (t *Target) Truncate(size int64) error {
	if t.info.Kind == BlockDevice || t.info.Part {
		if size == t.info.Size {
			return nil
		}
		return fmt.Errorf("%s: cannot set the length of a block device, or of a part", t.info.Name())
	}
	return t.setLength(size)
}

func (t *Target) setLength(size int64) error {
	if size > t.info.Size {
		if err := t.CheckLength(size); err != nil {
			return err
		}
	}
	err := retry(func() error { return unix.Ftruncate(int(t.small.Fd()), size) })
	switch {
	case err == nil:
		t.info.Size = size
		return nil
	case errors.Is(err, unix.EFBIG):
		return fmt.Errorf("%s: the file system it is on allows no file of %d bytes: %w", t.info.Path, size, err)
	}
	return pathError(t.info.Path, fmt.Sprintf("set the length to %d bytes", size), err)
}

// Blank reports whether the target is a file, or a part of one, that is nothing
// but a hole, and so reads as zeros without being read.
func (t *Target) Blank() bool {
	if t.info.Kind != File {
		return false
	}
	from, _, err := t.nextData(t.info.Offset, t.info.Offset+t.info.Size)
	return err == nil && from >= t.info.Offset+t.info.Size
}
