package ondisk

// Inode is the core of an inode, which its forks follow. Versions: 2 in V4
// filesystems, 3 in V5.
type Inode struct {
	Mode          uint16
	Version       uint8
	Format        Format
	Metadata      MetaType // of a file in the metadata directory; else links of version 1, which are 0
	UID, GID      uint32
	Nlink         uint32
	ProjectID     uint32
	BigExtents    uint64 // number of extents with the nrext64 flag
	Atime, Mtime  uint64 // encoded, see TimeClassic and TimeBig
	Ctime         uint64
	Size          uint64
	Blocks        uint64
	ExtentSize    uint32
	Extents       uint32 // number of extents without the nrext64 flag
	AttrExtents   uint16
	ForkOffset    uint8 // of the attribute fork in the literal area, in 8 bytes
	AttrFormat    Format
	DataMigration [6]byte // of a service that never was; kept as it is found
	Flags         InodeFlags
	Generation    uint32
	NextUnlinked  uint32
	CRC           uint32 // from here on version 3 only
	ChangeCount   uint64
	LSN           uint64
	Flags2        InodeFlags2
	CowExtent     uint32
	Crtime        uint64
	Number        uint64
	UUID          UUID
}

// Sizes and places of the inode.
const (
	InodeMagic  = 0x494e // "IN"
	InodeCore   = 176
	InodeCoreV2 = 100
	InodeCRC    = 100
)

// CoreSize is the length of the core; the literal area with the forks follows.
func CoreSize(v5 bool) int {
	if v5 {
		return InodeCore
	}
	return InodeCoreV2
}

// Format is how a fork holds its contents.
type Format uint8

// The formats in use.
const (
	FormatDev       Format = 0
	FormatLocal     Format = 1 // in the inode
	FormatExtents   Format = 2
	FormatBtree     Format = 3
	FormatMetaBtree Format = 5 // the root of a metadata btree
)

// InodeFlags are di_flags.
type InodeFlags uint16

// The bits of InodeFlags.
const (
	FlagRealtime      InodeFlags = 0x0001
	FlagPrealloc      InodeFlags = 0x0002
	FlagNewBitmap     InodeFlags = 0x0004 // the realtime bitmap's time is a sequence number
	FlagImmutable     InodeFlags = 0x0008
	FlagAppend        InodeFlags = 0x0010
	FlagSync          InodeFlags = 0x0020
	FlagNoAtime       InodeFlags = 0x0040
	FlagNoDump        InodeFlags = 0x0080
	FlagRTInherit     InodeFlags = 0x0100
	FlagProjInherit   InodeFlags = 0x0200
	FlagNoSymlinks    InodeFlags = 0x0400
	FlagExtentSize    InodeFlags = 0x0800
	FlagExtentInherit InodeFlags = 0x1000
	FlagNoDefrag      InodeFlags = 0x2000
	FlagFilestream    InodeFlags = 0x4000
)

// InodeFlags2 are di_flags2.
type InodeFlags2 uint64

// The bits of InodeFlags2.
const (
	Flag2DAX       InodeFlags2 = 0x01
	Flag2Reflink   InodeFlags2 = 0x02
	Flag2CowExtent InodeFlags2 = 0x04
	Flag2Bigtime   InodeFlags2 = 0x08
	Flag2Nrext64   InodeFlags2 = 0x10
	Flag2Metadata  InodeFlags2 = 0x20
)

// The bits of a mode that say what an inode is.
const (
	ModeType      = 0o170000
	ModeSocket    = 0o140000
	ModeSymlink   = 0o120000
	ModeRegular   = 0o100000
	ModeBlock     = 0o060000
	ModeDirectory = 0o040000
	ModeCharacter = 0o020000
	ModeFIFO      = 0o010000
	ModeSetUID    = 0o004000
	ModeSetGID    = 0o002000
)

