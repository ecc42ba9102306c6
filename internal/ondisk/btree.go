package ondisk

// BtreeMagic says what a btree block within an AG holds.
type BtreeMagic uint32

// The magic numbers of V5 and, where there is one, V4.
const (
	BnoMagic, BnoMagicV4 BtreeMagic = 0x41423342, 0x41425442 // "AB3B", "ABTB"
	CntMagic, CntMagicV4 BtreeMagic = 0x41423343, 0x41425443 // "AB3C", "ABTC"
	InoMagic, InoMagicV4 BtreeMagic = 0x49414233, 0x49414254 // "IAB3", "IABT"
	FinoMagic            BtreeMagic = 0x46494233             // "FIB3"
	RmapMagic            BtreeMagic = 0x524d4233             // "RMB3"
	RefcountMagic        BtreeMagic = 0x52334643             // "R3FC"
)

// Sizes of the headers of btree blocks within an AG, and the fields of V5 that
// tell one block from another.
const (
	BtreeHeaderV4   = 16
	BtreeHeader     = 56
	BtreeBlkno      = 16
	BtreeOwner      = 48
	BtreeAddressEnd = 52 // of what SetBtreeAddress changes
	BtreeCRC        = 52
)

// BtreeBlock is the header of a btree block within an AG.
type BtreeBlock struct {
	Magic       BtreeMagic
	Level       uint16
	Records     uint16
	Left, Right uint32
	Blkno       uint64 // a daddr; from here on V5 only
	LSN         uint64
	UUID        UUID
	Owner       uint32 // AG number
	CRC         uint32
}

// Put writes the header and returns its length.
func (h *BtreeBlock) Put(b []byte, v5 bool) int {
	c := cursor{b: b}
	c.u32(uint32(h.Magic))
	c.u16(h.Level)
	c.u16(h.Records)
	c.u32(h.Left)
	c.u32(h.Right)
	if v5 {
		c.u64(h.Blkno)
		c.u64(h.LSN)
		c.uuid(&h.UUID)
		c.u32(h.Owner)
		c.zero(4)
	}
	return c.at
}

// DecodeBtreeBlock reads a header of the format that v5 tells.
func DecodeBtreeBlock(b []byte, v5 bool) (h BtreeBlock, ok bool) {
	if len(b) < BtreeHeaderV4 || v5 && len(b) < BtreeHeader {
		return h, false
	}
	c := cursor{b: b}
	h.Magic, h.Level, h.Records = BtreeMagic(c.get32()), c.get16(), c.get16()
	h.Left, h.Right = c.get32(), c.get32()
	if v5 {
		h.Blkno, h.LSN, h.UUID = c.get64(), c.get64(), c.getUUID()
		h.Owner, h.CRC = c.get32(), c.getCRC()
	}
	return h, true
}

// AllocRecord is a free extent, in the bno and cnt btrees.
type AllocRecord struct{ Start, Blocks uint32 }

// InodeRecord is a chunk of 64 inodes, in the ino and fino btrees. With the
// sparse feature, V5 splits FreeCount into a hole mask, a count and a free count.
type InodeRecord struct {
	Start     uint32
	Sparse    bool
	HoleMask  uint16
	Count     uint8
	FreeCount uint32
	Free      uint64 // a bit for each free inode
}

// RmapRecord is an extent and its owner: an inode or one of the Own values.
type RmapRecord struct {
	Start, Blocks uint32
	Owner         uint64
	Offset        uint64
}

// Owners of extents that belong to no inode.
const (
	OwnFS       = ^uint64(2) // -3: AG headers
	OwnLog      = ^uint64(3) // -4
	OwnAG       = ^uint64(4) // -5: free space and rmap btrees, free list
	OwnInobt    = ^uint64(5) // -6
	OwnInodes   = ^uint64(6) // -7
	OwnRefcount = ^uint64(7) // -8
)

// Record lengths in bytes.
const (
	AllocRecordSize    = 8
	InodeRecordSize    = 16
	RmapRecordSize     = 24
	RefcountRecordSize = 12
)

// Put writes the record.
func (r AllocRecord) Put(b []byte) {
	c := cursor{b: b}
	c.u32(r.Start)
	c.u32(r.Blocks)
}

// DecodeAllocRecord reads a record.
func DecodeAllocRecord(b []byte) AllocRecord {
	c := cursor{b: b}
	return AllocRecord{c.get32(), c.get32()}
}

// Put writes the record.
func (r InodeRecord) Put(b []byte) {
	c := cursor{b: b}
	c.u32(r.Start)
	if r.Sparse {
		c.u16(r.HoleMask)
		c.u8(r.Count)
		c.u8(uint8(r.FreeCount))
	} else {
		c.u32(r.FreeCount)
	}
	c.u64(r.Free)
}

// DecodeInodeRecord reads a record of a filesystem with or without sparse chunks.
func DecodeInodeRecord(b []byte, sparse bool) InodeRecord {
	c := cursor{b: b}
	r := InodeRecord{Start: c.get32(), Sparse: sparse}
	if sparse {
		r.HoleMask, r.Count, r.FreeCount = c.get16(), c.get8(), uint32(c.get8())
	} else {
		r.FreeCount = c.get32()
	}
	r.Free = c.get64()
	return r
}

// Put writes the record.
func (r RmapRecord) Put(b []byte) {
	c := cursor{b: b}
	c.u32(r.Start)
	c.u32(r.Blocks)
	c.u64(r.Owner)
	c.u64(r.Offset)
}

// DecodeRmapRecord reads a record.
func DecodeRmapRecord(b []byte) RmapRecord {
	c := cursor{b: b}
	return RmapRecord{c.get32(), c.get32(), c.get64(), c.get64()}
}

// RefcountRecord is an extent that more than one file shares.
type RefcountRecord struct{ Start, Blocks, Count uint32 }

// Put writes the record.
func (r RefcountRecord) Put(b []byte) {
	c := cursor{b: b}
	c.u32(r.Start)
	c.u32(r.Blocks)
	c.u32(r.Count)
}

// DecodeRefcountRecord reads a record.
func DecodeRefcountRecord(b []byte) RefcountRecord {
	c := cursor{b: b}
	return RefcountRecord{c.get32(), c.get32(), c.get32()}
}

// SetBtreeAddress moves an encoded V5 block to another daddr and AG; it then
// wants sealing again.
func SetBtreeAddress(b []byte, blkno uint64, agno uint32) {
	be.PutUint64(b[BtreeBlkno:], blkno)
	be.PutUint32(b[BtreeOwner:], agno)
}
