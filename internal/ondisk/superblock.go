package ondisk

// Superblock is the first sector of each AG.
type Superblock struct {
	BlockSize       uint32
	DataBlocks      uint64
	RealtimeBlocks  uint64
	RealtimeExtents uint64
	UUID            UUID
	LogStart        uint64 // FSBlock, 0 for an external log
	RootInode       uint64
	BitmapInode     uint64
	SummaryInode    uint64
	RealtimeExtent  uint32 // blocks
	AGBlocks        uint32
	AGCount         uint32
	BitmapBlocks    uint32
	LogBlocks       uint32
	Version         Version
	SectorSize      uint16
	InodeSize       uint16
	InodesPerBlock  uint16
	Label           [12]byte
	BlockLog        uint8
	SectorLog       uint8
	InodeLog        uint8
	InodeBlockLog   uint8
	AGBlockLog      uint8
	RealtimeLog     uint8
	InProgress      uint8
	MaxInodePercent uint8
	InodeCount      uint64
	FreeInodes      uint64
	FreeBlocks      uint64
	FreeExtents     uint64
	UserQuota       uint64
	GroupQuota      uint64
	QuotaFlags      uint16
	Flags           uint8
	SharedVersion   uint8
	InodeAlign      uint32
	StripeUnit      uint32
	StripeWidth     uint32
	DirBlockLog     uint8 // relative to BlockLog
	LogSectorLog    uint8
	LogSectorSize   uint16
	LogStripeUnit   uint32 // bytes; 1 for none in a version 2 log
	Features2       Features2
	BadFeatures2    Features2 // the same again, where old kernels looked
	// What follows is in V5 superblocks only.
	Compat       uint32
	ROCompat     ROCompat
	Incompat     Incompat
	LogIncompat  uint32
	CRC          uint32 // as found by decoding; Seal sets it
	SparseAlign  uint32
	ProjectQuota uint64
	LSN          uint64
	MetaUUID     UUID
	MetadirInode uint64
	GroupCount   uint32
	GroupExtents uint32
	GroupLog     uint8
	RTStart      uint64
	RTReserved   uint64
}

// Magic numbers and sizes of the superblock.
const (
	SuperblockMagic = 0x58465342 // "XFSB"
	SuperblockSize  = 304
	SuperblockCRC   = 224
	InProgressField = 126
)

// Version is sb_versionnum: the version in the low four bits and features.
type Version uint16

// The versions in use and the feature bits above them.
const (
	Version4        Version = 4
	Version5        Version = 5
	VersionMask     Version = 0xf
	VersionAttr     Version = 0x0010
	VersionNlink    Version = 0x0020
	VersionQuota    Version = 0x0040
	VersionAlign    Version = 0x0080
	VersionStripe   Version = 0x0100
	VersionLogV2    Version = 0x0400
	VersionSector   Version = 0x0800
	VersionUnwrit   Version = 0x1000
	VersionDirV2    Version = 0x2000
	VersionCaseFold Version = 0x4000
	VersionMore     Version = 0x8000
)

// Features2 is a second set of feature bits.
type Features2 uint32

// The bits of Features2.
const (
	Features2LazyCount Features2 = 0x002
	Features2Attr2     Features2 = 0x008
	Features2Projid32  Features2 = 0x080
	Features2CRC       Features2 = 0x100
	Features2Ftype     Features2 = 0x200
)

// ROCompat features keep older kernels from writing.
type ROCompat uint32

// The bits of ROCompat.
const (
	ROCompatFinobt     ROCompat = 0x1
	ROCompatRmapbt     ROCompat = 0x2
	ROCompatReflink    ROCompat = 0x4
	ROCompatInobtCount ROCompat = 0x8
)

// Incompat features keep older kernels from mounting.
type Incompat uint32

// The bits of Incompat.
const (
	IncompatFtype    Incompat = 0x01
	IncompatSparse   Incompat = 0x02
	IncompatMetaUUID Incompat = 0x04
	IncompatBigtime  Incompat = 0x08
	IncompatNrext64  Incompat = 0x20
	IncompatExchange Incompat = 0x40
	IncompatParent   Incompat = 0x80
	IncompatMetadir  Incompat = 0x100
	IncompatZoned    Incompat = 0x200
)

// IsV5 tells whether the superblock is of the format with checksums.
func (s *Superblock) IsV5() bool { return s.Version&VersionMask == Version5 }