// TimeClassic encodes a time as two 32-bit numbers: signed seconds since 1970
// and nanoseconds. Later than 2038 it wraps.
func TimeClassic(sec int64, nsec uint32) uint64 { return uint64(uint32(sec))<<32 | uint64(nsec) }

// TimeBig encodes a time as nanoseconds since December 1901, the earliest of TimeClassic.
func TimeBig(sec int64, nsec uint32) uint64 {
	return uint64(sec+1<<31)*1e9 + uint64(nsec)
}

// ClassicTime decodes what TimeClassic encodes, and BigTime what TimeBig does.
func ClassicTime(t uint64) (sec int64, nsec uint32) { return int64(int32(t >> 32)), uint32(t) }

// BigTime: see ClassicTime.
func BigTime(t uint64) (sec int64, nsec uint32) { return int64(t/1e9) - 1<<31, uint32(t % 1e9) }

// Put writes the core. One of version 3 it does not seal: the checksum covers
// the forks.
func (i *Inode) Put(b []byte) {
	c := cursor{b: b}
	c.u16(InodeMagic)
	c.u16(i.Mode)
	c.u8(i.Version)
	c.u8(uint8(i.Format))
	c.u16(uint16(i.Metadata))
	c.u32(i.UID)
	c.u32(i.GID)
	c.u32(i.Nlink)
	c.u16(uint16(i.ProjectID))
	c.u16(uint16(i.ProjectID >> 16))
	c.u64(i.BigExtents)
	c.u64(i.Atime)
	c.u64(i.Mtime)
	c.u64(i.Ctime)
	c.u64(i.Size)
	c.u64(i.Blocks)
	c.u32(i.ExtentSize)
	c.u32(i.Extents)
	c.u16(i.AttrExtents)
	c.u8(i.ForkOffset)
	c.u8(uint8(i.AttrFormat))
	c.bytes(i.DataMigration[:])
	c.u16(uint16(i.Flags))
	c.u32(i.Generation)
	c.u32(i.NextUnlinked)
	if i.Version < 3 {
		return
	}
	c.zero(4)
	c.u64(i.ChangeCount)
	c.u64(i.LSN)
	c.u64(uint64(i.Flags2))
	c.u32(i.CowExtent)
	c.zero(12)
	c.u64(i.Crtime)
	c.u64(i.Number)
	c.uuid(&i.UUID)
}

// DecodeInode reads a core, or tells by false that there is none.
func DecodeInode(b []byte) (i Inode, ok bool) {
	if len(b) < InodeCoreV2 || be.Uint16(b) != InodeMagic {
		return i, false
	}
	c := cursor{b: b, at: 2}
	i.Mode, i.Version, i.Format = c.get16(), c.get8(), Format(c.get8())
	i.Metadata = MetaType(c.get16())
	i.UID, i.GID, i.Nlink = c.get32(), c.get32(), c.get32()
	i.ProjectID = uint32(c.get16()) | uint32(c.get16())<<16
	i.BigExtents, i.Atime, i.Mtime, i.Ctime, i.Size, i.Blocks =
		c.get64(), c.get64(), c.get64(), c.get64(), c.get64(), c.get64()
	i.ExtentSize, i.Extents, i.AttrExtents = c.get32(), c.get32(), c.get16()
	i.ForkOffset, i.AttrFormat = c.get8(), Format(c.get8())
	i.DataMigration = [6]byte(c.next(6))
	i.Flags, i.Generation, i.NextUnlinked = InodeFlags(c.get16()), c.get32(), c.get32()
	if i.Version < 3 {
		return i, true
	}
	if len(b) < InodeCore {
		return i, false
	}
	i.CRC, i.ChangeCount, i.LSN, i.Flags2 = c.getCRC(), c.get64(), c.get64(), InodeFlags2(c.get64())
	i.CowExtent = c.get32()
	c.next(12)
	i.Crtime, i.Number, i.UUID = c.get64(), c.get64(), c.getUUID()
	return i, true
}
