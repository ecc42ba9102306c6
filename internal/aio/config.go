package aio

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Kind selects an engine.
type Kind int

const (
	Auto  Kind = iota // the first that works of Uring, AIO, Sync
	Uring             // io_uring
	AIO               // Linux AIO
	Sync              // pwritev and preadv
)

var kindNames = [...]string{Auto: "auto", Uring: "io_uring", AIO: "aio", Sync: "sync"}

// String returns the name that ParseKind reads.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind reads an engine's name: auto, io_uring (or uring), aio, sync.
func ParseKind(s string) (Kind, error) {
	if s == "uring" {
		return Uring, nil
	}
	for k, name := range kindNames {
		if s == name {
			return Kind(k), nil
		}
	}
	return Auto, fmt.Errorf("unknown IO engine %q: one of auto, uring, aio, sync", s)
}

// Limits of a Ring and of one request.
const (
	// DefaultDepth is what Config.Depth 0 means. Deep enough to keep a fast
	// SSD busy with requests of tens of KiB; deeper only adds latency.
	DefaultDepth = 100
	// MaxDepth is the largest depth. Twice as many completions still fit
	// every engine's ring.
	MaxDepth = 4096
	// MaxPieces is how many pieces a request may have (IOV_MAX).
	MaxPieces = 1024
	// MaxRequest is how many bytes a request may have.
	MaxRequest = 1 << 30
)

// Config says how to open a Ring. The zero value is good.
type Config struct {
	// Engine to use. Auto falls back without a word; Ring.Engine tells what
	// it came to. Any other either works or makes Open fail with an error
	// that says which limit was hit.
	Engine Kind
	// Base is where in the file the requests' byte 0 is.
	Base int64
	// Depth is the largest number of requests in flight, 0 for DefaultDepth.
	Depth int
}

// Open makes a Ring over fd. The Ring does not own fd: the caller keeps it
// open, and its os.File reachable, until Close has returned. For direct IO fd
// is opened with O_DIRECT, and alignment is the caller's business.
//
// The calling goroutine is locked to its thread until Close when the engine
// is io_uring; see the package comment.
func Open(fd int, cfg Config) (*Ring, error) {
	depth := cfg.Depth
	if depth == 0 {
		depth = DefaultDepth
	}
	if depth < 1 || depth > MaxDepth {
		return nil, fmt.Errorf("IO depth %d: must be 1 to %d", cfg.Depth, MaxDepth)
	}
	r := newRing(depth)
	r.base = cfg.Base
	r.fsync = func() error { return fsync(fd) }
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && flags&unix.O_DIRECT != 0 {
		r.direct = true
		r.dropDirect = func() error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&^unix.O_DIRECT)
			return err
		}
	}
	var err error
	switch cfg.Engine {
	case Uring:
		r.eng, err = openUring(fd, r.ops)
	case AIO:
		r.eng, err = newLinuxAIO(fd, r.ops)
	case Sync:
		r.eng = &syncEngine{fd: fd}
	case Auto:
		if r.eng, err = openUring(fd, r.ops); err == nil {
			break
		}
		if r.eng, err = newLinuxAIO(fd, r.ops); err == nil {
			break
		}
		r.eng, err = &syncEngine{fd: fd}, nil
	default:
		err = errors.New("unknown kind")
	}
	if err != nil {
		return nil, fmt.Errorf("IO engine %v: %w", cfg.Engine, err)
	}
	return r, nil
}

// openUring makes an io_uring engine, but not for a file on FUSE: after a short
// transfer, as such a host may make it, io_uring goes on by itself, and at the
// place where it began if the file system has left the position as it was, as
// that of Linux 6.18 does with direct IO. Nothing tells of it.
func openUring(fd int, ops []op) (engine, error) {
	var host unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		unix.Fstatfs(fd, &host) == nil && int64(host.Type) == unix.FUSE_SUPER_MAGIC {
		return nil, errFUSE
	}
	return newUring(fd, ops, uringModes)
}

var errFUSE = errors.New("not for a file on FUSE, where it may write the rest of a short write to the wrong " +
	"place; aio and sync are right")

// fsync and not fdatasync: an image file's size and allocation must survive
// as well, and for a block device the two are one.
func fsync(fd int) error {
	for {
		if err := unix.Fsync(fd); err != unix.EINTR {
			return err
		}
	}
}

// limitError explains why an engine could not be set up. call is the system
// call that failed with errno; read reads a file of /proc.
func limitError(call string, errno unix.Errno, read func(string) ([]byte, error)) error {
	sysctl := func(path string) string {
		b, err := read("/proc/sys/" + path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	why := ""
	switch {
	case call == "io_setup" && errno == unix.EAGAIN:
		why = "limit fs.aio-max-nr reached"
		if max := sysctl("fs/aio-max-nr"); max != "" {
			why = fmt.Sprintf("limit fs.aio-max-nr=%s reached, fs.aio-nr=%s", max, sysctl("fs/aio-nr"))
		}
	case strings.HasPrefix(call, "io_uring") && errno == unix.ENOMEM:
		why = "limit RLIMIT_MEMLOCK (ulimit -l) reached"
		var lim unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim) == nil {
			why = fmt.Sprintf("limit RLIMIT_MEMLOCK=%d bytes (ulimit -l) reached, or out of memory", lim.Cur)
		}
	case strings.HasPrefix(call, "io_uring") && (errno == unix.EPERM || errno == unix.EACCES):
		switch v := sysctl("kernel/io_uring_disabled"); v {
		case "1", "2":
			why = "forbidden by sysctl kernel.io_uring_disabled=" + v
		case "":
			why = "forbidden by seccomp, a container or the kernel's configuration"
		default:
			why = "kernel.io_uring_disabled=" + v + " allows it: forbidden by seccomp or a container"
		}
	case errno == unix.ENOSYS:
		why = "not in this kernel, or hidden by seccomp"
	}
	if why == "" {
		return fmt.Errorf("%s: %w", call, errno)
	}
	return fmt.Errorf("%s: %w (%s)", call, errno, why)
}

func setupError(call string, errno unix.Errno) error {
	return limitError(call, errno, os.ReadFile)
}
