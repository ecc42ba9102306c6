package target

import (
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/sys/unix"
)

// zeroWays are the ways to zero a range without sending the zeros, best first:
// the first keeps the blocks that are allocated, the second gives them back.
var zeroWays = []uint32{
	unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE,
	unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE,
}

// seekLimit is how far the search for data in a file can be trusted: tmpfs gets
// its last page of 8 EiB wrong. It is rounded to the largest page there is.
const seekLimit = math.MaxInt64 &^ 0xffff

// zeros is written where nothing else works. It is never changed.
var zeros [1 << 20]byte

// Zero makes the n bytes at off read as zeros and changes no others. Whatever
// lies behind the end is ignored, so the target never grows.
//
// Of a file, a hole stays a hole, space that was allocated but never written
// stays so, and the blocks of what was written stay with the file where the
// host can zero them in place. Where it cannot (tmpfs) they are given back.
//
// It is not a flush. Direct writes to the range must not be in flight. A device
// that must be sent the zeros takes as long as for writing them, in one system
// call that no signal ends: whoever has much to zero does so in pieces.
func (t *Target) Zero(off, n int64) error {
	if t.info.Kind == BlockDevice {
		return t.zeroBy(t.zeroDevice, off, n)
	}
	return t.zeroBy(t.zeroFile, off, n)
}

// WriteZeros makes the n bytes at off read as zeros, as Zero does, but always by
// writing them: of a file they are data then, neither holes nor space that was
// allocated and never written, and SEEK_DATA shows them.
func (t *Target) WriteZeros(off, n int64) error { return t.zeroBy(t.writeZeros, off, n) }

// zeroBy zeroes what lies in the target of the n bytes at off. The way to do it
// takes offsets in the whole file or device.
func (t *Target) zeroBy(way func(off, end int64) error, off, n int64) error {
	if off < 0 || n < 0 {
		return fmt.Errorf("%s: cannot zero %d bytes at %d", t.info.Path, n, off)
	}
	end := t.info.Size
	if n < end-off {
		end = off + n
	}
	if off >= end {
		return nil
	}
	if err := way(t.info.Offset+off, t.info.Offset+end); err != nil {
		return pathError(t.info.Path, fmt.Sprintf("zero %d bytes at %d", end-off, off), bare(err))
	}
	return nil
}

// zeroFile zeroes [off, end) of a file, which must lie inside it. Here and below
// offsets are those of the whole file or device.
func (t *Target) zeroFile(off, end int64) error {
	for off < end {
		from, to, err := t.nextData(off, end)
		if err != nil {
			return err
		}
		if from < to {
			if err := t.zeroData(from, to); err != nil {
				return err
			}
		}
		off = to
	}
	return nil
}

// nextData returns the first piece of data in [off, end). If there is none then
// from and to are both end.
func (t *Target) nextData(off, end int64) (from, to int64, err error) {
	if off >= seekLimit {
		return t.nextNonZero(off, end)
	}
	if end > seekLimit {
		from, to, err = t.nextData(off, seekLimit)
		if err != nil || from < to {
			return from, to, err
		}
		return t.nextNonZero(seekLimit, end)
	}
	fd := int(t.small.Fd())
	from, err = seek(fd, off, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO:
		return end, end, nil
	case err == unix.EINVAL || err == unix.EOPNOTSUPP:
		return off, end, nil // the host knows no holes
	case err != nil:
		return 0, 0, err
	case from >= end:
		return end, end, nil
	}
	to, err = seek(fd, from, unix.SEEK_HOLE)
	switch {
	case err == unix.ENXIO:
		return end, end, nil // became a hole meanwhile
	case err != nil:
		return 0, 0, err
	case to <= from:
		// tmpfs rounds up past 8 EiB here and returns a negative offset.
		return from, end, nil
	}
	return from, min(to, end), nil
}

// nextNonZero is nextData for the last bytes of the largest file: it returns all
// of [off, end) if anything there is not zero.
func (t *Target) nextNonZero(off, end int64) (from, to int64, err error) {
	buf := make([]byte, end-off)
	n, err := t.small.ReadAt(buf, off)
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	for _, b := range buf[:n] {
		if b != 0 {
			return off, end, nil
		}
	}
	return end, end, nil
}

