package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tree is all that a mounted filesystem shows of each path, but for the times
// of access, which looking changes.
type tree map[string]string

// capture walks the tree below root. Times of change that came with its own
// mount are not told apart: with such the kernel finishes what was cut short.
func capture(root string, mounted time.Time) (tree, error) {
	t := tree{}
	return t, t.walk(root, ".", mounted)
}

func (t tree) walk(root, path string, mounted time.Time) error {
	full := filepath.Join(root, path)
	var st unix.Stat_t
	if err := unix.Lstat(full, &st); err != nil {
		return fmt.Errorf("stat %q: %w", path, err)
	}
	var b strings.Builder
	change := fmt.Sprintf("%d.%09d", st.Ctim.Sec, st.Ctim.Nsec)
	if !time.Unix(st.Ctim.Unix()).Before(mounted) {
		change = "of this mount"
	}
	fmt.Fprintf(&b, "mode %o owner %d:%d links %d size %d mtime %d.%09d ctime %s", st.Mode, st.Uid, st.Gid,
		st.Nlink, st.Size, st.Mtim.Sec, st.Mtim.Nsec, change)
	if err := xattrs(&b, full); err != nil {
		return fmt.Errorf("xattrs of %q: %w", path, err)
	}
	if err := kinds[st.Mode&unix.S_IFMT](&b, full, &st); err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	t[path] = b.String()
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	for _, e := range entries {
		if err := t.walk(root, filepath.Join(path, e.Name()), mounted); err != nil {
			return err
		}
	}
	return nil
}

// kinds has for each type of file what else there is to see.
var kinds = map[uint32]func(*strings.Builder, string, *unix.Stat_t) error{
	unix.S_IFREG:  content,
	unix.S_IFDIR:  flags,
	unix.S_IFLNK:  target,
	unix.S_IFCHR:  device,
	unix.S_IFBLK:  device,
	unix.S_IFIFO:  nothing,
	unix.S_IFSOCK: nothing,
}

func nothing(*strings.Builder, string, *unix.Stat_t) error { return nil }

func device(b *strings.Builder, _ string, st *unix.Stat_t) error {
	fmt.Fprintf(b, " device %d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
	return nil
}

func target(b *strings.Builder, full string, _ *unix.Stat_t) error {
	to, err := os.Readlink(full)
	fmt.Fprintf(b, " target %q", to)
	return err
}

func flags(b *strings.Builder, full string, _ *unix.Stat_t) error {
	f, err := os.OpenFile(full, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return attributes(b, f)
}

// content shows attributes, and hashes what is not a hole.
func content(b *strings.Builder, full string, _ *unix.Stat_t) error {
	f, err := os.OpenFile(full, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := attributes(b, f); err != nil {
		return err
	}
	extents, err := dataExtents(f)
	if err != nil {
		return err
	}
	h := sha256.New()
	for _, e := range extents {
		fmt.Fprintf(h, "%d-%d:", e.start, e.end)
		if _, err := io.Copy(h, io.NewSectionReader(f, e.start, e.end-e.start)); err != nil {
			return err
		}
	}
	fmt.Fprintf(b, " data %d:%x", len(extents), h.Sum(nil))
	return nil
}

func attributes(b *strings.Builder, f *os.File) error {
	var a fsxattr
	err := ioctl(f, fsGetXattr, &a)
	fmt.Fprintf(b, " flags %#x project %d hints %d,%d", a.flags, a.project, a.extent, a.cow)
	return err
}

func xattrs(b *strings.Builder, full string) error {
	size, err := unix.Llistxattr(full, nil)
	if err != nil || size == 0 {
		return err
	}
	list := make([]byte, size)
	if size, err = unix.Llistxattr(full, list); err != nil {
		return err
	}
	names := strings.Split(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00")
	slices.Sort(names)
	value := make([]byte, 1<<16)
	for _, n := range names {
		size, err := unix.Lgetxattr(full, n, value)
		if errors.Is(err, unix.EOPNOTSUPP) && strings.HasPrefix(n, "system.") {
			continue
		} else if err != nil {
			return fmt.Errorf("%q: %w", n, err)
		}
		fmt.Fprintf(b, " xattr %q %d:%.8x", n, size, sha256.Sum256(value[:size]))
	}
	return nil
}

// diff tells the first few differences of two trees; nothing if there are none.
func diff(a, b tree) string {
	var paths []string
	for p := range a {
		if a[p] != b[p] {
			paths = append(paths, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return ""
	}
	slices.Sort(paths)
	var text []string
	for _, p := range paths[:min(3, len(paths))] {
		va, vb := a[p], b[p]
		switch {
		case va == "":
			va = "nothing"
		case vb == "":
			vb = "nothing"
		}
		text = append(text, fmt.Sprintf("%q: %s, not %s", p, vb, va))
	}
	return fmt.Sprintf("%d paths differ: %s", len(paths), strings.Join(text, "; "))
}
