package ondisk

import "encoding/binary"

// RTSuper is the superblock at the start of a realtime device. It fills a block.
type RTSuper struct {
	CRC      uint32 // as found by decoding; Seal sets it
	Label    [12]byte
	UUID     UUID
	MetaUUID UUID
}

// Magic number and places of the realtime superblock.
const (
	RTSuperMagic = 0x46726f67 // "Frog"
	RTSuperSize  = 56
	RTSuperCRC   = 4
)

// Put writes the superblock, unsealed.
func (s *RTSuper) Put(b []byte) {
	c := cursor{b: b}
	c.u32(RTSuperMagic)
	c.zero(4 + 4)
	c.bytes(s.Label[:])
	c.uuid(&s.UUID)
	c.uuid(&s.MetaUUID)
}

// DecodeRTSuper reads a superblock, or tells by false that there is none.
func DecodeRTSuper(b []byte) (s RTSuper, ok bool) {
	if len(b) < RTSuperSize || be.Uint32(b) != RTSuperMagic {
		return s, false
	}
	c := cursor{b: b, at: 4}
	s.CRC = c.getCRC()
	c.next(4)
	copy(s.Label[:], c.next(len(s.Label)))
	s.UUID, s.MetaUUID = c.getUUID(), c.getUUID()
	return s, true
}

// RTBlock heads a block of the bitmap or summary of a realtime group.
type RTBlock struct {
	Magic uint32
	CRC   uint32
	Owner uint64
	Blkno uint64 // a daddr
	LSN   uint64
	UUID  UUID
}

// Magic numbers and places of these blocks.
const (
	RTBitmapMagic  = 0x424d505a // "BMPZ"
	RTSummaryMagic = 0x53554d59 // "SUMY"
	RTBlockHeader  = 48
	RTBlockCRC     = 4
	RTWordSize     = 4
)

// Put writes the header, unsealed.
func (h *RTBlock) Put(b []byte) {
	c := cursor{b: b}
	c.u32(h.Magic)
	c.zero(4)
	c.u64(h.Owner)
	c.u64(h.Blkno)
	c.u64(h.LSN)
	c.uuid(&h.UUID)
}

// DecodeRTBlock reads a header.
func DecodeRTBlock(b []byte) (h RTBlock, ok bool) {
	if len(b) < RTBlockHeader {
		return h, false
	}
	c := cursor{b: b}
	h.Magic, h.CRC, h.Owner, h.Blkno, h.LSN, h.UUID =
		c.get32(), c.getCRC(), c.get64(), c.get64(), c.get64(), c.getUUID()
	return h, h.Magic == RTBitmapMagic || h.Magic == RTSummaryMagic
}

// PutRTWord writes a word of bitmap or summary. Those of groups are big-endian.
// Without groups they are in the order of the machine that made them, which is
// taken to be little-endian.
func PutRTWord(b []byte, v uint32, groups bool) {
	if groups {
		be.PutUint32(b, v)
	} else {
		binary.LittleEndian.PutUint32(b, v)
	}
}

// PutMetaLeaf writes a btree root in a fork that is a leaf: how many records
// there are, which follow.
func PutMetaLeaf(fork []byte, records int) []byte {
	c := cursor{b: fork}
	c.u16(0) // level
	c.u16(uint16(records))
	return fork[c.at:]
}

// PutParent writes the value of a parent pointer: the directory and its generation.
func PutParent(inode uint64, generation uint32) string {
	b := make([]byte, 12)
	c := cursor{b: b}
	c.u64(inode)
	c.u32(generation)
	return string(b)
}
