package target

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Options says how to open a target. The zero value is for looking at one.
type Options struct {
	// Write opens for reading and writing. Open then fails with an
	// *InUseError if the target is in use; see CheckUse. A block device is
	// opened exclusively, so that nothing can start to use it meanwhile.
	Write bool

	// Create makes a missing file, empty and with mode 0666 less the umask.
	// Truncate makes an existing file empty. Both need Write; neither does
	// anything to a block device.
	Create, Truncate bool

	// Window is the part that is to be used as the target; nil for all of it.
	// Nothing outside of it is written. It cannot be made, grown or cut.
	Window *Window

	// Direct asks for direct I/O on the descriptor Fd returns. Where there
	// is none the target is opened all the same; see DirectIO.
	Direct bool
}

// Target is an open target. Get one from Open.
type Target struct {
	info Info
	file *os.File // what Fd is; may have O_DIRECT
	// small is for ReadAt, WriteAt and everything else with an alignment of
	// its own: the same target without O_DIRECT, or file itself.
	small *os.File
	align int // of direct I/O in bytes, 0 if there is none
	write bool

	// zeroMode is the first entry of zeroWays that is not known to fail.
	zeroMode atomic.Int32

	disk *os.File // the whole disk of a block device, for its lock; nil for none

	created string // the path of the file that Open has made, "" for none
}

// Open opens the target at path. The caller must Close it. Errors are those of
// Probe and CheckUse, and what the options say. If Open fails then nothing has
// been changed. What is opened for writing is locked (flock) until it is closed,
// against others that lock it: a file against another run of this program, and
// of a block device the whole disk, which keeps udev from looking at it meanwhile.
func Open(path string, opts Options) (*Target, error) {
	if (opts.Create || opts.Truncate) && !opts.Write {
		return nil, fmt.Errorf("%s: create and truncate need write access", path)
	}
	if (opts.Create || opts.Truncate) && opts.Window != nil {
		return nil, fmt.Errorf("%s: create and truncate do not go with a part of it", path)
	}
	file, info, created, err := openFor(path, opts)
	if err != nil {
		return nil, err
	}
	if opts.Window != nil {
		if info, err = info.Within(*opts.Window); err != nil {
			_ = file.Close() // nothing was written
			return nil, err
		}
	}
	t := &Target{info: info, file: file, small: file, write: opts.Write, created: created}
	if err := t.prepare(opts); err != nil {
		_ = t.Close() // nothing was written
		t.RemoveCreated()
		return nil, err
	}
	return t, nil
}

// openFor opens path without O_DIRECT, but otherwise as opts ask. created is
// the path of the file if it has made it: where a link without a target leads.
func openFor(path string, opts Options) (_ *os.File, _ Info, created string, _ error) {
	flags := unix.O_RDONLY | unix.O_NOATIME
	if opts.Write {
		// O_EXCL without O_CREAT is for block devices; files ignore it.
		flags = unix.O_RDWR | unix.O_EXCL
		if _, err := Probe(path); opts.Create && errors.Is(err, fs.ErrNotExist) {
			flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL // what appears meanwhile is not ours
			created = followLinks(path)
		}
	}
	fd, err := openChecked(cmp.Or(created, path), flags, 0o666)
	if errors.Is(err, unix.EPERM) && flags&unix.O_NOATIME != 0 {
		// Only the owner may leave the access time alone.
		fd, err = openChecked(path, flags&^unix.O_NOATIME, 0o666)
	}
	if err != nil {
		if opts.Write && errors.Is(err, unix.EBUSY) {
			return nil, Info{}, "", busy(path)
		}
		return nil, Info{}, "", err
	}
	info, err := describe(fd, path)
	if err != nil {
		_ = unix.Close(fd)
		return nil, Info{}, "", err
	}
	return os.NewFile(uintptr(fd), path), info, created, nil
}

// followLinks is the path that symbolic links lead to, also if nothing is there.
func followLinks(path string) string {
	for range 40 { // as many as the kernel follows
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// RemoveCreated removes the file that Open has made, if it is still there; it
// does nothing to one that was there before.
func (t *Target) RemoveCreated() {
	if t.created != "" {
		t.remove(t.created)
	}
}

// Remove removes the file that the target is, if it is still there.
func (t *Target) Remove() {
	if t.info.Kind == File {
		t.remove(followLinks(t.info.Path))
	}
}

func (t *Target) remove(path string) {
	if now, err := Probe(path); err == nil && now.Same(t.info) {
		_ = os.Remove(path)
	}
}

// busy returns the error for a device that somebody holds exclusively, with
// the name of the holder if it can be found.
func busy(path string) error {
	if info, err := Probe(path); err == nil {
		if err := CheckUse(info); err != nil {
			return err
		}
	}
	return &InUseError{Path: path}
}

// prepare does what is left to do once the target is open and is what it was
// asked for: nothing may be changed before CheckUse agrees.
func (t *Target) prepare(opts Options) error {
	if opts.Write {
		if t.info.ReadOnly {
			// Some drivers let root in and fail the writes.
			return pathError(t.info.Path, "write", unix.EROFS)
		}
		if err := CheckUse(t.info); err != nil {
			return err
		}
		if err := t.lock(); err != nil {
			return err
		}
	}
	if opts.Truncate && t.info.Kind == File {
		if err := t.Truncate(0); err != nil {
			return err
		}
	}
	if opts.Direct {
		t.openDirect()
	}
	return nil
}

// Info returns what the target was when it was opened; Size follows Grow and
// Truncate.
func (t *Target) Info() Info { return t.info }

// Size returns the length of the target.
func (t *Target) Size() int64 { return t.info.Size }

// File returns the open file, with O_DIRECT if DirectIO says so. It stays the
// Target's: do not close it.
func (t *Target) File() *os.File { return t.file }

// Fd returns the descriptor of File, good until Close. On it, a part of a file
// or device begins at Info().Offset.
func (t *Target) Fd() int { return int(t.file.Fd()) }

// ReadAt reads as io.ReaderAt says, with any offset, length and memory. It
// sees what was written through Fd before.
func (t *Target) ReadAt(p []byte, off int64) (int, error) {
	if t.info.Part {
		return t.readPart(p, off)
	}
	return t.small.ReadAt(p, off)
}

// WriteAt writes as io.WriterAt says, with any offset, length and memory. It
// goes through the page cache, so it is for small things only, and must not
// overlap a write through Fd that is still in flight.
func (t *Target) WriteAt(p []byte, off int64) (int, error) {
	if t.info.Part {
		return t.writePart(p, off)
	}
	return t.small.WriteAt(p, off)
}

// Sync makes everything written so far, through Fd as well, last through a
// power failure. After an error none of it can be relied on.
func (t *Target) Sync() error {
	// Both descriptors are of one inode, so one call does for both.
	if err := t.file.Sync(); err != nil {
		return pathError(t.info.Path, "flush", bare(err))
	}
	return nil
}

// Close closes the target. It does not flush.
func (t *Target) Close() error {
	var err error
	if t.disk != nil {
		defer t.disk.Close() // nothing was written to it
	}
	if t.small != t.file {
		err = t.small.Close()
	}
	if e := t.file.Close(); e != nil {
		err = e
	}
	if err != nil {
		return pathError(t.info.Path, "close", bare(err))
	}
	return nil
}

// bare takes the path off an error of package os, where pathError puts it on.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
