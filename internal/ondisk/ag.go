package ondisk

// Magic numbers of the AG headers, and where those of V5 keep their checksums.
const (
	AGFMagic  = 0x58414746 // "XAGF"
	AGIMagic  = 0x58414749 // "XAGI"
	AGFLMagic = 0x5841464c // "XAFL"

	AGFSize, AGFCRC   = 224, 216
	AGISize, AGICRC   = 344, 312
	AGFLSize, AGFLCRC = 36, 32 // AGFLSize is the V5 header; the list follows

	agVersion       = 1
	unlinkedBuckets = 64
)

// AGF heads the free space of an AG.
type AGF struct {
	Seqno, Length                    uint32
	BnoRoot, CntRoot, RmapRoot       uint32
	BnoLevel, CntLevel, RmapLevel    uint32
	FreeFirst, FreeLast, FreeCount   uint32 // of the free list, by index
	FreeBlocks, Longest, BtreeBlocks uint32
	UUID                             UUID // from here on V5 only
	RmapBlocks, RefcountBlocks       uint32
	RefcountRoot, RefcountLevel      uint32
	LSN                              uint64
	CRC                              uint32 // as found by decoding
}

// Put writes the AGF. The V5 part is all zero in V4.
func (a *AGF) Put(b []byte) {
	c := cursor{b: b}
	c.u32(AGFMagic)
	c.u32(agVersion)
	for _, v := range []uint32{a.Seqno, a.Length, a.BnoRoot, a.CntRoot, a.RmapRoot,
		a.BnoLevel, a.CntLevel, a.RmapLevel, a.FreeFirst, a.FreeLast, a.FreeCount,
		a.FreeBlocks, a.Longest, a.BtreeBlocks} {
		c.u32(v)
	}
	c.uuid(&a.UUID)
	for _, v := range []uint32{a.RmapBlocks, a.RefcountBlocks, a.RefcountRoot, a.RefcountLevel} {
		c.u32(v)
	}
	c.zero(14 * 8)
	c.u64(a.LSN)
	c.zero(4 + 4)
}

// DecodeAGF reads an AGF, or tells by false that there is none.
func DecodeAGF(b []byte) (a AGF, ok bool) {
	if len(b) < AGFSize || be.Uint32(b) != AGFMagic {
		return a, false
	}
	c := cursor{b: b, at: 8}
	for _, v := range []*uint32{&a.Seqno, &a.Length, &a.BnoRoot, &a.CntRoot, &a.RmapRoot,
		&a.BnoLevel, &a.CntLevel, &a.RmapLevel, &a.FreeFirst, &a.FreeLast, &a.FreeCount,
		&a.FreeBlocks, &a.Longest, &a.BtreeBlocks} {
		*v = c.get32()
	}
	a.UUID = c.getUUID()
	for _, v := range []*uint32{&a.RmapBlocks, &a.RefcountBlocks, &a.RefcountRoot, &a.RefcountLevel} {
		*v = c.get32()
	}
	c.next(14 * 8)
	a.LSN, a.CRC = c.get64(), c.getCRC()
	return a, true
}

// AGI heads the inodes of an AG.
type AGI struct {
	Seqno, Length           uint32
	Count, Root, Level      uint32
	FreeCount, NewInode     uint32
	DirInode                uint32 // unused, always null
	Unlinked                [unlinkedBuckets]uint32
	UUID                    UUID // from here on V5 only
	CRC                     uint32
	LSN                     uint64
	FreeRoot, FreeLevel     uint32
	InodeBlocks, FreeBlocks uint32
}

// Put writes the AGI.
func (a *AGI) Put(b []byte) {
	c := cursor{b: b}
	c.u32(AGIMagic)
	c.u32(agVersion)
	for _, v := range []uint32{a.Seqno, a.Length, a.Count, a.Root, a.Level, a.FreeCount, a.NewInode, a.DirInode} {
		c.u32(v)
	}
	for _, v := range a.Unlinked {
		c.u32(v)
	}
	c.uuid(&a.UUID)
	c.zero(4 + 4)
	c.u64(a.LSN)
	for _, v := range []uint32{a.FreeRoot, a.FreeLevel, a.InodeBlocks, a.FreeBlocks} {
		c.u32(v)
	}
}

// DecodeAGI reads an AGI, or tells by false that there is none.
func DecodeAGI(b []byte) (a AGI, ok bool) {
	if len(b) < AGISize || be.Uint32(b) != AGIMagic {
		return a, false
	}
	c := cursor{b: b, at: 8}
	for _, v := range []*uint32{&a.Seqno, &a.Length, &a.Count, &a.Root, &a.Level, &a.FreeCount, &a.NewInode, &a.DirInode} {
		*v = c.get32()
	}
	for i := range a.Unlinked {
		a.Unlinked[i] = c.get32()
	}
	a.UUID, a.CRC = c.getUUID(), c.getCRC()
	c.next(4)
	a.LSN = c.get64()
	for _, v := range []*uint32{&a.FreeRoot, &a.FreeLevel, &a.InodeBlocks, &a.FreeBlocks} {
		*v = c.get32()
	}
	return a, true
}

// AGFL is the header of an AG's free list. V4 has none: its list begins at
// the start of the sector.
type AGFL struct {
	Seqno uint32
	UUID  UUID
	LSN   uint64
	CRC   uint32
}

// Put writes the header.
func (a *AGFL) Put(b []byte) {
	c := cursor{b: b}
	c.u32(AGFLMagic)
	c.u32(a.Seqno)
	c.uuid(&a.UUID)
	c.u64(a.LSN)
	c.zero(4)
}

// DecodeAGFL reads the header, or tells by false that there is none.
func DecodeAGFL(b []byte) (a AGFL, ok bool) {
	if len(b) < AGFLSize || be.Uint32(b) != AGFLMagic {
		return a, false
	}
	c := cursor{b: b, at: 4}
	a.Seqno, a.UUID, a.LSN, a.CRC = c.get32(), c.getUUID(), c.get64(), c.getCRC()
	return a, true
}

// FreeList is the part of an AGFL's sector that holds block numbers.
func FreeList(sector []byte, v5 bool) []byte {
	if v5 {
		return sector[AGFLSize:]
	}
	return sector
}

// PutFreeList writes the slots of a free list and null behind them. An entry
// is 4 bytes; a part of one at the end is left alone.
func PutFreeList(b []byte, slots []uint32) {
	for i := 0; i < len(b)/4; i++ {
		v := ^uint32(0)
		if i < len(slots) {
			v = slots[i]
		}
		be.PutUint32(b[4*i:], v)
	}
}

// FreeListEntry reads entry i.
func FreeListEntry(b []byte, i int) uint32 { return be.Uint32(b[4*i:]) }

// How far into a header its AG number reaches.
const (
	AGFSeqnoEnd  = 12
	AGISeqnoEnd  = 12
	AGFLSeqnoEnd = 8
)

// SetAGFSeqno, SetAGISeqno and SetAGFLSeqno renumber an encoded header, which
// then wants sealing again.
func SetAGFSeqno(b []byte, agno uint32) { be.PutUint32(b[8:], agno) }

// SetAGISeqno: see SetAGFSeqno.
func SetAGISeqno(b []byte, agno uint32) { be.PutUint32(b[8:], agno) }

// SetAGFLSeqno: see SetAGFSeqno.
func SetAGFLSeqno(b []byte, agno uint32) { be.PutUint32(b[4:], agno) }
