// Package fusetest is a host for tests and benchmarks whose disk behaves as real
// ones rarely do: its reads take long, it takes few bytes a second, it does only
// a part of a write. It is a filesystem of one file, an image, and speaks FUSE as
// far as that needs it.
package fusetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Host is a mounted filesystem of one file. It may change while it is mounted.
type Host struct {
	Latency atomic.Int64 // nanoseconds that each read takes longer, all at the same time
	Rate    atomic.Int64 // bytes a second that are written; 0 for no limit
	// Most is the most bytes that are done of a write, which is then short; 0 for
	// all. It is a multiple of 512.
	Most atomic.Int64

	options Options
	image   *os.File // for direct IO, if the page cache has no part in it
	plain   *os.File // the same, for what is not aligned
	size    int64
	fuse    int

	line   sync.Mutex
	free   time.Time // when what was written before is done
	Writes atomic.Int64

	busy sync.WaitGroup // what serves requests, and requests
}

// Options cannot be changed later.
type Options struct {
	// Cached lets the page cache hold the file. Else all of its IO is direct.
	Cached bool
	// Largest is the most bytes that the kernel sends at once, 0 for 1 MiB.
	Largest int
	// OneByOne keeps the kernel from having parts of a direct write in flight
	// together.
	OneByOne bool
}

// Image is the path of the file below the directory of a Host.
func Image(dir string) string { return filepath.Join(dir, "image") }

// ErrNone says that this machine mounts no such filesystem.
var ErrNone = errors.New("no FUSE")

// Mount mounts the file image at dir. down unmounts it.
func Mount(dir, image string, options Options) (h *Host, down func() error, err error) {
	if options.Largest == 0 {
		options.Largest = fuseMost
	}
	h = &Host{options: options, fuse: -1}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if h.plain, err = os.OpenFile(image, os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if h.image, err = os.OpenFile(image, os.O_RDWR|unix.O_DIRECT, 0); err != nil {
		return nil, nil, err
	}
	info, err := h.image.Stat()
	if err != nil {
		return nil, nil, err
	}
	h.size = info.Size()
	if h.fuse, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	how := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", h.fuse)
	if err := unix.Mount("fusetest", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, how); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	for range 2 {
		h.busy.Go(h.serve)
	}
	return h, func() error {
		if err := unmount(dir); err != nil {
			return err // requests may go on
		}
		h.busy.Wait()
		h.close()
		return nil
	}, nil
}

func (h *Host) close() {
	for _, f := range []*os.File{h.image, h.plain} {
		if f != nil {
			f.Close()
		}
	}
	if h.fuse >= 0 {
		unix.Close(h.fuse)
	}
}

func unmount(dir string) (err error) {
	for range 50 {
		if err = unix.Unmount(dir, 0); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("unmounting %s: %w", dir, err)
}

// delay waits until n more bytes are written at the rate.
func (h *Host) delay(n int) {
	rate := h.Rate.Load()
	if rate == 0 {
		return
	}
	h.line.Lock()
	if now := time.Now(); h.free.Before(now) {
		h.free = now
	}
	h.free = h.free.Add(time.Duration(n) * time.Second / time.Duration(rate))
	due := h.free
	h.line.Unlock()
	time.Sleep(time.Until(due))
}

// fd is what to read or write a range with.
func (h *Host) fd(off int64, n int) int {
	if h.options.Cached || off%pageSize != 0 || n%pageSize != 0 {
		return int(h.plain.Fd())
	}
	return int(h.image.Fd())
}

func (h *Host) read(id uint64, off int64, n int, due time.Time) {
	data := Aligned(n)
	n, err := unix.Pread(h.fd(off, n), data, off)
	time.Sleep(time.Until(due))
	h.answer(id, errnoOf(err), data[:max(0, n)])
}

func (h *Host) write(id uint64, off int64, data []byte) {
	if most := h.Most.Load(); most > 0 && int64(len(data)) > most {
		data = data[:most]
	}
	h.delay(len(data))
	n, err := unix.Pwrite(h.fd(off, len(data)), data, off)
	h.Writes.Add(1)
	h.answer(id, errnoOf(err), words(uint32(max(0, n)), 0))
}
