package hostfile

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// Memory for names and values of attributes: the kernel zeroes as much as it is given, so that
// little is tried first. The largest are limits of the kernel (XATTR_LIST_MAX, XATTR_SIZE_MAX).
const (
	firstNames  = 256
	firstValue  = 256
	largest     = 64 << 10
	maxRemember = 256
)

// Attrs reads extended attributes. The zero value is ready.
type Attrs struct {
	names  []byte
	values []byte // one behind the other
	ends   []int  // in values
	list   []tree.Attr
	known  map[string]string // names that were there before: most files have the same
}

// file is what attributes are asked of.
type file struct {
	list func(dest []byte) (int, error)
	get  func(name string, dest []byte) (int, error)
}

// read is list, or get of an attribute with a name, until no signal comes between.
func (f file) read(name string, dest []byte) (n int, err error) {
	for {
		if name == "" {
			n, err = f.list(dest)
		} else {
			n, err = f.get(name, dest)
		}
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// OfFile reads the attributes of the open file fd. What it returns is good until the next call.
func (a *Attrs) OfFile(fd int) ([]tree.Attr, error) {
	return a.read(file{
		list: func(dest []byte) (int, error) { return unix.Flistxattr(fd, dest) },
		get:  func(name string, dest []byte) (int, error) { return unix.Fgetxattr(fd, name, dest) },
	})
}

// OfPath reads the attributes of the file at a path, of a symbolic link those of the link itself.
// It is for files that are not opened, or by O_PATH only.
func (a *Attrs) OfPath(path string) ([]tree.Attr, error) {
	return a.read(file{
		list: func(dest []byte) (int, error) { return unix.Llistxattr(path, dest) },
		get:  func(name string, dest []byte) (int, error) { return unix.Lgetxattr(path, name, dest) },
	})
}

// read lists the attributes and gets the value of each.
func (a *Attrs) read(f file) ([]tree.Attr, error) {
	a.list, a.values, a.ends = a.list[:0], a.values[:0], a.ends[:0]
	if a.names == nil {
		a.names = make([]byte, firstNames)
	}
	n, err := f.read("", a.names)
	if errors.Is(err, unix.ERANGE) {
		a.names = make([]byte, largest)
		n, err = f.read("", a.names)
	}
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing extended attributes: %w", err)
	}
	for names := a.names[:n]; len(names) > 0; {
		name, rest, _ := bytes.Cut(names, []byte{0})
		names = rest
		if err := a.get(f, a.name(name)); err != nil {
			return nil, err
		}
	}
	from := 0
	for i, end := range a.ends {
		a.list[i].Value = a.values[from:end:end]
		from = end
	}
	return a.list, nil
}

// get adds an attribute, when it has a value.
func (a *Attrs) get(f file, name string) error {
	used := len(a.values)
	if cap(a.values)-used < firstValue {
		a.grow(firstValue)
	}
	n, err := f.read(name, a.values[used:cap(a.values)])
	if errors.Is(err, unix.ERANGE) {
		a.grow(largest)
		n, err = f.read(name, a.values[used:cap(a.values)])
	}
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), err == nil && n == 0:
		return nil
	case err != nil:
		return fmt.Errorf("reading the extended attribute %q: %w", name, err)
	}
	a.values = a.values[:used+n]
	a.list, a.ends = append(a.list, tree.Attr{Name: name}), append(a.ends, used+n)
	return nil
}

// grow makes room for n more bytes of values.
func (a *Attrs) grow(n int) {
	larger := make([]byte, len(a.values), 2*len(a.values)+n)
	copy(larger, a.values)
	a.values = larger
}

// name is the name as a string, the same one each time.
func (a *Attrs) name(b []byte) string {
	if s, ok := a.known[string(b)]; ok {
		return s
	}
	if a.known == nil || len(a.known) >= maxRemember {
		a.known = map[string]string{}
	}
	s := string(b)
	a.known[s] = s
	return s
}