// seek is lseek(2). The position it leaves behind is used by nobody here.
func seek(fd int, off int64, whence int) (pos int64, err error) {
	err = retry(func() (err error) { pos, err = unix.Seek(fd, off, whence); return })
	return pos, err
}

// zeroDevice zeroes [off, end) of a block device, which can do so itself for
// whole sectors only.
func (t *Target) zeroDevice(off, end int64) error {
	sec := int64(t.info.LogicalSector)
	first := min(end, roundUp(off, sec))
	last := max(first, end-end%sec)
	if err := t.writeZeros(off, first); err != nil {
		return err
	}
	if first < last {
		if err := t.zeroData(first, last); err != nil {
			return err
		}
	}
	return t.writeZeros(last, end)
}

// zeroData zeroes [off, end) by the best way that works, and remembers it.
func (t *Target) zeroData(off, end int64) error {
	for {
		mode := t.zeroMode.Load()
		if int(mode) >= len(zeroWays) {
			return t.writeZeros(off, end)
		}
		err := retry(func() error {
			return unix.Fallocate(int(t.small.Fd()), zeroWays[mode], off, end-off)
		})
		if !cannot(err) {
			return err
		}
		t.zeroMode.CompareAndSwap(mode, mode+1)
	}
}

// writeZeros zeroes [off, end) by writing, and waits until the device has the most
// of it: else the page cache would take in seconds what is flushed for minutes.
func (t *Target) writeZeros(off, end int64) error {
	if end-off >= int64(len(zeros)) {
		const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		defer unix.SyncFileRange(int(t.small.Fd()), off, end-off, all) // an error comes again when it is flushed
	}
	for off < end {
		n, err := t.small.WriteAt(zeros[:min(end-off, int64(len(zeros)))], off)
		if err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

// Release makes the n bytes at off read as zeros, as Zero does, and gives the
// space that they take in a file back to its host, where that can be.
func (t *Target) Release(off, n int64) error {
	if t.info.Kind == File && off >= 0 && n > 0 && n <= t.info.Size-off {
		err := retry(func() error {
			return unix.Fallocate(int(t.small.Fd()), zeroWays[1], t.info.Offset+off, n)
		})
		if err == nil {
			return nil
		}
	}
	return t.Zero(off, n)
}

// DiscardUnit is how many bytes a block device discards at least; it ignores what
// is less. 0 is no unit, or none that is known.
func (t *Target) DiscardUnit() int64 {
	if t.info.Kind != BlockDevice {
		return 0
	}
	return system{sys: "/sys"}.discardUnit(t.info.Rdev)
}

// Discard tells a block device that the n bytes at off are not needed. What
// they read as afterwards depends on the device. Only whole sectors are
// discarded, and nothing behind the end.
//
// The error wraps errors.ErrUnsupported if the device cannot do it, or if the
// target is a file.
func (t *Target) Discard(off, n int64) error {
	what := fmt.Sprintf("discard %d bytes at %d", n, off)
	if off < 0 || n < 0 {
		return fmt.Errorf("%s: cannot %s", t.info.Path, what)
	}
	if t.info.Kind != BlockDevice {
		return pathError(t.info.Path, what, errors.ErrUnsupported)
	}
	end := t.info.Size
	if n < end-off {
		end = off + n
	}
	sec := int64(t.info.LogicalSector)
	first, last := roundUp(off, sec), end-end%sec
	if first >= last {
		return nil
	}
	err := retry(func() error {
		return discardRange(int(t.small.Fd()), uint64(t.info.Offset+first), uint64(last-first))
	})
	if cannot(err) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return pathError(t.info.Path, what, err)
	}
	return nil
}

// cannot reports whether err says that a request is not known at all, rather
// than that it failed.
func cannot(err error) bool {
	switch err {
	case unix.EOPNOTSUPP, unix.ENOSYS, unix.ENOTTY, unix.EINVAL:
		return true
	}
	return false
}

// roundUp returns the first multiple of unit at or behind off. Offsets in a
// device do not overflow by it, as its length is a multiple of the unit.
func roundUp(off, unit int64) int64 { return off + (unit-off%unit)%unit }
