package walk

import "io"

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
	if e.Size == 0 {
		return nil
	}
	if r.mayHaveHoles() {
		return r.pieces(s)
	}
	e.Stored, e.Pieces = roundUp(e.Size, r.block), 1
	return nil
}

// mayHaveHoles tells that a file has less than its size on the host, or so much more that the rest
// may be behind its end.
func (r *reader) mayHaveHoles() bool {
	const sector = 512
	size, stored := int64(r.st.Size), int64(r.st.Blocks)*sector
	return stored < size || stored > roundUp(size, max(int64(r.st.Blksize), 1))+small
}

// pieces opens a file and counts its data.
func (r *reader) pieces(s *slot) error {
	fd, err := s.dir.openFile(r.host, s.name)
	if err != nil {
		return fail("it cannot be opened", err)
	}
	defer func() { _ = r.host.close(fd) }() // nothing was written
	e, last := &s.entry, int64(-1)
	for off := int64(0); off < e.Size; {
		start, end, err := piece(r.host, fd, off, e.Size)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		first, next := start/r.block, roundUp(end, r.block)/r.block
		first = max(first, last) // a block of two pieces counts once
		e.Stored += (next - first) * r.block
		e.Pieces++
		last, off = next, end
		if e.Pieces%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
	}
	return nil
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
