package walk

import "mkfs/internal/hostfile"

// look surveys a regular file, whose status has been read: whether it can be read, and how much
// data it has. It is opened only if its status does not tell.
func (r *reader) look(s *slot) error {
	if err := r.rights.read(r.host, s, &r.st); err != nil {
		return err
	}
	if err := r.attributes(&s.entry, s.dir.fd, s.name); err != nil {
		return err
	}
	e := &s.entry
	switch {
	case e.Size == 0 && s.dir.knows(&r.st):
	case e.Size == 0 || r.mayHaveHoles():
		return r.pieces(s)
	default:
		e.Stored, e.Pieces = roundUp(e.Size, r.block), 1
	}
	return nil
}

// mayHaveHoles tells that a file has less than its size on the host, or so much more that the rest
// may be behind its end.
func (r *reader) mayHaveHoles() bool {
	const sector = 512
	size, stored := int64(r.st.Size), int64(r.st.Blocks)*sector
	return stored < size || stored > roundUp(size, max(int64(r.st.Blksize), 1))+small
}

// pieces opens a file and counts its data. One of a length that the host does not know, which it tells
// as none, is an error.
func (r *reader) pieces(s *slot) error {
	fd, err := s.dir.openFile(r.host, s.name)
	if err != nil {
		return fail("it cannot be opened", err)
	}
	defer func() { _ = r.host.close(fd) }() // nothing was written
	var file hostfile.Data
	file.Reset(fd, s.entry.Size)
	s.entry.Stored, s.entry.Pieces, err = r.host.count(&file, r.block)
	return err
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
