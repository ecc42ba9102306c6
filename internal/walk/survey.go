package walk

// look surveys a regular file by its name, when its status has been read: whether it can be read, and
// how much data it has. It is opened only if its status does not tell.
func (r *reader) look(s *slot) error {
	r.little = s.entry.Size <= keptData
	s.keep, r.lengths = false, true
	if err := r.rights.read(r.host, s, &r.st); err != nil {
		return err
	}
	if err := r.attributes(&s.entry, s.dir.fd, s.name); err != nil || r.told(s) {
		return err
	}
	fd, err := s.dir.openFile(r.host, s.name)
	if err != nil {
		return fail("it cannot be opened", err)
	}
	s.content = content{host: r.host, fd: fd}
	s.content.file.Reset(fd, s.entry.Size)
	return r.count(s)
}

// lookInto surveys an open file, and reads one that is to be kept.
func (r *reader) lookInto(s *slot) (err error) {
	e := &s.entry
	if s.keep && e.Size > 0 {
		if s.keep, err = r.ahead(&s.content, e.Size); err != nil {
			return err
		}
		if s.keep {
			e.Stored, e.Pieces = roundUp(e.Size, r.block), 1
			s.content.close()
			return nil
		}
	}
	if r.told(s) {
		s.content.close()
		return nil
	}
	return r.count(s)
}

// told tells whether the status of a file tells how much data it has.
func (r *reader) told(s *slot) bool {
	e := &s.entry
	switch {
	case e.Size == 0:
		return s.dir.knows(&r.st)
	case r.mayHaveHoles():
		return false
	}
	e.Stored, e.Pieces = roundUp(e.Size, r.block), 1
	return true
}

// count counts the data of an open file, and closes it. One of a length that the host does not know,
// which it tells as none, is an error.
func (r *reader) count(s *slot) (err error) {
	s.entry.Stored, s.entry.Pieces, err = r.host.count(&s.content.file, r.block)
	s.content.close()
	return err
}

// mayHaveHoles tells that a file has less than its size on the host, or so much more that the rest
// may be behind its end.
func (r *reader) mayHaveHoles() bool {
	const sector = 512
	size, stored := int64(r.st.Size), int64(r.st.Blocks)*sector
	return stored < size || stored > roundUp(size, max(int64(r.st.Blksize), 1))+small
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
