package target

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mountUser finds a mounted file system on the family.
func (s system) mountUser(_ Info, fam family) (by string, err error) {
	err = s.eachLine("self/mountinfo", func(line string) bool {
		// ID, parent, major:minor, root, mount point, options, any number
		// of optional fields, "-", type, source, options: see proc(5).
		f := strings.Fields(line)
		if len(f) < 5 {
			return true
		}
		which, found := "", false
		if dev, ok := parseDevice(f[2]); ok {
			which, found = fam[dev]
		}
		// btrfs and others make up a device number of their own.
		for i := 5; !found && i+2 < len(f); i++ {
			if f[i] == "-" {
				dev, ok := blockDevice(unescape(f[i+2]))
				if ok {
					which, found = fam[dev]
				}
				break
			}
		}
		if found {
			by = which + "mounted on " + unescape(f[4])
		}
		return !found
	})
	return by, err
}

// swapUser finds active swap that is the file info, or on the family.
func (s system) swapUser(info Info, fam family) (by string, err error) {
	err = s.eachLine("swaps", func(line string) bool {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasPrefix(f[0], "/") {
			return true // the heading
		}
		var st unix.Stat_t
		if unix.Stat(unescape(f[0]), &st) != nil {
			return true
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFBLK:
			if which, ok := fam[uint64(st.Rdev)]; ok {
				by = which + "active swap"
			}
		case unix.S_IFREG:
			if info.Kind == File && info.Dev == uint64(st.Dev) && info.Ino == st.Ino {
				by = "active swap"
			}
		}
		return by == ""
	})
	return by, err
}

// loopUser finds a loop device that is made of info.
func (s system) loopUser(info Info) (string, error) {
	devices, err := os.ReadDir(filepath.Join(s.sys, "block"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for _, d := range devices {
		name := d.Name()
		if !strings.HasPrefix(name, "loop") {
			continue
		}
		backing := filepath.Join(s.sys, "block", name, "loop/backing_file")
		if _, err := os.Lstat(backing); err != nil {
			continue // made of nothing
		}
		if s.loopIsOf(name, backing, info) {
			return "the loop device /dev/" + name + " is made of it", nil
		}
	}
	return "", err
}

// loopIsOf reports whether the loop device name is made of info. The kernel is
// asked for the inode, as the name it had when the loop device was made may be
// gone, or may mean something else here. Whoever is not let near the device
// must trust the name.
func (s system) loopIsOf(name, backing string, info Info) bool {
	fd, err := unix.Open(filepath.Join(s.dev, name), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		st, err := unix.IoctlLoopGetStatus64(fd)
		_ = unix.Close(fd)
		if err == nil {
			if info.Kind == BlockDevice {
				return st.Rdevice != 0 && st.Rdevice == info.Rdev
			}
			return st.Device == info.Dev && st.Inode == info.Ino
		}
		if err == unix.ENXIO {
			return false // no longer made of anything
		}
	}
	text, err := os.ReadFile(backing)
	if err != nil {
		return false
	}
	path := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), " (deleted)")
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return false
	}
	if info.Kind == BlockDevice {
		return st.Mode&unix.S_IFMT == unix.S_IFBLK && uint64(st.Rdev) == info.Rdev
	}
	return uint64(st.Dev) == info.Dev && st.Ino == info.Ino
}

// eachLine calls f with the lines of a file in proc until f returns false. A
// file that is not there has no lines.
func (s system) eachLine(name string, f func(line string) bool) error {
	file, err := os.Open(filepath.Join(s.proc, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20) // overlay mounts have very long options
	for lines.Scan() {
		if !f(lines.Text()) {
			return nil
		}
	}
	return lines.Err()
}

// blockDevice returns the device number of path if it is a block device.
func blockDevice(path string) (uint64, bool) {
	var st unix.Stat_t
	if !strings.HasPrefix(path, "/dev/") || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return 0, false
	}
	return uint64(st.Rdev), true
}

// unescape undoes what proc does to blanks, backslashes and line ends in names:
// a backslash and three octal digits.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1:i+4]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isOctal(s string) bool {
	return strings.Trim(s, "01234567") == "" && s[0] <= '3'
}
