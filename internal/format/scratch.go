package format

import (
	"mkfs/internal/aginit"
	"mkfs/internal/buffer"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// scratch is a new filesystem's device that nothing is written to: blocks that are,
// stay in memory, and AGs have the headers that they would. It lets the files of a
// new filesystem be made to see what they take, or where they would be.
type scratch struct {
	g     *geometry.Geometry
	build *aginit.Builder
	frame aginit.Frame
	pages map[int64][]byte // blocks of which something was written
	under delwri.Writer    // is told of all writes; nil for nobody
}

func newScratch(g *geometry.Geometry, b *aginit.Builder, under delwri.Writer) *scratch {
	return &scratch{
		g: g, build: b, under: under, pages: map[int64][]byte{}, frame: aginit.Frame{Data: make([]byte, b.HeaderSize())},
	}
}

// Read gives what was written, else the header of an AG, else zeros.
func (s *scratch) Read(off int64, vec [][]byte, done func(error)) error {
	for _, p := range vec {
		s.read(p, off)
		off += int64(len(p))
	}
	done(nil)
	return nil
}

func (s *scratch) read(p []byte, off int64) {
	size := int64(s.g.BlockSize)
	for len(p) > 0 {
		from := off % size
		part := p[:min(len(p), int(size-from))]
		if page := s.pages[off/size]; page != nil {
			copy(part, page[from:])
		} else {
			s.header(part, off)
		}
		p, off = p[len(part):], off+int64(len(part))
	}
}

// header gives what the header of an AG has in a block or a part of one, zeros elsewhere.
func (s *scratch) header(p []byte, off int64) {
	clear(p)
	agno := geometry.AGNumber(geometry.Blocks(off>>s.g.BlockLog) / s.g.AGBlocks)
	if at := off - int64(s.g.Offset(agno, 0)); at < int64(len(s.frame.Data)) {
		s.build.Build(agno, &s.frame)
		copy(p, s.frame.Data[at:])
	}
}

// Write keeps what is written.
func (s *scratch) Write(off int64, vec [][]byte, done func(error)) error {
	at := off
	for _, p := range vec {
		s.write(p, at)
		at += int64(len(p))
	}
	if s.under != nil {
		return s.under.Write(off, vec, done)
	}
	done(nil)
	return nil
}

func (s *scratch) write(p []byte, off int64) {
	size := int64(s.g.BlockSize)
	for len(p) > 0 {
		from := off % size
		page := s.pages[off/size]
		if page == nil {
			page = make([]byte, size)
			s.header(page, off-from)
			s.pages[off/size] = page
		}
		n := copy(page[from:], p)
		p, off = p[n:], off+int64(n)
	}
}

// Reap waits for what is below.
func (s *scratch) Reap(min int) error {
	if s.under != nil {
		return s.under.Reap(min)
	}
	return nil
}

var _ buffer.Ring = (*scratch)(nil)
