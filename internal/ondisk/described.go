package ondisk

// Layout is where a kind of block keeps what tells it from others. V5 blocks
// describe themselves: what they are, where they belong, and which change to
// them was the last.
type Layout struct {
	LSN, UUID, CRC int // offsets in bytes
	Blkno          int // of the block's own daddr; 0 if there is none
}

var (
	shortBtree = Layout{LSN: 24, UUID: 32, CRC: 52, Blkno: 16}
	longBtree  = Layout{LSN: 32, UUID: 40, CRC: 64, Blkno: 24}
	dirBlock   = Layout{LSN: 16, UUID: 24, CRC: 4, Blkno: 8}
	dirIndex   = Layout{LSN: 24, UUID: 32, CRC: 12, Blkno: 16}
	remote     = Layout{LSN: 48, UUID: 16, CRC: 12, Blkno: 40}
	bitmap     = Layout{LSN: 24, UUID: 32, CRC: 4, Blkno: 16}
)

// BufferType is what a block in the log is said to be, so that its checksum can
// be made anew.
type BufferType uint8

// The types of logged blocks.
const (
	BufferUnknown BufferType = iota
	BufferUserQuota
	BufferProjectQuota
	BufferGroupQuota
	BufferBtree
	BufferAGF
	BufferAGFL
	BufferAGI
	BufferInodes
	BufferSymlink
	BufferDirBlock
	BufferDirData
	BufferDirFree
	BufferDirLeaf1
	BufferDirLeafN
	BufferDaNode
	BufferAttrLeaf
	BufferAttrRemote
	BufferSuperblock
	BufferBitmap
	BufferSummary
)

// Described is a kind of block that describes itself.
type Described struct {
	Name  string
	Type  BufferType
	Magic uint32
	Layout
	// Unordered blocks are written without the log, so their LSN says nothing.
	Unordered bool
}

// The magic numbers of 32 bits stand at a block's start; those of 16 bits, of
// the blocks of directory and attribute btrees, behind the two siblings.
const narrowMagic = 8

// described lists the kinds of block that V5 has.
var described = []Described{
	{Name: "bnobt", Type: BufferBtree, Magic: uint32(BnoMagic), Layout: shortBtree},
	{Name: "cntbt", Type: BufferBtree, Magic: uint32(CntMagic), Layout: shortBtree},
	{Name: "inobt", Type: BufferBtree, Magic: uint32(InoMagic), Layout: shortBtree},
	{Name: "finobt", Type: BufferBtree, Magic: uint32(FinoMagic), Layout: shortBtree},
	{Name: "rmapbt", Type: BufferBtree, Magic: uint32(RmapMagic), Layout: shortBtree},
	{Name: "refcountbt", Type: BufferBtree, Magic: uint32(RefcountMagic), Layout: shortBtree},
	{Name: "bmbt", Type: BufferBtree, Magic: BmbtMagic, Layout: longBtree},
	{Name: "rtrmapbt", Type: BufferBtree, Magic: RTRmapMagic, Layout: longBtree},
	{Name: "rtrefcountbt", Type: BufferBtree, Magic: RTRefcountMagic, Layout: longBtree},
	{Name: "AGF", Type: BufferAGF, Magic: AGFMagic, Layout: Layout{LSN: 208, UUID: 64, CRC: AGFCRC}},
	{Name: "AGFL", Type: BufferAGFL, Magic: AGFLMagic, Layout: Layout{LSN: 24, UUID: 8, CRC: AGFLCRC}},
	{Name: "AGI", Type: BufferAGI, Magic: AGIMagic, Layout: Layout{LSN: 320, UUID: 296, CRC: AGICRC}},
	{Name: "superblock", Type: BufferSuperblock, Magic: SuperblockMagic, Layout: Layout{LSN: 240, UUID: 32,
		CRC: SuperblockCRC}},
	{Name: "symlink", Type: BufferSymlink, Magic: SymlinkMagic, Layout: remote},                           // "XSLM"
	{Name: "attribute value", Type: BufferAttrRemote, Magic: 0x5841524d, Layout: remote, Unordered: true}, // "XARM"
	{Name: "directory block", Type: BufferDirBlock, Magic: 0x58444233, Layout: dirBlock},                  // "XDB3"
	{Name: "directory data", Type: BufferDirData, Magic: 0x58444433, Layout: dirBlock},                    // "XDD3"
	{Name: "directory free index", Type: BufferDirFree, Magic: DirFreeMagic, Layout: dirBlock},            // "XDF3"
	{Name: "realtime bitmap", Type: BufferBitmap, Magic: 0x424d505a, Layout: bitmap},                      // "BMPZ"
	{Name: "realtime summary", Type: BufferSummary, Magic: 0x53554d59, Layout: bitmap},                    // "SUMY"
}

var describedNarrow = []Described{
	{Name: "directory leaf", Type: BufferDirLeaf1, Magic: 0x3df1, Layout: dirIndex},
	{Name: "directory leaf", Type: BufferDirLeafN, Magic: DirLeafNMagic, Layout: dirIndex},
	{Name: "btree node", Type: BufferDaNode, Magic: DirNodeMagic, Layout: dirIndex},
	{Name: "attribute leaf", Type: BufferAttrLeaf, Magic: 0x3bee, Layout: dirIndex},
}

// Magic numbers of long btree blocks.
const (
	BmbtMagic, BmbtMagicV4 = 0x424d4133, 0x424d4150 // "BMA3", "BMAP"
	RTRmapMagic            = 0x4d415052             // "MAPR"
	RTRefcountMagic        = 0x52434e54             // "RCNT"
)

// Describe finds out by its magic number what a V5 block is; nil if it does
// not describe itself.
func Describe(b []byte) *Described {
	if len(b) < logBlock {
		return nil
	}
	for i := range described {
		if be.Uint32(b) == described[i].Magic {
			return &described[i]
		}
	}
	for i := range describedNarrow {
		if uint32(be.Uint16(b[narrowMagic:])) == describedNarrow[i].Magic {
			return &describedNarrow[i]
		}
	}
	return nil
}

// DescribeAs is Describe for a block that the log says the type of.
func DescribeAs(t BufferType, b []byte) *Described {
	d := Describe(b)
	if d == nil || d.Type != t {
		return nil
	}
	return d
}

// BlockLSN reads a block's log sequence number.
func (d *Described) BlockLSN(b []byte) uint64 { return be.Uint64(b[d.LSN:]) }

// SetLSN says which change to a block was the last; it then wants sealing.
func (d *Described) SetLSN(b []byte, lsn uint64) { be.PutUint64(b[d.LSN:], lsn) }

// BlockUUID reads a block's UUID.
func (d *Described) BlockUUID(b []byte) UUID { return UUID(b[d.UUID:][:16]) }

// At tells whether a block says that it belongs at a daddr. Some do not say.
func (d *Described) At(b []byte, daddr uint64) bool {
	return d.Blkno == 0 || be.Uint64(b[d.Blkno:]) == daddr
}
