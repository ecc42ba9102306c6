package target

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// InUseError is the error for a target that something uses, so that writing to
// it would destroy what that is doing.
type InUseError struct {
	Path string // the target
	By   string // "mounted on /srv", "active swap"; empty if not known

	// Idle is set if all there is is a loop device made of it, which nothing
	// uses: no reason not to read the target.
	Idle bool
}

// Error returns one line that names the target and its user.
func (e *InUseError) Error() string {
	if e.By == "" {
		return e.Path + " is in use by another program or by the kernel"
	}
	return e.Path + " is in use: " + e.By
}

// Mounted tells whether a filesystem on the target is mounted.
func (e *InUseError) Mounted() bool { return strings.Contains(e.By, mountedOn) }

// mountedOn comes before a mount point in InUseError.By.
const mountedOn = "mounted on "

// isIdle tells whether all that an error is about is an idle loop device.
func isIdle(err error) bool {
	var use *InUseError
	return errors.As(err, &use) && use.Idle
}

// CheckUse returns an *InUseError if the target is in use: if it, or any device
// or file that has bytes of it, is mounted (read-only counts), is active swap, or
// is part of a device mapper, RAID or similar device. Such are the partitions of a
// disk and the disk of a partition, what a loop device is made of and other loop
// devices of the same, as far as they overlap; of a part of a target only that
// counts. A loop device that is made of the target itself counts also if nothing
// uses it, since it may have old contents in its cache.
//
// Loop devices are told by inode, not by name. It looks at the mounts of its own
// namespace only. For a block device the exclusive open of Open has the last
// word, which sees all of them. Where /proc or /sys are not there it passes what
// they would have told.
func CheckUse(info Info) error {
	by, idle, err := (system{proc: "/proc", sys: "/sys", dev: "/dev"}).user(info)
	switch {
	case err != nil:
		return fmt.Errorf("%s: cannot find out whether it is in use: %w", info.Path, err)
	case by != "":
		return &InUseError{Path: info.Path, By: by, Idle: idle}
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
		return fmt.Errorf("%s has zones of its own that are written from start to end only (host-managed), which is "+
			"not supported yet", info.Path)
	}
	return nil
}

// system is where the kernel tells about itself; tests have one of their own.
type system struct{ proc, sys, dev string }

// user returns what uses the target, or "". idle tells that it is only a loop
// device that nothing uses.
func (s system) user(info Info) (by string, idle bool, err error) {
	relatives := s.relatives(info)
	for _, find := range []func([]relative) (string, error){s.mountUser, s.swapUser, s.holder} {
		by, err := find(relatives)
		if err != nil || by != "" {
			return by, false, err
		}
	}
	for _, r := range relatives {
		if r.made != "" {
			return "the loop device " + r.made + " is made of it", true, nil
		}
	}
	return "", false, nil
}

// ofDevice is the relative that is the device rdev.
func ofDevice(list []relative, rdev uint64) (which string, found bool) {
	return ofObject(list, object{rdev: rdev})
}

func ofObject(list []relative, o object) (which string, found bool) {
	i := slices.IndexFunc(list, func(r relative) bool { return r.object == o })
	if i < 0 {
		return "", false
	}
	return list[i].which, true
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

// holder finds what the kernel has built on a device of the list: device
// mapper, md, bcache and so on.
func (s system) holder(list []relative) (string, error) {
	for _, r := range list {
		if !r.isDevice() {
			continue
		}
		holders, err := os.ReadDir(filepath.Join(s.deviceDir(r.rdev), "holders"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", err
		}
		for _, h := range holders {
			return r.which + "part of " + s.holderName(h.Name()), nil
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
