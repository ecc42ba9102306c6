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

// PutKey writes a record's start, owner and offset.
func (r RmapRecord) PutKey(b []byte) {
	c := cursor{b: b}
	c.u32(r.Start)
	c.u64(r.Owner)
	c.u64(r.Offset)
}

// LongBtreeCRC is where a block of a btree in a file has its checksum.
const LongBtreeCRC = 64
