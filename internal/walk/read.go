package walk

import (
	"io"
	"unsafe"

	"golang.org/x/sys/unix"

	"mkfs/internal/tree"
)

// reader gets what the entries of batches are and hold. Each is used by one goroutine.
type reader struct {
	*walk
	b       *batch
	st      unix.Statx_t
	lengths bool // of attributes, but lengths are needed
	little  bool // the last regular file was one that a survey remembers with its data
}

func (r *reader) run() {
	for {
		select {
		case r.b = <-r.toRead:
		case <-r.ctx.Done():
			return
		}
		r.batch()
		r.b.ready <- struct{}{}
	}
}

// batch reads slots until all are read, or the batch can hold no more.
func (r *reader) batch() {
	b := r.b
	for first := true; b.read < b.count; first = false {
		if !first && (b.files == batchFiles || len(b.data)+small > cap(b.data) || b.held > batchAttrs) {
			return
		}
		if r.ctx.Err() != nil {
			return
		}
		s := &b.slots[b.read]
		b.read++
		if s.err != nil {
			continue
		}
		if s.err = r.slot(s); s.err != nil {
			s.content.close()
		}
	}
}

// slot reads one entry.
func (r *reader) slot(s *slot) error {
	s.keep = r.survey && s.self == nil && !r.memory.full.Load()
	r.lengths = r.survey && !s.keep
	switch {
	case s.kept != nil:
		r.recall(s)
		return nil
	case s.self != nil:
		return r.directory(s)
	case s.kind == unix.DT_REG && (!r.survey || s.keep && r.little):
		done, err := r.regular(s)
		if done || err != nil {
			return err
		}
	}
	if err := r.host.stat(s.dir.fd, s.name, &r.st); err != nil {
		return fail("its status cannot be read", err)
	}
	r.describe(&s.entry)
	switch s.entry.Mode & tree.TypeMask {
	case tree.TypeDirectory:
		return ErrChanged // it was not one when the lister came by
	case tree.TypeSymlink:
		if err := r.target(s); err != nil {
			return err
		}
	case tree.TypeRegular:
		if r.survey {
			return r.look(s)
		}
		if done, err := r.regular(s); done || err != nil {
			return err
		}
		return ErrChanged
	}
	return r.attributes(&s.entry, s.dir.fd, s.name)
}

// directory reads what a directory is, but not the times of the root.
func (r *reader) directory(s *slot) error {
	if err := r.host.stat(s.self.fd, nil, &r.st); err != nil {
		return fail("its status cannot be read", err)
	}
	r.describe(&s.entry)
	if s.dir == nil {
		s.entry.Modified, s.entry.Accessed = tree.Time{}, tree.Time{}
	}
	return r.attributes(&s.entry, s.self.fd, nil)
}

// regular opens a file that seems to be regular, and reads it ahead if it is small. It tells
// whether it is regular.
func (r *reader) regular(s *slot) (bool, error) {
	fd, err := s.dir.openFile(r.host, s.name)
	switch err {
	case nil:
	case unix.ENXIO, unix.ELOOP:
		return false, nil // a socket, or a symbolic link
	default:
		return false, fail("it cannot be opened", err)
	}
	s.content = content{host: r.host, fd: fd}
	if err := r.host.stat(fd, nil, &r.st); err != nil {
		return false, fail("its status cannot be read", err)
	}
	if r.st.Mode&unix.S_IFMT != unix.S_IFREG {
		s.content.close()
		return false, nil
	}
	r.describe(&s.entry)
	if r.survey {
		r.little = s.entry.Size <= keptData
		s.keep, r.lengths = r.little, !r.little
	}
	if err := r.attributes(&s.entry, fd, nil); err != nil {
		return false, err
	}
	s.content.file.Reset(fd, s.entry.Size)
	if r.survey {
		return true, r.lookInto(s)
	}
	return true, r.contents(s)
}

// contents reads what a file holds, if it is small and has no holes. Else it stays open.
func (r *reader) contents(s *slot) error {
	c, size := &s.content, s.entry.Size
	if size == 0 { // or as much as will come, which is refused
		_, _, err := r.host.count(&c.file, 1)
		c.close()
		return err
	}
	s.entry.Data = c
	whole, err := r.ahead(c, size)
	switch {
	case err != nil:
		return err
	case whole:
		c.close()
	default:
		r.b.files++
	}
	return nil
}

// ahead reads what a file holds, if it is small and has no holes, and tells whether that was so.
func (r *reader) ahead(c *content, size int64) (bool, error) {
	b := r.b
	if size > small || len(b.data)+int(size) > cap(b.data) {
		return false, nil
	}
	p := b.data[len(b.data) : len(b.data)+int(size)]
	if err := r.host.read(&c.file, p, 0); err != nil {
		return false, err
	}
	if !dense(p) {
		start, end, err := r.host.next(&c.file, 0)
		if err != nil && err != io.EOF {
			return false, err
		}
		if start != 0 || end != size {
			return false, nil
		}
	}
	b.data = b.data[:len(b.data)+int(size)]
	c.memory = p
	return true, nil
}

// describe puts a status into an entry.
func (r *reader) describe(e *tree.Entry) {
	st := &r.st
	e.Mode, e.UID, e.GID = st.Mode, st.Uid, st.Gid
	e.Modified = tree.Time{Sec: st.Mtime.Sec, Nsec: st.Mtime.Nsec, Given: true}
	if r.options.Accessed {
		e.Accessed = tree.Time{Sec: st.Atime.Sec, Nsec: st.Atime.Nsec, Given: true}
	}
	switch st.Mode & tree.TypeMask {
	case tree.TypeDirectory:
		return // its links are not names
	case tree.TypeRegular:
		e.Size = int64(st.Size)
	case tree.TypeCharacter, tree.TypeBlock:
		e.Major, e.Minor = st.Rdev_major, st.Rdev_minor
	}
	if st.Nlink > 1 {
		e.Link = tree.Link{Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino}
	}
}

// target reads what a symbolic link points to. mkfs.xfs cuts longer ones.
func (r *reader) target(s *slot) error {
	if r.options.Accessed {
		r.links.first(&r.st, &s.entry.Accessed)
	}
	p := r.room(tree.MaxTarget + 1)
	n, err := r.host.readlink(s.dir.fd, s.name, p)
	switch {
	case err != nil:
		return fail("its target cannot be read", err)
	case n > tree.MaxTarget:
		return fail("its target is longer than 1023 bytes, which XFS has no place for", unix.ENAMETOOLONG)
	}
	s.entry.Target = unsafe.String(unsafe.SliceData(p), n)
	r.use(n)
	return nil
}

// room gives memory of the batch for n bytes of text, of which use keeps some.
func (r *reader) room(n int) []byte {
	b := r.b
	if cap(b.text)-len(b.text) < n {
		b.text = make([]byte, 0, max(n, batchAttrs/8)) // older text stays where it is
	}
	return b.text[len(b.text) : len(b.text)+n]
}

func (r *reader) use(n int) {
	r.b.text = r.b.text[:len(r.b.text)+n]
	r.b.held += n
}
