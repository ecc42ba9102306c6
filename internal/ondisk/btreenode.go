package ondisk

// BtreeNode is the place of the keys and pointers of a node of a btree: both
// have room for as many as fit the block, so that pointers begin where the last
// key would end.
func BtreeNode(entries []byte, key, pointer int) (keys, pointers []byte) {
	n := len(entries) / (key + pointer)
	return entries[:n*key], entries[n*key:]
}

// Lengths in bytes of keys, and of pointers of btrees within an AG and of those
// in files. A node of the rmapbt has two keys for each pointer.
const (
	InodeKeySize     = 4
	RmapKeySize      = 20
	BmbtKeySize      = 8
	BtreePointerSize = 4
	LongPointerSize  = 8
)

// RmapBmbt marks, in the offset of a record or key, a block of a file's extent
// btree.
const RmapBmbt = 1 << 62

// PutPointer writes a pointer of a btree within an AG, or the key of an inode btree.
func PutPointer(b []byte, v uint32) { be.PutUint32(b, v) }

// PutLongPointer writes a pointer, or a key, of a btree in a file.
func PutLongPointer(b []byte, v uint64) { be.PutUint64(b, v) }

// PutKey writes a record's start, owner and offset.
func (r RmapRecord) PutKey(b []byte) {
	c := cursor{b: b}
	c.u32(r.Start)
	c.u64(r.Owner)
	c.u64(r.Offset)
}

// LongBtreeBlock is the header of a block of a btree in a file, of V5.
type LongBtreeBlock struct {
	Magic       uint32
	Level       uint16
	Records     uint16
	Left, Right uint64 // FSBlocks, or null
	Blkno       uint64 // a daddr
	LSN         uint64
	UUID        UUID
	Owner       uint64 // inode
	CRC         uint32
}

// LongBtreeCRC is where it has its checksum.
const LongBtreeCRC = 64

// Put writes the header, unsealed, and returns its length.
func (h *LongBtreeBlock) Put(b []byte) int {
	c := cursor{b: b}
	c.u32(h.Magic)
	c.u16(h.Level)
	c.u16(h.Records)
	c.u64(h.Left)
	c.u64(h.Right)
	c.u64(h.Blkno)
	c.u64(h.LSN)
	c.uuid(&h.UUID)
	c.u64(h.Owner)
	c.zero(4 + 4)
	return c.at
}

// DecodeLongBtreeBlock reads a header.
func DecodeLongBtreeBlock(b []byte) (h LongBtreeBlock, ok bool) {
	if len(b) < LongBtreeHeader {
		return h, false
	}
	c := cursor{b: b}
	h.Magic, h.Level, h.Records = c.get32(), c.get16(), c.get16()
	h.Left, h.Right, h.Blkno, h.LSN = c.get64(), c.get64(), c.get64(), c.get64()
	h.UUID, h.Owner, h.CRC = c.getUUID(), c.get64(), c.getCRC()
	return h, h.Magic == BmbtMagic
}

// PutNode writes a root that is a node into a fork.
func (r ForkRoot) PutNode(fork []byte, level int, keys, blocks []uint64) {
	c := cursor{b: fork}
	c.u16(uint16(level))
	c.u16(uint16(len(keys)))
	k, p := BtreeNode(fork[forkRootHeader:], r.Key, forkPointer)
	for i := range keys {
		be.PutUint64(k[i*r.Key:], keys[i])
		be.PutUint64(p[i*forkPointer:], blocks[i])
	}
}
