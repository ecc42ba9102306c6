package target

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// fiemap is struct fiemap of linux/fiemap.h, with room for one extent.
type fiemap struct {
	start, length uint64 // what is asked for
	flags         uint32
	mapped        uint32 // extents that are filled in
	count         uint32 // extents that there is room for
	_             uint32
	extent        struct {
		logical, physical, length uint64
		_                         [2]uint64
		flags                     uint32
		_                         [3]uint32
	}
}

// iocFiemap is FS_IOC_FIEMAP.
const iocFiemap = 0xc020660b

// NextAllocated returns the first piece of [off, end) for which a file has space
// on its host, whether anything was ever written there or not. If there is none, or
// the host does not tell (tmpfs), then from and to are both end.
func (t *Target) NextAllocated(off, end int64) (from, to int64, err error) {
	if t.info.Kind != File || off >= end {
		return end, end, nil
	}
	m := fiemap{start: uint64(t.info.Offset + off), length: uint64(end - off), count: 1}
	err = retry(func() error { return ioctl(int(t.small.Fd()), iocFiemap, unsafe.Pointer(&m)) })
	switch {
	case cannot(err), err == unix.EFBIG: // behind the longest file of the host
		return end, end, nil
	case err != nil:
		return 0, 0, pathError(t.info.Path, "look for its extents", err)
	case m.mapped == 0:
		return end, end, nil
	}
	start := int64(m.extent.logical) - t.info.Offset
	from = max(off, start)
	if from >= end {
		return end, end, nil
	}
	return from, min(end, start+int64(m.extent.length)), nil
}
