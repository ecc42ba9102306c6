package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// site is where a workload works. Its methods do nothing once one has failed:
// a workload is written as if nothing could, and err says why it stopped.
type site struct {
	context.Context
	root, dir string // of the mount, and of this workload
	device    string
	rng       *rand.Rand
	err       error
	crowd     *crowd
}

// crowd is what runs, or is held open, until the filesystem is gone.
type crowd struct {
	held    []*os.File
	writers sync.WaitGroup
	mu      sync.Mutex
	errs    []error
}

// disperse waits for writers, which stop when the filesystem does, and closes
// what is open. Errors of writers that came before that are returned.
func (c *crowd) disperse() error {
	c.writers.Wait()
	for _, f := range c.held {
		f.Close()
	}
	c.held = nil
	return errors.Join(c.errs...)
}

func (c *crowd) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

// do runs one step, unless one before it has failed.
func (s *site) do(what string, f func() error) {
	if s.err == nil {
		s.err = s.Err()
	}
	if s.err != nil {
		return
	}
	if err := f(); err != nil {
		s.err = fmt.Errorf("%s: %w", what, err)
	}
}

// name is a path in the workload's folder.
func (s *site) name(format string, args ...any) string {
	return filepath.Join(s.dir, fmt.Sprintf(format, args...))
}

// text is n bytes that compress well and differ from place to place.
func (s *site) text(n int) []byte {
	line := fmt.Appendf(nil, "%08x the quick brown fox jumps over it\n", s.rng.Uint32())
	return bytes.Repeat(line, n/len(line)+1)[:n]
}

func (s *site) mkdir(name string) { s.do("mkdir", func() error { return unix.Mkdir(name, 0o755) }) }

// open is for what a file's methods do; nothing is called of f if it fails.
func (s *site) open(name string, flags int, f func(*os.File) error) {
	s.do("file", func() error {
		file, err := os.OpenFile(name, flags, 0o644)
		if err != nil {
			return err
		}
		return errors.Join(f(file), file.Close())
	})
}

// file makes or replaces a file of n bytes.
func (s *site) file(name string, n int) {
	s.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, func(f *os.File) error {
		if n == 0 {
			return nil
		}
		_, err := f.Write(s.text(n))
		return err
	})
}

func (s *site) write(name string, at int64, n int) {
	s.open(name, os.O_RDWR|os.O_CREATE, func(f *os.File) error {
		_, err := f.WriteAt(s.text(n), at)
		return err
	})
}

func (s *site) fsync(name string) { s.open(name, os.O_RDONLY, (*os.File).Sync) }

func (s *site) syncfs() {
	s.open(s.root, os.O_RDONLY, func(f *os.File) error { return unix.Syncfs(int(f.Fd())) })
}

func (s *site) rename(from, to string, flags uint) {
	s.do("rename", func() error { return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags) })
}

func (s *site) link(from, to string) { s.do("link", func() error { return unix.Link(from, to) }) }

func (s *site) symlink(to, name string) {
	s.do("symlink", func() error { return unix.Symlink(to, name) })
}

func (s *site) remove(name string) { s.do("remove", func() error { return os.Remove(name) }) }

func (s *site) mknod(name string, mode uint32, dev uint64) {
	s.do("mknod", func() error { return unix.Mknod(name, mode, int(dev)) })
}

// xattr gives or replaces an attribute of n bytes.
func (s *site) xattr(path, name string, n int) {
	value := s.text(n)
	s.do("setxattr", func() error { return unix.Lsetxattr(path, name, value, 0) })
}

func (s *site) unxattr(path, name string) {
	s.do("removexattr", func() error { return unix.Lremovexattr(path, name) })
}

func (s *site) truncate(name string, n int64) {
	s.do("truncate", func() error { return os.Truncate(name, n) })
}

func (s *site) allocate(name string, mode uint32, at, n int64) {
	s.open(name, os.O_RDWR|os.O_CREATE, func(f *os.File) error {
		return unix.Fallocate(int(f.Fd()), mode, at, n)
	})
}

// clone shares n bytes of a file with another, which is made; all if n is 0.
func (s *site) clone(from, to string, at, n, dst int64) {
	s.open(from, os.O_RDONLY, func(src *os.File) error {
		f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.IoctlFileCloneRange(int(f.Fd()), &unix.FileCloneRange{Src_fd: int64(src.Fd()),
			Src_offset: uint64(at), Src_length: uint64(n), Dest_offset: uint64(dst)})
	})
}

func (s *site) dedupe(from, to string, n uint64) {
	s.open(to, os.O_RDWR, func(dst *os.File) error {
		src, err := os.Open(from)
		if err != nil {
			return err
		}
		defer src.Close()
		return unix.IoctlFileDedupeRange(int(src.Fd()), &unix.FileDedupeRange{Src_length: n,
			Info: []unix.FileDedupeRangeInfo{{Dest_fd: int64(dst.Fd())}}})
	})
}

// exchange swaps n bytes of two files.
func (s *site) exchange(a, b string, n uint64) {
	s.open(a, os.O_RDWR, func(fa *os.File) error {
		fb, err := os.OpenFile(b, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer fb.Close()
		return ioctl(fa, exchangeRange, &exchange{fd: int32(fb.Fd()), size: n})
	})
}

// attributes changes what FS_IOC_FSSETXATTR sets.
func (s *site) attributes(name string, change func(*fsxattr)) {
	s.open(name, os.O_RDONLY, func(f *os.File) error {
		var a fsxattr
		if err := ioctl(f, fsGetXattr, &a); err != nil {
			return err
		}
		change(&a)
		return ioctl(f, fsSetXattr, &a)
	})
}

// hold opens a file until after the shutdown.
func (s *site) hold(name string, flags int) *os.File {
	var f *os.File
	s.do("hold", func() (err error) {
		if f, err = os.OpenFile(name, flags, 0o600); err == nil {
			s.crowd.held = append(s.crowd.held, f)
		}
		return err
	})
	return f
}
