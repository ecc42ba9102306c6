package ondisk

// BtreeForm is one of the four forms that the header of a btree block has. Its
// methods read and change the fields of a block in place.
type BtreeForm struct {
	Header  int // its length
	Pointer int // the length of a pointer to a block
	CRC     int // where the checksum is; 0 in V4, which has none

	right, blkno, lsn, uuid, owner int
}

// The forms: short of trees within an AG, long of trees in a file.
var (
	ShortBtreeV4 = BtreeForm{Header: BtreeHeaderV4, Pointer: BtreePointerSize, right: 12}
	ShortBtreeV5 = BtreeForm{
		Header: BtreeHeader, Pointer: BtreePointerSize, CRC: BtreeCRC,
		right: 12, blkno: BtreeBlkno, lsn: 24, uuid: 32, owner: BtreeOwner,
	}
	LongBtreeV4 = BtreeForm{Header: LongBtreeHeaderV4, Pointer: LongPointerSize, right: 16}
	LongBtreeV5 = BtreeForm{
		Header: LongBtreeHeader, Pointer: LongPointerSize, CRC: LongBtreeCRC,
		right: 16, blkno: 24, lsn: 32, uuid: 40, owner: longBtreeOwner,
	}
)

// NullPointer is the pointer to no block, whatever its length on disk.
const NullPointer = ^uint64(0)

const (
	btreeLeft = 8
	nullShort = ^uint32(0)
)

// BtreeMagicOf reads the magic number of any btree block.
func BtreeMagicOf(b []byte) uint32 { return be.Uint32(b) }

// BtreeRecords reads the number of records or pointers of any btree block, and
// SetBtreeRecords changes it.
func BtreeRecords(b []byte) int { return int(be.Uint16(b[btreeRecordsAt:])) }

// SetBtreeRecords: see BtreeRecords.
func SetBtreeRecords(b []byte, n int) { be.PutUint16(b[btreeRecordsAt:], uint16(n)) }

// SetBtreeLevel changes what BtreeLevel reads.
func SetBtreeLevel(b []byte, level int) { be.PutUint16(b[btreeLevelAt:], uint16(level)) }

// Init writes a header without siblings. The place of the checksum is left as it
// is. blkno, owner and id are of V5. (xfs_btree_init_block in libxfs.)
func (f *BtreeForm) Init(b []byte, magic uint32, level, records int, blkno, owner uint64, id *UUID) {
	be.PutUint32(b, magic)
	SetBtreeLevel(b, level)
	SetBtreeRecords(b, records)
	f.SetLeft(b, NullPointer)
	f.SetRight(b, NullPointer)
	if f.CRC == 0 {
		return
	}
	be.PutUint64(b[f.blkno:], blkno)
	be.PutUint64(b[f.lsn:], 0)
	copy(b[f.uuid:], id[:])
	if f.Pointer == BtreePointerSize {
		be.PutUint32(b[f.owner:], uint32(owner))
	} else {
		be.PutUint64(b[f.owner:], owner)
		clear(b[f.CRC+4 : f.Header])
	}
}

// Left is the block on the left, or NullPointer.
func (f *BtreeForm) Left(b []byte) uint64 { return f.Ptr(b[btreeLeft:]) }

// Right is the block on the right, or NullPointer.
func (f *BtreeForm) Right(b []byte) uint64 { return f.Ptr(b[f.right:]) }

// SetLeft changes Left.
func (f *BtreeForm) SetLeft(b []byte, ptr uint64) { f.PutPtr(b[btreeLeft:], ptr) }

// SetRight changes Right.
func (f *BtreeForm) SetRight(b []byte, ptr uint64) { f.PutPtr(b[f.right:], ptr) }

// Ptr reads a pointer.
func (f *BtreeForm) Ptr(b []byte) uint64 {
	if f.Pointer == LongPointerSize {
		return be.Uint64(b)
	}
	if v := be.Uint32(b); v != nullShort {
		return uint64(v)
	}
	return NullPointer
}

// PutPtr writes a pointer.
func (f *BtreeForm) PutPtr(b []byte, ptr uint64) {
	if f.Pointer == LongPointerSize {
		be.PutUint64(b, ptr)
	} else {
		be.PutUint32(b, uint32(ptr))
	}
}

// Blkno is the daddr that a V5 block says it is at.
func (f *BtreeForm) Blkno(b []byte) uint64 { return be.Uint64(b[f.blkno:]) }

// ID is the filesystem that a V5 block says it is of.
func (f *BtreeForm) ID(b []byte) *UUID { return (*UUID)(b[f.uuid:]) }

// Owner is the AG number or inode that a V5 block says it is of.
func (f *BtreeForm) Owner(b []byte) uint64 {
	if f.Pointer == BtreePointerSize {
		return uint64(be.Uint32(b[f.owner:]))
	}
	return be.Uint64(b[f.owner:])
}
