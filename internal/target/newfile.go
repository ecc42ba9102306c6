package target

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ProbeNew returns what a file at path will be once it is made, empty: its
// sectors are those of the filesystem that its folder is on. Nothing is left
// behind.
func ProbeNew(path string) (Info, error) {
	dir := filepath.Dir(followLinks(path))
	in := Info{Path: path, Kind: File, Rotational: true}
	var st unix.Stat_t
	err := retry(func() error { return unix.Stat(dir, &st) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return in, fmt.Errorf("%s: there is no folder %s", path, dir)
	case err != nil:
		return in, pathError(dir, "stat", err)
	}
	// A file without a name is as good as any: only files tell their sectors.
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		in.LogicalSector = xfsSector(fd)
		_ = unix.Close(fd) // nothing was written
	} else if onXFS(dir) { // a folder that this user cannot write to, for a plan
		in.LogicalSector = (system{sys: "/sys"}).hostSector(uint64(st.Dev))
	}
	in.LogicalSector = sector(in.LogicalSector, 512)
	in.PhysicalSector = in.LogicalSector
	return in, nil
}

// onXFS reports whether path is on XFS.
func onXFS(path string) bool {
	var host unix.Statfs_t
	err := retry(func() error { return unix.Statfs(path, &host) })
	return err == nil && host.Type == unix.XFS_SUPER_MAGIC
}

// hostSector is the logical sector of the device dev, or of the disk that it is
// a partition of, 0 if it is not known.
func (s system) hostSector(dev uint64) int {
	dir, err := filepath.EvalSymlinks(s.deviceDir(dev))
	if err != nil {
		return 0
	}
	for _, dir := range []string{dir, filepath.Dir(dir)} { // a partition's disk has the queue
		text, err := os.ReadFile(filepath.Join(dir, "queue/logical_block_size"))
		if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			return n
		}
	}
	return 0
}

// SamePath tells whether two names are of one file that is yet to be made.
func SamePath(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}
