package walk

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	listBytes  = 32 << 10 // of names that are asked for at once
	openLevels = 64       // directories that are open on the way from the root
)

// level is a directory whose names are being gone through.
type level struct {
	folder *folder // nil if it is parked
	names  []byte  // records of getdents64 that are left
	buffer []byte
	end    bool // names are the last
	sorted bool // by name, all at once
	// dev and ino are of a parked one: what is opened again is to be the same.
	dev, ino uint64
}

// name is a name in a directory.
type name struct {
	text []byte
	ino  uint64
	kind uint8
}

// next takes the next name, and none behind the last.
func (l *level) next(h host) (n name, ok bool, err error) {
	for {
		if len(l.names) == 0 {
			if l.end {
				return name{}, false, nil
			}
			if err := l.fetch(h); err != nil {
				return name{}, false, err
			}
			continue
		}
		n, err := l.take()
		if err != nil {
			return name{}, false, err
		}
		if n.ino == 0 || string(n.text) == "." || string(n.text) == ".." {
			continue
		}
		return n, true, nil
	}
}

// fetch gets more names, or all of them in order.
func (l *level) fetch(h host) error {
	if l.sorted {
		return l.sort(h)
	}
	n, err := h.entries(l.folder.fd, l.buffer)
	if err != nil {
		return fail("its names cannot be read", err)
	}
	l.names, l.end = l.buffer[:n], n == 0
	return nil
}

// sort gets all names in the order of their bytes.
func (l *level) sort(h host) error {
	var list []byte
	for !l.end {
		n, err := h.entries(l.folder.fd, l.buffer)
		if err != nil {
			return fail("its names cannot be read", err)
		}
		list, l.end = append(list, l.buffer[:n]...), n == 0
	}
	var starts []int // of records
	for l.names = list; len(l.names) > 0; {
		starts = append(starts, len(list)-len(l.names))
		if _, err := l.take(); err != nil {
			return err
		}
	}
	slices.SortFunc(starts, func(a, b int) int { // they differ before the end of a name, or there
		return bytes.Compare(list[a+recordName:], list[b+recordName:])
	})
	l.names = make([]byte, 0, len(list))
	for _, at := range starts {
		length := int(binary.NativeEndian.Uint16(list[at+16:]))
		l.names = append(l.names, list[at:at+length]...)
	}
	return nil
}

// recordName is where the name is in a record.
const recordName = 19

// take takes a record: inode number, cookie, length of the record, type, name. (struct linux_dirent64)
func (l *level) take() (name, error) {
	p := l.names
	if len(p) <= recordName {
		return name{}, fail("its names cannot be read", unix.EIO)
	}
	length := int(binary.NativeEndian.Uint16(p[16:]))
	if length <= recordName || length > len(p) {
		return name{}, fail("its names cannot be read", unix.EIO)
	}
	l.names = p[length:]
	text := p[recordName:length]
	for i, c := range text {
		if c == 0 {
			text = text[:i]
			break
		}
	}
	return name{text, binary.NativeEndian.Uint64(p), p[18]}, nil
}

// park reads the names that are left and closes the directory, which wake opens again.
func (l *level) park(h host) error {
	var st unix.Statx_t
	if err := h.stat(l.folder.fd, nil, &st); err != nil {
		return fail("its status cannot be read", err)
	}
	l.dev, l.ino = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	left := append([]byte(nil), l.names...)
	for !l.end {
		if err := l.fetch(h); err != nil {
			return err
		}
		left = append(left, l.names...)
	}
	l.names = left
	l.folder.drop(h)
	l.folder = nil
	return nil
}

// wake opens a parked directory, as the upper one of a directory in it.
func (l *level) wake(h host, below *folder) error {
	f, err := openDir(h, below.fd, &dotDot[0])
	if err != nil {
		return fail("it cannot be opened again", err)
	}
	var st unix.Statx_t
	if err := h.stat(f.fd, nil, &st); err != nil {
		f.drop(h)
		return fail("its status cannot be read", err)
	}
	if unix.Mkdev(st.Dev_major, st.Dev_minor) != l.dev || st.Ino != l.ino {
		f.drop(h)
		return ErrChanged
	}
	l.folder = f
	return nil
}

var dotDot = []byte("..\x00")
