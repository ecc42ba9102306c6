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

// InUseError is the error for a target that something uses, so that writing to
// it would destroy what that is doing.
type InUseError struct {
	Path string // the target
	By   string // "mounted on /srv", "active swap"; empty if not known
}

// Error returns one line that names the target and its user.
func (e *InUseError) Error() string {
	if e.By == "" {
		return e.Path + " is in use by another program or by the kernel"
	}
	return e.Path + " is in use: " + e.By
}

// CheckUse returns an *InUseError if the target is in use:
//
//   - a block device is mounted (read-only counts), is active swap, or is part
//     of a device mapper, RAID or similar device; or a partition on it is, or
//     the whole disk it is a partition of;
//   - a file is what a loop device is made of, mounted or not, or active swap.
//     Loop devices are told by inode, not by name.
//
// It looks at the mounts of its own namespace only. For a block device the
// exclusive open of Open has the last word, which sees all of them. Where
// /proc or /sys are not there it passes what they would have told.
func CheckUse(info Info) error {
	by, err := (system{proc: "/proc", sys: "/sys", dev: "/dev"}).user(info)
	switch {
	case err != nil:
		return fmt.Errorf("%s: cannot find out whether it is in use: %w", info.Path, err)
	case by != "":
		return &InUseError{Path: info.Path, By: by}
	}
	return nil
}

// CheckZones returns an error for a device that can only be written in zones of
// its own, from start to end: what a filesystem writes first, at both ends of the
// device, would fail half-way.
func CheckZones(info Info) error {
	return (system{sys: "/sys"}).checkZones(info)
}

func (s system) checkZones(info Info) error {
	if info.Kind == File {
		return nil
	}
	if s.queue(info.Rdev, "zoned") == "host-managed" {
		return fmt.Errorf("%s has zones of its own that are written from start to end only (host-managed), which is not supported yet", info.Path)
	}
	return nil
}

// system is where the kernel tells about itself; tests have one of their own.
type system struct{ proc, sys, dev string }

// user returns what uses the target, or "".
func (s system) user(info Info) (string, error) {
	if info.Kind == File {
		by, err := s.swapUser(info, nil)
		if err != nil || by != "" {
			return by, err
		}
		return s.loopUser(info)
	}
	fam, err := s.family(info.Rdev)
	if err != nil {
		return "", err
	}
	for _, find := range []func(Info, family) (string, error){s.mountUser, s.swapUser, s.holder} {
		by, err := find(info, fam)
		if err != nil || by != "" {
			return by, err
		}
	}
	return s.loopUser(info)
}

// family is a block device, its partitions and the disk it is a partition of:
// what is written to one changes the others. The values say which is which.
type family map[uint64]string

// family returns the family of the device rdev.
func (s system) family(rdev uint64) (family, error) {
	fam := family{rdev: ""}
	dir, err := filepath.EvalSymlinks(s.deviceDir(rdev))
	if errors.Is(err, fs.ErrNotExist) {
		return fam, nil
	} else if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		disk := filepath.Dir(dir)
		if dev, ok := readDevice(disk); ok {
			fam[dev] = "the disk " + filepath.Base(disk) + " is "
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		part := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(part, "partition")); err != nil {
			continue
		}
		if dev, ok := readDevice(part); ok {
			fam[dev] = "its partition " + e.Name() + " is "
		}
	}
	return fam, nil
}

// deviceDir is where sysfs has the device rdev, a symbolic link.
func (s system) deviceDir(rdev uint64) string {
	return filepath.Join(s.sys, "dev/block", fmt.Sprintf("%d:%d", unix.Major(rdev), unix.Minor(rdev)))
}

// queue is an attribute of a device's queue, which for a partition is the disk's;
// "" if it is not known.
func (s system) queue(rdev uint64, name string) string {
	dir, err := filepath.EvalSymlinks(s.deviceDir(rdev))
	if err != nil {
		return ""
	}
	for _, dir := range []string{dir, filepath.Dir(dir)} {
		if text, err := os.ReadFile(filepath.Join(dir, "queue", name)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

// discardUnit is how many bytes a device discards at least, 0 if it does not say.
func (s system) discardUnit(rdev uint64) int64 {
	n, err := strconv.ParseInt(s.queue(rdev, "discard_granularity"), 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0
	}
	return n
}

// readDevice returns the device number of the device with the sysfs folder dir.
func readDevice(dir string) (uint64, bool) {
	text, err := os.ReadFile(filepath.Join(dir, "dev"))
	if err != nil {
		return 0, false
	}
	return parseDevice(strings.TrimSpace(string(text)))
}

// parseDevice reads "major:minor".
func parseDevice(text string) (uint64, bool) {
	var major, minor uint32
	if n, err := fmt.Sscanf(text, "%d:%d", &major, &minor); n != 2 || err != nil {
		return 0, false
	}
	return unix.Mkdev(major, minor), true
}

// holder finds what the kernel has built on a device of the family: device
// mapper, md, bcache and so on.
func (s system) holder(_ Info, fam family) (string, error) {
	for dev, which := range fam {
		holders, err := os.ReadDir(filepath.Join(s.deviceDir(dev), "holders"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", err
		}
		for _, h := range holders {
			return which + "part of " + s.holderName(h.Name()), nil
		}
	}
	return "", nil
}

// holderName returns the name of the device dm-3, which people know by that
// of its mapping; any other has only the one.
func (s system) holderName(name string) string {
	text, err := os.ReadFile(filepath.Join(s.sys, "class/block", name, "dm/name"))
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, strings.TrimSpace(string(text)))
}
