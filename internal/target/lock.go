package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A program that was killed holds its lock until the kernel is done with what
// it had in flight, and udev holds one while it looks at a disk.
var lockWait, lockPause = 5 * time.Second, 20 * time.Millisecond

// lock keeps others off. Where the host has no locks there is none.
func (t *Target) lock() error {
	f := t.file
	if t.info.Kind == BlockDevice {
		if t.disk = wholeDisk(t.info); t.disk == nil {
			return nil // O_EXCL is there all the same
		}
		f = t.disk
	}
	for deadline := time.Now().Add(lockWait); ; time.Sleep(lockPause) {
		err := retry(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		if time.Now().After(deadline) {
			return &InUseError{Path: t.info.Path, By: lockHolder("/proc", f) + ", which has locked it"}
		}
	}
}

// wholeDisk opens the disk that a block device is, or is a partition of; nil
// if it is not to be had.
func wholeDisk(info Info) *os.File {
	dir, err := filepath.EvalSymlinks(system{sys: "/sys"}.deviceDir(info.Rdev))
	if err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		dir = filepath.Dir(dir)
	}
	rdev, ok := readDevice(dir)
	if !ok {
		return nil
	}
	// Names of devices within folders have a "!" there.
	path := filepath.Join("/dev", strings.ReplaceAll(filepath.Base(dir), "!", "/"))
	if rdev == info.Rdev {
		path = info.Path
	}
	fd, err := openChecked(path, unix.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Rdev != rdev {
		_ = unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), path)
}

// lockHolder finds out who has a lock on a file.
func lockHolder(proc string, f *os.File) string {
	const unknown = "another program"
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return unknown
	}
	id := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	by := unknown
	// Number, "FLOCK", "ADVISORY", "WRITE", PID, device and inode, ...; what
	// waits has an arrow behind its number.
	_ = system{proc: proc}.eachLine("locks", func(line string) bool {
		w := strings.Fields(line)
		if len(w) < 6 || w[1] != "FLOCK" || w[5] != id {
			return true
		}
		if pid, err := strconv.Atoi(w[4]); err == nil && pid > 0 {
			by = "process " + w[4]
			if name, err := os.ReadFile(filepath.Join(proc, w[4], "comm")); err == nil {
				by += fmt.Sprintf(" (%s)", strings.TrimSpace(string(name)))
			}
		}
		return false
	})
	return by
}
