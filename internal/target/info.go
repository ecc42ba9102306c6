package target

import (
	"fmt"
	"math"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Kind is the kind of a target.
type Kind int

// The kinds of target there are.
const (
	File        Kind = iota + 1 // a regular file
	BlockDevice                 // a block device, whole or a partition
)

// String returns the kind as it stands in messages.
func (k Kind) String() string {
	switch k {
	case File:
		return "regular file"
	case BlockDevice:
		return "block device"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Info says what a target is. All sizes are bytes.
type Info struct {
	Path string // as given
	Kind Kind
	Size int64 // length of the file or of the device, or of the part of it

	// Part is set for a part of a file or device, which begins at Offset.
	// All offsets are counted from there; see Window.
	Part   bool
	Offset int64

	// LogicalSector is the smallest write, PhysicalSector the smallest one
	// that is not a read and a write in the device. Both are powers of two
	// and at least 512. A file on XFS has the sector size of the device
	// below it, for both; any other file has 512.
	LogicalSector, PhysicalSector int

	// MinIO and OptIO are the smallest and the best I/O of a block device
	// as its driver reports them: stripe unit and stripe width of a RAID,
	// 0 or a sector if there is nothing to say. Both are 0 for files.
	MinIO, OptIO int

	// Misaligned is set if the device says that its start does not lie on
	// a physical sector, as with a badly placed partition.
	Misaligned bool

	// Rotational is set for disks that have to seek, and for files.
	Rotational bool

	// ReadOnly is set if the device is write-protected, or the file lies on
	// a file system that is mounted read-only.
	ReadOnly bool

	// Dev and Ino are the file system and the inode of a file, Rdev is the
	// device number of a block device; the others are 0. Use Same to compare.
	Dev, Ino, Rdev uint64
}

// Same reports whether a and b are one file or one device, by whatever names.
// A file is never the same as a block device, even if it is what the device
// is made of.
func (a Info) Same(b Info) bool {
	return a.Kind == b.Kind && a.Dev == b.Dev && a.Ino == b.Ino && a.Rdev == b.Rdev
}

// Probe returns what path is. It creates and changes nothing and reads none of
// the data. An error for a path that does not exist wraps fs.ErrNotExist, for
// one that may not be opened fs.ErrPermission. Anything that is neither a file
// nor a block device is an error that says what it is instead.
func Probe(path string) (Info, error) {
	fd, err := openChecked(path, unix.O_RDONLY, 0)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	return describe(fd, path)
}

// openChecked opens path with the open flags given and closes it again if it
// is no target. What is there is looked at before the open as well, because
// opening alone does something to some devices, and blocks on a fifo.
func openChecked(path string, flags int, perm uint32) (int, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Stat(path, &st) })
	switch {
	case err == nil:
		if err := checkMode(path, st.Mode); err != nil {
			return -1, err
		}
	case err != unix.ENOENT || flags&unix.O_CREAT == 0:
		return -1, pathError(path, "open", err)
	}
	flags |= unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK
	fd := -1
	err = retry(func() (err error) { fd, err = unix.Open(path, flags, perm); return })
	if err != nil {
		return -1, pathError(path, "open", err)
	}
	// path may be another thing by now.
	err = retry(func() error { return unix.Fstat(fd, &st) })
	if err != nil {
		err = pathError(path, "stat", err)
	} else {
		err = checkMode(path, st.Mode)
	}
	if err == nil {
		// Non-blocking was for the open only.
		if err = unix.SetNonblock(fd, false); err != nil {
			err = pathError(path, "set flags", err)
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// checkMode returns an error unless a mode is that of a target.
func checkMode(path string, mode uint32) error {
	what := ""
	switch mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFBLK:
		return nil
	case unix.S_IFDIR:
		what = "a directory"
	case unix.S_IFCHR:
		what = "a character device"
	case unix.S_IFIFO:
		what = "a fifo"
	case unix.S_IFSOCK:
		what = "a socket"
	default:
		what = "of an unknown kind"
	}
	return fmt.Errorf("%s is %s, not a block device or regular file", path, what)
}

// describe fills in an Info for the open target fd.
func describe(fd int, path string) (Info, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Info{}, pathError(path, "stat", err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFBLK {
		return describeDevice(fd, path, uint64(st.Rdev))
	}
	in := Info{
		Path: path, Kind: File, Size: st.Size, Rotational: true,
		Dev: uint64(st.Dev), Ino: st.Ino,
	}
	in.LogicalSector = sector(xfsSector(fd), 512)
	in.PhysicalSector = in.LogicalSector
	var host unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &host) }); err == nil {
		in.ReadOnly = host.Flags&unix.ST_RDONLY != 0
	}
	return in, nil
}

// describeDevice is describe for the block device fd. Only the size must be
// known; a driver that cannot tell the rest gets the usual values.
func describeDevice(fd int, path string, rdev uint64) (Info, error) {
	size, err := deviceSize(fd)
	if err != nil {
		return Info{}, pathError(path, "get the size of the device", err)
	}
	if size > math.MaxInt64 {
		return Info{}, fmt.Errorf("%s: device of %d bytes is larger than %d bytes", path, size, int64(math.MaxInt64))
	}
	number := func(req uint) int {
		v, err := unix.IoctlGetUint32(fd, req)
		if err != nil || uint64(v) > math.MaxInt {
			return 0
		}
		return int(v)
	}
	in := Info{Path: path, Kind: BlockDevice, Size: int64(size), Rdev: rdev}
	in.LogicalSector = sector(number(unix.BLKSSZGET), 512)
	in.PhysicalSector = sector(number(unix.BLKPBSZGET), in.LogicalSector)
	in.MinIO = number(unix.BLKIOMIN)
	in.OptIO = number(unix.BLKIOOPT)
	// -1 means misaligned in a way that no number can say.
	off, err := unix.IoctlGetUint32(fd, unix.BLKALIGNOFF)
	in.Misaligned = err == nil && off != 0
	in.Rotational = number(unix.BLKROTATIONAL) != 0
	in.ReadOnly = number(unix.BLKROGET) != 0
	return in, nil
}

// sector returns n if it can be a sector size of at least min bytes, else min.
func sector(n, min int) int {
	if n < min || bits.OnesCount(uint(n)) != 1 {
		return min
	}
	return n
}

// retry calls f again as long as it is interrupted by a signal.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// pathError says what could not be done with the target at path. The result
// wraps err.
func pathError(path, op string, err error) error {
	return fmt.Errorf("%s: cannot %s: %w", path, op, err)
}
