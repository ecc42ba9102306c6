// Package aginit computes what the headers of allocation groups hold in a new
// filesystem that has no inodes yet: the end state at once, each block only once.
// It works in memory and knows nothing of IO.
//
// An AG begins with four header sectors and its btree roots, without gaps:
//
//	superblock AGF AGI AGFL | bnobt cntbt inobt finobt rmapbt refcountbt | log? | free list
//
// All of it up to the roots is the header, one run of bytes. All but a few AGs
// are plain: no log, of full length, and alike but for the AG
// number, addresses and checksums. Their header is encoded once and patched
// for each.
package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Identity is what makes one filesystem differ from another of the same
// geometry. All of it is input: the package reads no clock and no random source.
type Identity struct {
	UUID    ondisk.UUID
	Seconds int64  // since 1970, of all times in inodes
	Nanos   uint32 // below 1e9
	// Generation gives the generation number of the next inode, or of the free ones of
	// the next chunk.
	Generation func() uint32
}

// Builder builds the blocks of one filesystem.
type Builder struct {
	g     *geometry.Geometry
	id    Identity
	table []placed
	plain []byte // the header of a plain AG, nil where there is none
}

// New makes a builder. The geometry must not change afterwards.
func New(g *geometry.Geometry, id Identity) *Builder {
	b := &Builder{g: g, id: id}
	b.table = b.rows()
	for agno := range g.AGCount { // soon ends: few AGs are not plain
		if b.isPlain(agno) {
			b.plain = make([]byte, b.HeaderSize())
			b.encode(agno, b.plain)
			b.keepSums()
			break
		}
	}
	return b
}

// keepSums prepares to seal patched copies of the plain header.
func (b *Builder) keepSums() {
	for i := range b.table {
		if p := &b.table[i]; p.patch != nil && b.v5() {
			p.reseal = ondisk.NewResealer(p.in(b.plain), p.crc, p.head)
		}
	}
}

// HeaderSize is the length in bytes of an AG's header.
func (b *Builder) HeaderSize() int { return int(b.g.Bytes(b.g.HeaderBlocks())) }

// Piece is one structure of a header.
type Piece struct {
	Name     string
	At, Size int // bytes from the start of the AG
}

// Pieces lists the structures of each AG's header in disk order.
func (b *Builder) Pieces() []Piece {
	list := make([]Piece, len(b.table))
	for i, p := range b.table {
		list[i] = Piece{p.name, p.at, p.size}
	}
	return list
}

// Frame is memory for an AG's header, HeaderSize bytes, to be used again for
// the next: a frame that held a plain AG's needs only patching for another.
// Its owner must not change Data between two calls of Build.
type Frame struct {
	Data  []byte
	plain bool
}

// Build fills a frame with an AG's header.
func (b *Builder) Build(agno geometry.AGNumber, f *Frame) {
	if !b.isPlain(agno) {
		f.plain = false
		b.encode(agno, f.Data)
		return
	}
	if !f.plain {
		copy(f.Data, b.plain)
		f.plain = true
	}
	for i := range b.table {
		p := &b.table[i]
		if p.patch != nil {
			part := p.in(f.Data)
			p.patch(b, p, agno, part)
			if p.reseal != nil {
				p.reseal.Seal(part)
			}
		}
	}
}

// isPlain tells whether an AG's header is the template's but for its number.
func (b *Builder) isPlain(agno geometry.AGNumber) bool {
	return agno != 0 && agno != b.g.AGCount-1 && !b.namesRoot(agno) && !b.g.HasLog(agno)
}

// encode writes an AG's whole header.
func (b *Builder) encode(agno geometry.AGNumber, header []byte) {
	a := newAG(b.g, agno)
	clear(header)
	for i := range b.table {
		p := &b.table[i]
		if p.build != nil {
			part := p.in(header)
			p.build(b, p, a, part)
			b.seal(p, part)
		}
	}
}

func (b *Builder) seal(p *placed, part []byte) {
	if b.v5() && p.crc != 0 {
		ondisk.Seal(part, p.crc)
	}
}

func (b *Builder) v5() bool { return b.g.Features.CRC }

// metaUUID is the UUID in metadata blocks, which V4 does not record.
func (b *Builder) metaUUID() ondisk.UUID {
	if b.v5() {
		return b.id.UUID
	}
	return ondisk.UUID{}
}
