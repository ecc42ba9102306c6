package hostfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Open opens the file name below the directory dir (unix.AT_FDCWD for the working directory) for
// reading. Flags are added to those that are always there: the file does not outlive an exec, does
// not become the controlling terminal, and a fifo without a writer is not waited for. Where the
// host allows it, reading leaves the file's access time alone.
func Open(dir int, name string, flags int) (fd int, err error) {
	flags |= unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK | unix.O_NOATIME
	for {
		fd, err = unix.Openat(dir, name, flags, 0)
		switch {
		case err == nil:
			return fd, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EPERM) && flags&unix.O_NOATIME != 0:
			flags &^= unix.O_NOATIME // only for the owner and root
		case errors.Is(err, unix.EAGAIN) && flags&unix.O_NONBLOCK != 0:
			flags &^= unix.O_NONBLOCK // a lease, which its holder is asked to give up
		default:
			return -1, err
		}
	}
}
