package ondisk

// AGIBlock is an AGI in its block: its fields are read and changed in place.
type AGIBlock []byte

// Where the fields of an AGI are.
const (
	agiSeqno      Field32 = 8
	agiLength     Field32 = 12
	agiCount      Field32 = 16
	agiRoot       Field32 = 20
	agiLevel      Field32 = 24
	agiFreeCount  Field32 = 28
	agiNewInode   Field32 = 32
	agiUnlinked   Field32 = 40 // the first of the lists
	agiFreeRoot   Field32 = 328
	agiFreeLevel  Field32 = 332
	agiBlocks     Field32 = 336 // of the inobt
	agiFreeBlocks Field32 = 340 // of the finobt

	agiUUID = 296
)

// UnlinkedBuckets is how many lists of unlinked inodes an AGI has. An inode is on
// the list of its number within the AG modulo this.
const UnlinkedBuckets = unlinkedBuckets

// IsAGI tells whether the magic number is that of an AGI.
func (b AGIBlock) IsAGI() bool { return be.Uint32(b) == AGIMagic }

// Version is that of the header.
func (b AGIBlock) Version() uint32 { return AGVersion(b) }

// Seqno is the AG's number.
func (b AGIBlock) Seqno() uint32 { return agiSeqno.Get(b) }

// Length is the number of the AG's blocks.
func (b AGIBlock) Length() uint32 { return agiLength.Get(b) }

// UUID is the filesystem's, of V5.
func (b AGIBlock) UUID() UUID { return UUID(b[agiUUID:][:16]) }

// Count is the number of inodes in the AG, free ones included.
func (b AGIBlock) Count() uint32 { return agiCount.Get(b) }

// AddCount changes Count.
func (b AGIBlock) AddCount(n int) { agiCount.Add(b, n) }

// FreeCount is the number of free inodes in the AG.
func (b AGIBlock) FreeCount() uint32 { return agiFreeCount.Get(b) }

// AddFreeCount changes FreeCount.
func (b AGIBlock) AddFreeCount(n int) { agiFreeCount.Add(b, n) }

// NewInode is the first inode, within the AG, of the chunk that was allocated last,
// or NullAGInode.
func (b AGIBlock) NewInode() uint32 { return agiNewInode.Get(b) }

// SetNewInode changes NewInode.
func (b AGIBlock) SetNewInode(agino uint32) { agiNewInode.Set(b, agino) }

// Root is the block of the root of the inobt, and the number of its levels.
func (b AGIBlock) Root() (agbno, levels uint32) {
	return agiRoot.Get(b), agiLevel.Get(b)
}

// SetRoot changes Root.
func (b AGIBlock) SetRoot(agbno, levels uint32) {
	agiRoot.Set(b, agbno)
	agiLevel.Set(b, levels)
}

// FreeRoot is Root of the finobt.
func (b AGIBlock) FreeRoot() (agbno, levels uint32) {
	return agiFreeRoot.Get(b), agiFreeLevel.Get(b)
}

// SetFreeRoot changes FreeRoot.
func (b AGIBlock) SetFreeRoot(agbno, levels uint32) {
	agiFreeRoot.Set(b, agbno)
	agiFreeLevel.Set(b, levels)
}

// Blocks is how many blocks the inobt has, in filesystems that count them (inobtcount).
func (b AGIBlock) Blocks() uint32 { return agiBlocks.Get(b) }

// AddBlocks changes Blocks.
func (b AGIBlock) AddBlocks(n int) { agiBlocks.Add(b, n) }

// FreeBlocks is Blocks of the finobt.
func (b AGIBlock) FreeBlocks() uint32 { return agiFreeBlocks.Get(b) }

// AddFreeBlocks changes FreeBlocks.
func (b AGIBlock) AddFreeBlocks(n int) { agiFreeBlocks.Add(b, n) }

// Unlinked is the first inode, within the AG, of a list of unlinked ones, or NullAGInode.
func (b AGIBlock) Unlinked(bucket int) uint32 { return (agiUnlinked + Field32(4*bucket)).Get(b) }

// SetUnlinked changes Unlinked.
func (b AGIBlock) SetUnlinked(bucket int, agino uint32) {
	(agiUnlinked + Field32(4*bucket)).Set(b, agino)
}
