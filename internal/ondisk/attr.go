package ondisk

// More bits of AttrFlags: the third namespace that has one, and what only entries of
// leaves have.
const (
	AttrLocal      AttrFlags = 0x01 // the value is in the leaf
	AttrSecure     AttrFlags = 0x04 // "security"
	AttrIncomplete AttrFlags = 0x80 // being made or removed, and not to be seen

	// AttrNamespace are the bits of which an attribute has one at most.
	AttrNamespace = AttrRoot | AttrSecure | AttrParent
)

// Magic numbers of blocks of attributes.
const (
	AttrLeafMagic, AttrLeafMagicV4 = 0x3bee, 0xfbee
	AttrRemoteMagic                = 0x5841524d // "XARM"
)

// Sizes in leaves of attributes, and of the blocks of values.
const (
	AttrLeafHeader   = 80
	AttrLeafHeaderV4 = 32
	AttrLeafCRC      = 12
	AttrEntrySize    = 8
	AttrFreeRegions  = 3

	AttrLocalHeader  = 3 // of a name with its value: length of the value, of the name
	AttrRemoteHeader = 9 // of a name whose value has blocks: first block, length of the value, of the name

	AttrBlockHeader = 56 // of each block of a value
	AttrBlockCRC    = 12

	ParentRecSize = 12
)

// AttrLeaf is what a leaf of attributes says of itself, behind its siblings.
type AttrLeaf struct {
	Count     int // entries, which follow the header
	UsedBytes int // of names and values, which fill the block from its end down
	FirstUsed int // where the lowest of them begins
	Holes     bool
	// Free are some of the free regions, not all. A region of no bytes is none.
	Free [AttrFreeRegions]AttrFree
}

// AttrFree is a free region of a leaf.
type AttrFree struct{ Base, Size int }

// AttrLeafV5 tells whether a leaf has the header of V5.
func AttrLeafV5(b []byte) bool { return be.Uint16(b[8:]) == AttrLeafMagic }

// AttrLeafHeaderSize is the length of a leaf's header.
func AttrLeafHeaderSize(b []byte) int {
	if AttrLeafV5(b) {
		return AttrLeafHeader
	}
	return AttrLeafHeaderV4
}

// attrLeafCounts is where AttrLeaf lies.
func attrLeafCounts(b []byte) []byte {
	if AttrLeafV5(b) {
		return b[56:AttrLeafHeader]
	}
	return b[12:AttrLeafHeaderV4]
}

// DecodeAttrLeaf reads the header of a whole block. Where the names would begin at 64 KiB
// that is 0 on disk.
func DecodeAttrLeaf(block []byte) (h AttrLeaf) {
	b := attrLeafCounts(block)
	h.Count, h.UsedBytes, h.FirstUsed = int(be.Uint16(b)), int(be.Uint16(b[2:])), int(be.Uint16(b[4:]))
	if h.FirstUsed == 0 {
		h.FirstUsed = len(block)
	}
	h.Holes = b[6] != 0
	for i := range h.Free {
		h.Free[i] = AttrFree{int(be.Uint16(b[8+4*i:])), int(be.Uint16(b[10+4*i:]))}
	}
	return h
}

// Put writes the header into a block that has its magic number.
func (h *AttrLeaf) Put(block []byte) {
	b := attrLeafCounts(block)
	be.PutUint16(b, uint16(h.Count))
	be.PutUint16(b[2:], uint16(h.UsedBytes))
	be.PutUint16(b[4:], uint16(h.FirstUsed)) // 64 KiB becomes 0
	b[6], b[7] = 0, 0
	if h.Holes {
		b[6] = 1
	}
	for i, f := range h.Free {
		be.PutUint16(b[8+4*i:], uint16(f.Base))
		be.PutUint16(b[10+4*i:], uint16(f.Size))
	}
}

// AttrBlock heads a block of a value in V5.
type AttrBlock struct {
	Offset, Bytes uint32 // of the part of the value that is here
	UUID          UUID
	Owner         uint64
	Blkno         uint64 // a daddr
}

// Put writes the header, unsealed. The LSN is that of no change: such blocks are not logged.
func (a *AttrBlock) Put(b []byte) { a.put(b, AttrRemoteMagic, ^uint64(0)) }

func (a *AttrBlock) put(b []byte, magic uint32, lsn uint64) {
	c := cursor{b: b}
	c.u32(magic)
	c.u32(a.Offset)
	c.u32(a.Bytes)
	c.zero(4)
	c.uuid(&a.UUID)
	c.u64(a.Owner)
	c.u64(a.Blkno)
	c.u64(lsn)
}

// DecodeAttrBlock reads a header, or tells by false that there is none.
func DecodeAttrBlock(b []byte) (a AttrBlock, ok bool) { return decodeRemote(b, AttrRemoteMagic) }

func decodeRemote(b []byte, magic uint32) (a AttrBlock, ok bool) {
	if len(b) < AttrBlockHeader || be.Uint32(b) != magic {
		return a, false
	}
	c := cursor{b: b, at: 4}
	a.Offset, a.Bytes = c.get32(), c.get32()
	c.next(4)
	a.UUID, a.Owner, a.Blkno = c.getUUID(), c.get64(), c.get64()
	return a, true
}
