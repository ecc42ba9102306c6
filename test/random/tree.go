package main

import (
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// file is one of a tree, with its path below the root; the root's is ".".
type file struct {
	path             string
	mode             uint32 // type and permissions
	uid, gid         int
	device           uint64
	modified, access unix.Timespec
	target           string // of a symbolic link
	size             int64
	pieces           []piece // of the file, that are data
	attrs            []attribute
	link             string // the path of a file that this is but another name of
}

type attribute struct {
	name  string
	value []byte
}

// tree is a directory as a source. A directory comes before what is in it, and a file before
// further names of it.
type tree struct {
	files []file
	atime bool
}

func (t *tree) arg() string { return "../" + sourceDir + option("atime", t.atime) }

// parts are all files but the root, and then all attributes.
func (t *tree) parts() (n int) {
	for _, f := range t.files {
		n += len(f.attrs)
	}
	return n + len(t.files) - 1
}

func (t *tree) without(keep func(i int) bool) source {
	smaller := &tree{atime: t.atime, files: []file{t.files[0]}}
	gone, attr := map[string]bool{}, len(t.files)-1
	for i, f := range t.files {
		if i > 0 && (!keep(i-1) || gone[path.Dir(f.path)] || f.link != "" && gone[f.link]) {
			gone[f.path] = true
		} else if i > 0 {
			smaller.files = append(smaller.files, f)
		}
		last := &smaller.files[len(smaller.files)-1]
		var kept []attribute
		for _, a := range f.attrs {
			if keep(attr) {
				kept = append(kept, a)
			}
			attr++
		}
		if !gone[f.path] {
			last.attrs = kept
		}
	}
	return smaller
}

func (t *tree) describe(w io.Writer) {
	for _, f := range t.files[:min(len(t.files), described)] {
		fmt.Fprintf(w, "    %s\n", f)
	}
	fmt.Fprintf(w, "  -p %s: %d files\n", t.arg(), len(t.files))
}

var kinds = map[uint32]string{
	unix.S_IFREG: "file", unix.S_IFDIR: "directory", unix.S_IFLNK: "symlink", unix.S_IFIFO: "fifo", unix.S_IFSOCK: "socket",
	unix.S_IFCHR: "character device", unix.S_IFBLK: "block device",
}

func (f file) String() string {
	if f.link != "" {
		return fmt.Sprintf("%q is %q", f.path, f.link)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q %s %04o, owner %d:%d, %s", f.path, kinds[f.mode&unix.S_IFMT], f.mode&0o7777, f.uid, f.gid,
		time.Unix(f.modified.Unix()).UTC().Format(time.RFC3339Nano))
	switch f.mode & unix.S_IFMT {
	case unix.S_IFREG:
		fmt.Fprintf(&b, ", %d bytes", f.size)
		if len(f.pieces) != 1 || f.pieces[0] != (piece{0, f.size}) {
			fmt.Fprintf(&b, " in %d pieces: %d", len(f.pieces), f.pieces[:min(len(f.pieces), 20)])
		}
	case unix.S_IFLNK:
		fmt.Fprintf(&b, " to %d bytes", len(f.target))
	case unix.S_IFCHR, unix.S_IFBLK:
		fmt.Fprintf(&b, " %d:%d", unix.Major(f.device), unix.Minor(f.device))
	}
	for _, a := range f.attrs {
		fmt.Fprintf(&b, ", %q: %d", a.name, len(a.value))
	}
	return b.String()
}