// Put writes the superblock. Those of V5 it does not seal.
func (s *Superblock) Put(b []byte) {
	c := cursor{b: b}
	c.u32(SuperblockMagic)
	c.u32(s.BlockSize)
	c.u64(s.DataBlocks)
	c.u64(s.RealtimeBlocks)
	c.u64(s.RealtimeExtents)
	c.uuid(&s.UUID)
	c.u64(s.LogStart)
	c.u64(s.RootInode)
	c.u64(s.BitmapInode)
	c.u64(s.SummaryInode)
	c.u32(s.RealtimeExtent)
	c.u32(s.AGBlocks)
	c.u32(s.AGCount)
	c.u32(s.BitmapBlocks)
	c.u32(s.LogBlocks)
	c.u16(uint16(s.Version))
	c.u16(s.SectorSize)
	c.u16(s.InodeSize)
	c.u16(s.InodesPerBlock)
	c.bytes(s.Label[:])
	for _, v := range []uint8{s.BlockLog, s.SectorLog, s.InodeLog, s.InodeBlockLog,
		s.AGBlockLog, s.RealtimeLog, s.InProgress, s.MaxInodePercent} {
		c.u8(v)
	}
	c.u64(s.InodeCount)
	c.u64(s.FreeInodes)
	c.u64(s.FreeBlocks)
	c.u64(s.FreeExtents)
	c.u64(s.UserQuota)
	c.u64(s.GroupQuota)
	c.u16(s.QuotaFlags)
	c.u8(s.Flags)
	c.u8(s.SharedVersion)
	c.u32(s.InodeAlign)
	c.u32(s.StripeUnit)
	c.u32(s.StripeWidth)
	c.u8(s.DirBlockLog)
	c.u8(s.LogSectorLog)
	c.u16(s.LogSectorSize)
	c.u32(s.LogStripeUnit)
	c.u32(uint32(s.Features2))
	c.u32(uint32(s.BadFeatures2))
	if !s.IsV5() {
		return
	}
	c.u32(s.Compat)
	c.u32(uint32(s.ROCompat))
	c.u32(uint32(s.Incompat))
	c.u32(s.LogIncompat)
	c.zero(4)
	c.u32(s.SparseAlign)
	c.u64(s.ProjectQuota)
	c.u64(s.LSN)
	c.uuid(&s.MetaUUID)
	c.u64(s.MetadirInode)
	c.u32(s.GroupCount)
	c.u32(s.GroupExtents)
	c.u8(s.GroupLog)
	c.zero(7)
	c.u64(s.RTStart)
	c.u64(s.RTReserved)
}

// DecodeSuperblock reads a superblock of either format, or tells by false
// that there is none.
func DecodeSuperblock(b []byte) (s Superblock, ok bool) {
	if len(b) < SuperblockSize || be.Uint32(b) != SuperblockMagic {
		return s, false
	}
	c := cursor{b: b, at: 4}
	s.BlockSize = c.get32()
	s.DataBlocks, s.RealtimeBlocks, s.RealtimeExtents = c.get64(), c.get64(), c.get64()
	s.UUID = c.getUUID()
	s.LogStart, s.RootInode, s.BitmapInode, s.SummaryInode = c.get64(), c.get64(), c.get64(), c.get64()
	s.RealtimeExtent, s.AGBlocks, s.AGCount, s.BitmapBlocks, s.LogBlocks =
		c.get32(), c.get32(), c.get32(), c.get32(), c.get32()
	s.Version = Version(c.get16())
	s.SectorSize, s.InodeSize, s.InodesPerBlock = c.get16(), c.get16(), c.get16()
	copy(s.Label[:], c.next(len(s.Label)))
	for _, v := range []*uint8{&s.BlockLog, &s.SectorLog, &s.InodeLog, &s.InodeBlockLog,
		&s.AGBlockLog, &s.RealtimeLog, &s.InProgress, &s.MaxInodePercent} {
		*v = c.get8()
	}
	s.InodeCount, s.FreeInodes, s.FreeBlocks, s.FreeExtents = c.get64(), c.get64(), c.get64(), c.get64()
	s.UserQuota, s.GroupQuota = c.get64(), c.get64()
	s.QuotaFlags, s.Flags, s.SharedVersion = c.get16(), c.get8(), c.get8()
	s.InodeAlign, s.StripeUnit, s.StripeWidth = c.get32(), c.get32(), c.get32()
	s.DirBlockLog, s.LogSectorLog, s.LogSectorSize = c.get8(), c.get8(), c.get16()
	s.LogStripeUnit = c.get32()
	s.Features2, s.BadFeatures2 = Features2(c.get32()), Features2(c.get32())
	if !s.IsV5() {
		return s, true
	}
	s.Compat, s.ROCompat, s.Incompat, s.LogIncompat = c.get32(), ROCompat(c.get32()), Incompat(c.get32()), c.get32()
	s.CRC, s.SparseAlign = c.getCRC(), c.get32()
	s.ProjectQuota, s.LSN, s.MetaUUID, s.MetadirInode = c.get64(), c.get64(), c.getUUID(), c.get64()
	s.GroupCount, s.GroupExtents, s.GroupLog = c.get32(), c.get32(), c.get8()
	c.next(7)
	s.RTStart, s.RTReserved = c.get64(), c.get64()
	return s, true
}
