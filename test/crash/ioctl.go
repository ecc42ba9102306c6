package main

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// request is the number of an ioctl.
type request uintptr

// Those of XFS, and the general ones that it was first to have.
const (
	fsGetXattr    request = 0x801c581f
	fsSetXattr    request = 0x401c5820
	goingDown     request = 0x8004587d
	freeBlocks    request = 0x8080583a
	growData      request = 0x4010586e
	exchangeRange request = 0x40285881
	setLabel      request = 0x41009432
	freeze        request = 0xc0045877
	thaw          request = 0xc0045878
)

type fsxattr struct {
	flags, extent, _, project, cow uint32
	_                              [8]byte
}

const (
	hasExtentHint = 0x800   // FS_XFLAG_EXTSIZE
	hasCowHint    = 0x10000 // FS_XFLAG_COWEXTSIZE
	inheritsHint  = 0x1000  // FS_XFLAG_EXTSZINHERIT
	inheritsID    = 0x200   // FS_XFLAG_PROJINHERIT
	noDump        = 0x80    // FS_XFLAG_NODUMP
)

// Arguments of goingDown: what becomes of the log's buffers in memory.
const (
	logFlush   uint32 = 1
	noLogFlush uint32 = 2
)

// collect is the argument of freeBlocks.
type collect struct {
	version, flags uint32
	_              [120]byte
}

type growth struct {
	blocks uint64
	inodes uint32 // most per cent of space for them
	_      uint32
}

type exchange struct {
	fd   int32
	_    uint32
	_    [2]uint64 // where in the files: from their start
	size uint64
	_    uint64 // flags
}

func ioctl[T any](f *os.File, r request, arg *T) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), uintptr(r), uintptr(unsafe.Pointer(arg)))
	if errno != 0 {
		return fmt.Errorf("ioctl %#x: %w", uintptr(r), errno)
	}
	return nil
}

// ioctlOn is an ioctl on a folder or file that is opened for it.
func ioctlOn[T any](path string, r request, arg *T) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return ioctl(f, r, arg)
}
