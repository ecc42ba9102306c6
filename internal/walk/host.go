package walk

import (
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"mkfs/internal/hostfile"
)

// host is what is asked of the kernel. Names are zero-terminated and relative to the directory fd;
// none is followed if it is a symbolic link. A nil name is the file of the fd itself.
type host interface {
	open(dir int, name *byte, flags int) (int, error)
	close(fd int) error
	stat(dir int, name *byte, st *unix.Statx_t) error
	filesystem(fd int, st *unix.Statfs_t) error
	// access tells whether the file may be used in a way (unix.R_OK, X_OK) by the effective user.
	access(dir int, name *byte, mode int) error
	entries(fd int, p []byte) (int, error)
	readlink(dir int, name *byte, p []byte) (int, error)
	// next, read and count are those of the data of an open file.
	next(d *hostfile.Data, off int64) (start, end int64, err error)
	read(d *hostfile.Data, p []byte, off int64) error
	count(d *hostfile.Data, block int64) (stored int64, pieces int, err error)
	// listAttrs and attr give names and a value of extended attributes. With an empty p they
	// give but the length.
	listAttrs(dir int, name *byte, p []byte) (int, error)
	attr(dir int, name, attr *byte, p []byte) (int, error)
}

// System calls that have the same number on all machines, and that the unix package lacks.
// (Linux 6.13)
const (
	sysGetxattrat  = 464
	sysListxattrat = 465
)

// xattrArgs is struct xattr_args of Linux.
type xattrArgs struct {
	value uint64
	size  uint32
	flags uint32
}

// linux is the kernel. Its calls neither allocate memory nor copy names.
type linux struct{}

// again makes a system call until no signal interrupts it.
//
//go:uintptrescapes
func again(trap, a, b, c, d, e, f uintptr) (int, error) {
	for {
		n, _, errno := unix.Syscall6(trap, a, b, c, d, e, f)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return -1, errno
		}
		return int(n), nil
	}
}

func (linux) open(dir int, name *byte, flags int) (int, error) {
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_LARGEFILE
	fd, err := again(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(flags), 0, 0, 0)
	if err == unix.EAGAIN { // a lease, which its holder is asked to give up
		flags &^= unix.O_NONBLOCK
		return again(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(flags), 0, 0, 0)
	}
	return fd, err
}

func (linux) close(fd int) error { return unix.Close(fd) }

var empty byte // an empty name

func (linux) stat(dir int, name *byte, st *unix.Statx_t) error {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == nil {
		name, flags = &empty, unix.AT_EMPTY_PATH
	}
	_, err := again(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(flags),
		unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(st)), 0)
	return err
}

func (linux) filesystem(fd int, st *unix.Statfs_t) error { return unix.Fstatfs(fd, st) }

func (linux) access(dir int, name *byte, mode int) error {
	_, err := again(unix.SYS_FACCESSAT2, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(mode),
		unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	return err
}

func (linux) entries(fd int, p []byte) (int, error) {
	return again(unix.SYS_GETDENTS64, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0)
}

func (linux) readlink(dir int, name *byte, p []byte) (int, error) {
	return again(unix.SYS_READLINKAT, uintptr(dir), uintptr(unsafe.Pointer(name)),
		uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0)
}

func (linux) next(d *hostfile.Data, off int64) (start, end int64, err error) { return d.Next(off) }

func (linux) read(d *hostfile.Data, p []byte, off int64) error { return d.ReadAt(p, off) }

func (linux) count(d *hostfile.Data, block int64) (int64, int, error) { return d.Count(block) }

func (linux) listAttrs(dir int, name *byte, p []byte) (int, error) {
	if name == nil {
		return again(unix.SYS_FLISTXATTR, uintptr(dir), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	}
	n, err := again(sysListxattrat, uintptr(dir), uintptr(unsafe.Pointer(name)), unix.AT_SYMLINK_NOFOLLOW,
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0)
	if !missing(err) {
		return n, err
	}
	path := link(dir, name)
	return again(unix.SYS_LLISTXATTR, uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)), 0, 0, 0)
}

func (linux) attr(dir int, name, attr *byte, p []byte) (int, error) {
	if name == nil {
		return again(unix.SYS_FGETXATTR, uintptr(dir), uintptr(unsafe.Pointer(attr)),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0)
	}
	args := &xattrArgs{value: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), size: uint32(len(p))}
	n, err := again(sysGetxattrat, uintptr(dir), uintptr(unsafe.Pointer(name)), unix.AT_SYMLINK_NOFOLLOW,
		uintptr(unsafe.Pointer(attr)), uintptr(unsafe.Pointer(args)), unsafe.Sizeof(*args))
	runtime.KeepAlive(p)
	if !missing(err) {
		return n, err
	}
	path := link(dir, name)
	return again(unix.SYS_LGETXATTR, uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(attr)),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0)
}

// missing tells that a system call is not there: not in the kernel, or kept from us by a filter.
func missing(err error) bool { return err == unix.ENOSYS || err == unix.EPERM }

// link is a path of a file in an open directory, which is good at any depth.
func link(dir int, name *byte) []byte {
	return []byte("/proc/self/fd/" + strconv.Itoa(dir) + "/" + unix.BytePtrToString(name) + "\x00")
}
