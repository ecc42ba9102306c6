package walk

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

const (
	mostNames = 64 << 10 // bytes of the names of a file's attributes (XATTR_LIST_MAX)
	mostValue = 64 << 10 // bytes of a value (XATTR_SIZE_MAX)
	someNames = 256      // bytes that the names of most files have room in
	someValue = 256
)

// surveyed stands for the values of attributes in a survey that keeps but their lengths.
var surveyed [mostValue]byte

// attributes gets the extended attributes of a file, but for empty ones, which mkfs.xfs leaves out.
// A name of nil is the open file itself. (writeattrs)
func (r *reader) attributes(e *tree.Entry, fd int, file *byte) error {
	names, err := r.attrNames(fd, file)
	if err != nil || len(names) == 0 {
		return err
	}
	first := len(r.b.attrs)
	for len(names) > 0 {
		n := bytes.IndexByte(names, 0)
		if n < 0 {
			return fail("the names of its attributes cannot be read", unix.EIO)
		}
		a := tree.Attr{Name: unsafe.String(&names[0], n)}
		if a.Value, err = r.attrValue(fd, file, &names[0]); err != nil {
			return fail("its attribute "+legible(a.Name)+" cannot be read", err)
		}
		if len(a.Value) > 0 {
			r.b.attrs = append(r.b.attrs, a)
		}
		names = names[n+1:]
	}
	e.Attrs = r.b.attrs[first:len(r.b.attrs):len(r.b.attrs)]
	if r.options.Sorted {
		slices.SortFunc(e.Attrs, func(a, b tree.Attr) int { return strings.Compare(a.Name, b.Name) })
	}
	return nil
}

// attrNames gets the names of attributes, each with a zero behind. The kernel takes memory for as
// much as is asked for, so it is asked for little at first.
func (r *reader) attrNames(fd int, file *byte) ([]byte, error) {
	p := r.room(someNames)
	n, err := r.host.listAttrs(fd, file, p)
	if err == unix.ERANGE {
		p = r.room(mostNames)
		n, err = r.host.listAttrs(fd, file, p)
	}
	switch {
	case err == unix.EOPNOTSUPP:
		return nil, nil
	case err != nil:
		return nil, fail("the names of its attributes cannot be read", err)
	}
	r.use(n)
	return p[:n:n], nil
}

// attrValue gets the value of an attribute; where but lengths are needed, only the length is right. An attribute that
// the filesystem lists and does not have is empty.
func (r *reader) attrValue(fd int, file, name *byte) (value []byte, err error) {
	n := 0
	if r.lengths {
		n, err = r.host.attr(fd, file, name, nil)
		value = surveyed[:]
	} else {
		value = r.room(someValue)
		if n, err = r.host.attr(fd, file, name, value); err == unix.ERANGE {
			value = r.room(mostValue)
			n, err = r.host.attr(fd, file, name, value)
		}
	}
	switch {
	case err == unix.EOPNOTSUPP:
		return nil, nil
	case err != nil:
		return nil, err
	case n > len(value):
		return nil, unix.E2BIG
	case !r.lengths:
		r.use(n)
	}
	return value[:n:n], nil
}
