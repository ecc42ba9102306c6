package ondisk

// What is logged is in the byte order of the machine that logged it, which
// here is little-endian; contents of blocks are as on disk.

// BufferItem describes the logged parts of a block.
type BufferItem struct {
	Flags  BufferFlags
	Type   BufferType
	Length uint16 // in basic blocks
	Daddr  int64
	Map    []byte // a bit for each chunk, the lowest first
}

// BufferChunk is how many bytes a bit of the map stands for.
const BufferChunk = 128

// BufferFlags say what a logged block wants.
type BufferFlags uint16

// The bits of BufferFlags.
const (
	BufferFlagInodes BufferFlags = 1 << 0 // only unlinked pointers of inodes are to be replayed
	BufferFlagCancel BufferFlags = 1 << 1 // it was freed: what was logged before is void
	BufferFlagQuota  BufferFlags = 7 << 2 // user, project, group
	bufferTypeShift              = 11
	bufferItemHead               = 20
	maxBufferWords               = 64 << 10 / BufferChunk / 32 // of the map of the largest block
)

// DecodeBufferItem reads a description, which must hold all of its map.
func DecodeBufferItem(b []byte) (i BufferItem, ok bool) {
	if len(b) < bufferItemHead {
		return i, false
	}
	flags := le.Uint16(b[4:])
	words := le.Uint32(b[16:])
	if words > maxBufferWords || int(words)*4 > len(b)-bufferItemHead {
		return i, false
	}
	return BufferItem{
		Flags: BufferFlags(flags & (1<<bufferTypeShift - 1)), Type: BufferType(flags >> bufferTypeShift),
		Length: le.Uint16(b[6:]), Daddr: int64(le.Uint64(b[8:])), Map: b[bufferItemHead:][:4*words],
	}, true
}

// Runs returns the runs of chunks that are logged, in bytes of the block.
func (i *BufferItem) Runs() (runs [][2]int) {
	for bit := range 8 * len(i.Map) {
		if i.Map[bit/8]>>(bit%8)&1 == 0 {
			continue
		}
		at := bit * BufferChunk
		if n := len(runs); n > 0 && runs[n-1][1] == at {
			runs[n-1][1] += BufferChunk
		} else {
			runs = append(runs, [2]int{at, at + BufferChunk})
		}
	}
	return runs
}

// InodeItem describes a logged inode. Its core is in the next region, and
// its forks are in those behind that.
type InodeItem struct {
	Fields InodeFields
	Inode  uint64
	Device uint32 // of a device node, as on disk
	Daddr  int64  // of the block that holds the inode,
	Length int32  // in basic blocks
	Offset int32  // of the inode in it, in bytes
}

// InodeFields say what is logged of an inode.
type InodeFields uint32

// The bits of InodeFields.
const (
	InodeData       InodeFields = 0x002
	InodeExtents    InodeFields = 0x004
	InodeBtree      InodeFields = 0x008
	InodeDevice     InodeFields = 0x010
	InodeAttrData   InodeFields = 0x040
	InodeAttrExts   InodeFields = 0x080
	InodeAttrBtree  InodeFields = 0x100
	InodeDataOwner  InodeFields = 0x200 // the fork's btree blocks have got another owner
	InodeAttrOwner  InodeFields = 0x400
	InodeDataFork               = InodeData | InodeExtents | InodeBtree
	InodeAttrFork               = InodeAttrData | InodeAttrExts | InodeAttrBtree
	InodeItemSize               = 56
	inodeItemPacked             = 52 // on 32-bit machines
)

// DecodeInodeItem reads a description.
func DecodeInodeItem(b []byte) (i InodeItem, ok bool) {
	at := 16
	switch len(b) {
	case InodeItemSize:
	case inodeItemPacked:
		at = 12
	default:
		return i, false
	}
	return InodeItem{
		Fields: InodeFields(le.Uint32(b[4:])), Inode: le.Uint64(b[at:]), Device: le.Uint32(b[at+8:]),
		Daddr: int64(le.Uint64(b[at+24:])), Length: int32(le.Uint32(b[at+32:])), Offset: int32(le.Uint32(b[at+36:])),
	}, true
}

// InodeCreateItem describes a chunk of inodes that is to be initialised. Its
// numbers are big-endian, as an exception.
type InodeCreateItem struct {
	AG, Block  uint32 // where it begins
	Inodes     uint32
	InodeSize  uint32
	Blocks     uint32
	Generation uint32
}

// DecodeInodeCreate reads a description.
func DecodeInodeCreate(b []byte) (i InodeCreateItem, ok bool) {
	if len(b) < 4+6*4 {
		return i, false
	}
	c := cursor{b: b, at: 4}
	return InodeCreateItem{c.get32(), c.get32(), c.get32(), c.get32(), c.get32(), c.get32()}, true
}

// DquotItem describes a logged dquot, which is in the next region.
type DquotItem struct {
	ID     uint32
	Daddr  int64
	Blocks int32  // length of the block that holds it
	Offset uint32 // of the dquot in it, in bytes
}

// DecodeDquotItem reads a description.
func DecodeDquotItem(b []byte) (i DquotItem, ok bool) {
	if len(b) < 24 {
		return i, false
	}
	return DquotItem{le.Uint32(b[4:]), int64(le.Uint64(b[8:])), int32(le.Uint32(b[16:])), le.Uint32(b[20:])}, true
}

// QuotaOffFlags reads which kinds of quota were turned off.
func QuotaOffFlags(b []byte) (QuotaFlags, bool) {
	if len(b) < 8 {
		return 0, false
	}
	return QuotaFlags(le.Uint32(b[4:])), true
}

// QuotaFlags are the superblock's quota flags.
type QuotaFlags uint32

// Which kinds of quota are accounted for.
const (
	QuotaUser    QuotaFlags = 0x01
	QuotaProject QuotaFlags = 0x08
	QuotaGroup   QuotaFlags = 0x40
)

// IntentID reads which intent a description is of, or is done by it.
func IntentID(b []byte) (id uint64, ok bool) {
	if len(b) < 16 {
		return 0, false
	}
	return le.Uint64(b[8:]), true
}

// IntentCount reads how many extents an intent is about.
func IntentCount(b []byte) uint32 { return le.Uint32(b[4:]) }
