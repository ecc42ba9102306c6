package ondisk

// AGIBlock is an AGI in its block: its fields are read and changed in place.
type AGIBlock []byte

// Where the fields of an AGI are.
const (
	agiSeqno    = 8
	agiLength   = 12
	agiCount    = 16
	agiRoot     = 20
	agiLevel    = 24
	agiFree     = 28
	agiNewInode = 32
	agiUnlinked = 40
	agiUUID     = 296
	agiFreeRoot = 328
	agiFreeLev  = 332
	agiBlocks   = 336 // of the inobt
	agiFreeBlks = 340 // of the finobt
)

// UnlinkedBuckets is how many lists of unlinked inodes an AGI has. An inode is on
// the list of its number within the AG modulo this.
const UnlinkedBuckets = unlinkedBuckets

// IsAGI tells whether the magic number is that of an AGI.
func (b AGIBlock) IsAGI() bool { return be.Uint32(b) == AGIMagic }

// Version is that of the header.
func (b AGIBlock) Version() uint32 { return AGVersion(b) }

// Seqno is the AG's number.
func (b AGIBlock) Seqno() uint32 { return be.Uint32(b[agiSeqno:]) }

// Length is the number of the AG's blocks.
func (b AGIBlock) Length() uint32 { return be.Uint32(b[agiLength:]) }

// UUID is the filesystem's, of V5.
func (b AGIBlock) UUID() UUID { return UUID(b[agiUUID:][:16]) }

// Count is the number of inodes in the AG, free ones included.
func (b AGIBlock) Count() uint32 { return be.Uint32(b[agiCount:]) }

// AddCount changes Count.
func (b AGIBlock) AddCount(n int) { be.PutUint32(b[agiCount:], b.Count()+uint32(n)) }

// FreeCount is the number of free inodes in the AG.
func (b AGIBlock) FreeCount() uint32 { return be.Uint32(b[agiFree:]) }

// AddFreeCount changes FreeCount.
func (b AGIBlock) AddFreeCount(n int) { be.PutUint32(b[agiFree:], b.FreeCount()+uint32(n)) }

// NewInode is the first inode, within the AG, of the chunk that was allocated last,
// or NullAGInode.
func (b AGIBlock) NewInode() uint32 { return be.Uint32(b[agiNewInode:]) }

// SetNewInode changes NewInode.
func (b AGIBlock) SetNewInode(agino uint32) { be.PutUint32(b[agiNewInode:], agino) }

// Root is the block of the root of the inobt, and the number of its levels.
func (b AGIBlock) Root() (agbno, levels uint32) {
	return be.Uint32(b[agiRoot:]), be.Uint32(b[agiLevel:])
}

// SetRoot changes Root.
func (b AGIBlock) SetRoot(agbno, levels uint32) {
	be.PutUint32(b[agiRoot:], agbno)
	be.PutUint32(b[agiLevel:], levels)
}

// FreeRoot is Root of the finobt.
func (b AGIBlock) FreeRoot() (agbno, levels uint32) {
	return be.Uint32(b[agiFreeRoot:]), be.Uint32(b[agiFreeLev:])
}

// SetFreeRoot changes FreeRoot.
func (b AGIBlock) SetFreeRoot(agbno, levels uint32) {
	be.PutUint32(b[agiFreeRoot:], agbno)
	be.PutUint32(b[agiFreeLev:], levels)
}

// Blocks is how many blocks the inobt has, in filesystems that count them (inobtcount).
func (b AGIBlock) Blocks() uint32 { return be.Uint32(b[agiBlocks:]) }

// AddBlocks changes Blocks.
func (b AGIBlock) AddBlocks(n int) { be.PutUint32(b[agiBlocks:], b.Blocks()+uint32(n)) }

// FreeBlocks is Blocks of the finobt.
func (b AGIBlock) FreeBlocks() uint32 { return be.Uint32(b[agiFreeBlks:]) }

// AddFreeBlocks changes FreeBlocks.
func (b AGIBlock) AddFreeBlocks(n int) { be.PutUint32(b[agiFreeBlks:], b.FreeBlocks()+uint32(n)) }

// Unlinked is the first inode, within the AG, of a list of unlinked ones, or NullAGInode.
func (b AGIBlock) Unlinked(bucket int) uint32 { return be.Uint32(b[agiUnlinked+4*bucket:]) }

// SetUnlinked changes Unlinked.
func (b AGIBlock) SetUnlinked(bucket int, agino uint32) {
	be.PutUint32(b[agiUnlinked+4*bucket:], agino)
}
