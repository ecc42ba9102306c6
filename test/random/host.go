package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ready makes the tree, unless it is there, and gives all files their times.
func (t *tree) ready(dir string) error {
	root := filepath.Join(dir, sourceDir)
	if _, err := os.Lstat(root); errors.Is(err, os.ErrNotExist) {
		for i := range t.files {
			if err := t.files[i].create(root); err != nil {
				return err
			}
		}
		for i := range t.files { // what creating files within does not change any more
			if err := t.files[i].adorn(root); err != nil {
				return err
			}
		}
	}
	for i := len(t.files) - 1; i >= 0; i-- { // a directory behind what is in it
		if err := t.files[i].touch(root); err != nil {
			return err
		}
	}
	return nil
}

// create makes a file, with what it holds.
func (f *file) create(root string) (err error) {
	at := filepath.Join(root, f.path)
	if f.link != "" {
		return os.Link(filepath.Join(root, f.link), at)
	}
	switch f.mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return os.Mkdir(at, 0o700)
	case unix.S_IFLNK:
		return os.Symlink(f.target, at)
	case unix.S_IFREG:
		return f.write(at)
	}
	if err := unix.Mknod(at, f.mode, int(f.device)); err != nil {
		return fmt.Errorf("making %s: %w", at, err)
	}
	return nil
}

// write makes a regular file.
func (f *file) write(at string) error {
	w, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer w.Close()
	h := fnv.New64a()
	h.Write([]byte(f.path))
	seed := h.Sum64()
	for _, p := range f.pieces {
		b := make([]byte, min(p.end-p.start, 1<<20))
		for at := p.start; at < p.end; {
			b = b[:min(int64(len(b)), p.end-at)]
			for i := range b {
				b[i] = byte(seed >> (uint64(i) % 57))
			}
			for i := 0; i+8 <= len(b); i += 64 {
				binary.LittleEndian.PutUint64(b[i:], seed+uint64(at)+uint64(i))
			}
			if _, err := w.WriteAt(b, at); err != nil {
				return err
			}
			at += int64(len(b))
		}
	}
	return w.Truncate(f.size)
}

// adorn gives a file its owner, permissions and attributes, as far as the host and the user can.
func (f *file) adorn(root string) error {
	if f.link != "" {
		return nil
	}
	at := filepath.Join(root, f.path)
	if os.Geteuid() == 0 {
		if err := os.Lchown(at, f.uid, f.gid); err != nil {
			return err
		}
	}
	if f.mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Chmod(at, f.mode&0o7777); err != nil {
			return fmt.Errorf("chmod %s: %w", at, err)
		}
	}
	for _, a := range f.attrs {
		err := unix.Lsetxattr(at, a.name, a.value, 0)
		if err != nil && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("attribute %q of %s, of %d bytes: %w", a.name, at, len(a.value), err)
		}
	}
	return nil
}

func (f *file) touch(root string) error {
	if f.link != "" {
		return nil
	}
	at := filepath.Join(root, f.path)
	err := unix.UtimesNanoAt(unix.AT_FDCWD, at, []unix.Timespec{f.access, f.modified}, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("times of %s: %w", at, err)
	}
	return nil
}
