package target

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// device is a block device that is a range of something else: a loop device or a
// partition.
type device struct {
	rdev uint64
	name string // within /dev
	made extent
	loop bool
}

func (d device) object() object { return object{rdev: d.rdev} }

// devices are the loop devices and the partitions that there are.
func (s system) devices() (list []device) {
	names, _ := os.ReadDir(filepath.Join(s.sys, "block"))
	for _, n := range names {
		dir := filepath.Join(s.sys, "block", n.Name())
		if strings.HasPrefix(n.Name(), "loop") {
			made, ok := s.backing(n.Name())
			if !ok {
				continue // made of nothing, so it has no partitions either
			}
			rdev, _ := readDevice(dir)
			list = append(list, device{rdev, n.Name(), made, true})
		}
		list = append(list, partitions(dir)...)
	}
	return list
}

// partitions are those of the disk with the sysfs folder dir.
func partitions(dir string) (list []device) {
	disk, ok := readDevice(dir)
	if !ok {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		part := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), filepath.Base(dir)) {
			continue // a partition has the disk's name and a number
		}
		if _, err := os.Stat(filepath.Join(part, "partition")); err != nil {
			continue
		}
		if rdev, ok := readDevice(part); ok {
			list = append(list, device{rdev, deviceName(e.Name()), extent{object{rdev: disk}, s512(part, "start", "size")},
				false})
		}
	}
	return list
}

// deviceName is the name in /dev of a device that sysfs calls name: there are no
// folders there.
func deviceName(name string) string { return strings.ReplaceAll(name, "!", "/") }

// s512 reads an offset and a length that sysfs has in units of 512 bytes. What
// is not known is all there is, so that it overlaps with anything.
func s512(dir, offset, length string) Window {
	w := Window{0, endless}
	if n, ok := readNumber(filepath.Join(dir, offset)); ok {
		w.Offset = n * 512
		if n, ok := readNumber(filepath.Join(dir, length)); ok {
			w.Length = n * 512
		}
	}
	return w
}

func readNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0 && n < endless/512
}

// backing is what the loop device name is made of. The kernel is asked for the
// inode, as the name it had when the loop device was made may be gone, or may
// mean something else here. Whoever is not let near the device must trust the
// name.
func (s system) backing(name string) (extent, bool) {
	dir := filepath.Join(s.sys, "block", name)
	if _, err := os.Lstat(filepath.Join(dir, "loop/backing_file")); err != nil {
		return extent{}, false // made of nothing
	}
	e := extent{Window: Window{0, endless}}
	if n, ok := readNumber(filepath.Join(dir, "loop/offset")); ok {
		e.Offset = n
		if n, ok := readNumber(filepath.Join(dir, "size")); ok {
			e.Length = n * 512
		}
	}
	fd, err := unix.Open(filepath.Join(s.dev, name), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		st, err := unix.IoctlLoopGetStatus64(fd)
		_ = unix.Close(fd)
		switch {
		case err == unix.ENXIO:
			return e, false // no longer made of anything
		case err == nil && st.Rdevice != 0:
			e.object, e.Offset = object{rdev: st.Rdevice}, int64(st.Offset)
			return e, true
		case err == nil:
			e.object, e.Offset = object{dev: st.Device, ino: st.Inode}, int64(st.Offset)
			return e, true
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "loop/backing_file"))
	if err != nil {
		return e, false
	}
	path := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), " (deleted)")
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return e, false
	}
	if st.Mode&unix.S_IFMT == unix.S_IFBLK {
		e.object = object{rdev: uint64(st.Rdev)}
	} else {
		e.object = object{dev: uint64(st.Dev), ino: st.Ino}
	}
	return e, true
}
