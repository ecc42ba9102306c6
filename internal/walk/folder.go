package walk

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// folder is an open directory. The walk and batches hold it while they need it.
type folder struct {
	fd    int
	holds atomic.Int32
	// keepsNoTime: the host lets us not read its files without a change of their access times.
	keepsNoTime atomic.Bool
	dev, ino    uint64 // the directory itself
	// local: its filesystem lets files be read as their modes say. A survey has it.
	local bool
}

// knows tells, in a survey, that a file of the directory is on a local filesystem.
func (f *folder) knows(st *unix.Statx_t) bool {
	return f.local && unix.Mkdev(st.Dev_major, st.Dev_minor) == f.dev
}

func (f *folder) hold() *folder {
	f.holds.Add(1)
	return f
}

func (f *folder) drop(h host) {
	if f.holds.Add(-1) == 0 {
		_ = h.close(f.fd) // nothing was written
	}
}

// openDir opens a directory to read it.
func openDir(h host, dir int, name *byte) (*folder, error) {
	fd, err := openQuietly(h, dir, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := &folder{fd: fd}
	f.holds.Store(1)
	return f, nil
}

// openQuietly opens a file to read it, and if it may, without a change of its access time.
func openQuietly(h host, dir int, name *byte, flags int) (int, error) {
	fd, err := h.open(dir, name, flags|unix.O_NOATIME)
	if err == unix.EPERM {
		return h.open(dir, name, flags)
	}
	return fd, err
}

// openFile opens a file of the directory to read it.
func (f *folder) openFile(h host, name *byte) (int, error) {
	if !f.keepsNoTime.Load() {
		fd, err := h.open(f.fd, name, unix.O_NOATIME)
		if err != unix.EPERM {
			return fd, err
		}
		f.keepsNoTime.Store(true) // its other files are mostly the same user's
	}
	return h.open(f.fd, name, 0)
}
