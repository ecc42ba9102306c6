package target

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// xfsDioInfo is XFS_IOC_DIOINFO, _IOR('X', 30, struct dioattr): the direct I/O
// limits of a file on XFS. It is spelled out because x/sys has no XFS ioctls;
// the value is the same on every architecture but the few (mips, powerpc,
// sparc, alpha) that lay out ioctl numbers differently, where it fails and the
// file counts as one with 512-byte sectors.
const xfsDioInfo = 0x800c581e

// dioAttr is what xfsDioInfo fills in, in bytes.
type dioAttr struct {
	mem, minIO, maxIO uint32
}

// ioctl calls the ioctl req with arg and returns its errno as an error. What
// arg points to must be as large as the kernel thinks it is.
func ioctl(fd int, req uintptr, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), req, uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}

// deviceSize returns the length of the block device fd in bytes.
func deviceSize(fd int) (uint64, error) {
	var size uint64
	err := ioctl(fd, unix.BLKGETSIZE64, unsafe.Pointer(&size))
	return size, err
}

// discardRange tells the block device fd that [off, off+n) is not needed.
func discardRange(fd int, off, n uint64) error {
	r := [2]uint64{off, n}
	return ioctl(fd, unix.BLKDISCARD, unsafe.Pointer(&r))
}

// xfsSector returns the smallest direct I/O of the file fd if it lies on XFS,
// which is the logical sector of the device below, else 0.
func xfsSector(fd int) int {
	var d dioAttr
	if ioctl(fd, xfsDioInfo, unsafe.Pointer(&d)) != nil {
		return 0
	}
	return int(d.minIO)
}
