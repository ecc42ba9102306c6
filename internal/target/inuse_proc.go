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

// mountUser finds a mounted file system on a device of the list.
func (s system) mountUser(list []relative) (by string, err error) {
	err = s.eachLine("self/mountinfo", func(line string) bool {
		// ID, parent, major:minor, root, mount point, options, any number
		// of optional fields, "-", type, source, options: see proc(5).
		f := strings.Fields(line)
		if len(f) < 5 {
			return true
		}
		which, found := "", false
		if dev, ok := parseDevice(f[2]); ok {
			which, found = ofDevice(list, dev)
		}
		// btrfs and others make up a device number of their own.
		for i := 5; !found && i+2 < len(f); i++ {
			if f[i] == "-" {
				dev, ok := blockDevice(unescape(f[i+2]))
				if ok {
					which, found = ofDevice(list, dev)
				}
				break
			}
		}
		if found {
			by = which + mountedOn + unescape(f[4])
		}
		return !found
	})
	return by, err
}

// swapUser finds active swap that is on the list.
func (s system) swapUser(list []relative) (by string, err error) {
	err = s.eachLine("swaps", func(line string) bool {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasPrefix(f[0], "/") {
			return true // the heading
		}
		var st unix.Stat_t
		if unix.Stat(unescape(f[0]), &st) != nil {
			return true
		}
		swap := object{dev: uint64(st.Dev), ino: st.Ino}
		if st.Mode&unix.S_IFMT == unix.S_IFBLK {
			swap = object{rdev: uint64(st.Rdev)}
		}
		if which, found := ofObject(list, swap); found {
			by = which + "active swap"
		}
		return by == ""
	})
	return by, err
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
