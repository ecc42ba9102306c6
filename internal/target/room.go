package target

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Space is what a file's host has for it.
type Space struct {
	Free int64 // bytes that this user can still allocate on the host, as far as it tells
	Used int64 // bytes that the file has allocated
}

// Room looks at the host filesystem of a file, which need not exist yet.
func Room(path string) (s Space, err error) {
	var st unix.Stat_t
	host := path
	if err := retry(func() error { return unix.Stat(path, &st) }); err == nil {
		s.Used = st.Blocks * 512
	} else if errors.Is(err, fs.ErrNotExist) {
		host = filepath.Dir(path)
	} else {
		return s, pathError(path, "stat", err)
	}
	var vfs unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(host, &vfs) }); err != nil {
		return s, pathError(host, "statfs", err)
	}
	if vfs.Blocks == 0 { // a host without a limit
		s.Free = 1 << 62
		return s, nil
	}
	s.Free = int64(min(vfs.Bavail, uint64(1<<62)/uint64(vfs.Bsize))) * vfs.Bsize
	return s, nil
}
