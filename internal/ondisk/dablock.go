package ondisk

// DABlock is a block of the btree that a directory or the attributes of a file
// have, a node or a leaf, worked on in its bytes. It begins with its neighbours
// and a magic number; in V5 a checksum, its place and its owner follow. A node
// and a leaf of a directory then have two numbers and a list of Hashes.
type DABlock struct {
	B  []byte
	V5 bool
}

// Magic numbers of V4.
const (
	DANodeMagicV4   = 0xfebe
	DirLeafMagicV4  = 0xd2f1 // all of an index
	DirLeafNMagicV4 = 0xd2ff // a leaf of many
)

// Places in a DABlock.
const (
	daForward, daBack, daMagic = 0, 4, 8
	daBlkno, daUUID            = 16, 32

	// DABlockCRC and DABlockOwner are where the checksum and the owner are in V5.
	DABlockCRC   = DirIndexCRC
	DABlockOwner = 48
	// DAHeader and DAHeaderV4 are how long the header of a node is, and of a leaf of a directory.
	DAHeader   = DirIndexHeader
	DAHeaderV4 = 16
)

// DAHeaderSize is the length of the header of a node.
func DAHeaderSize(v5 bool) int {
	if v5 {
		return DAHeader
	}
	return DAHeaderV4
}

// Forward and Back are the neighbours on the level, 0 for none.
func (d DABlock) Forward() uint32 { return be.Uint32(d.B[daForward:]) }

// Back is the neighbour before.
func (d DABlock) Back() uint32 { return be.Uint32(d.B[daBack:]) }

// SetForward and SetBack set the neighbours.
func (d DABlock) SetForward(at uint32) { be.PutUint32(d.B[daForward:], at) }

// SetBack sets the neighbour before.
func (d DABlock) SetBack(at uint32) { be.PutUint32(d.B[daBack:], at) }

// Magic says what the block is.
func (d DABlock) Magic() uint16 { return be.Uint16(d.B[daMagic:]) }

// SetMagic says what the block is.
func (d DABlock) SetMagic(m uint16) { be.PutUint16(d.B[daMagic:], m) }

// Blkno is the daddr that a V5 block gives as its place.
func (d DABlock) Blkno() uint64 { return be.Uint64(d.B[daBlkno:]) }

// SetBlkno sets the place of a V5 block.
func (d DABlock) SetBlkno(daddr uint64) { be.PutUint64(d.B[daBlkno:], daddr) }

// UUID is the filesystem that a V5 block belongs to.
func (d DABlock) UUID() UUID { return UUID(d.B[daUUID:]) }

// Owner is the inode that a V5 block belongs to.
func (d DABlock) Owner() uint64 { return be.Uint64(d.B[DABlockOwner:]) }

// Init writes a new header, of no neighbours and no entries; blkno, uuid and
// owner are for V5. The header takes size bytes.
func (d DABlock) Init(magic uint16, size int, blkno uint64, uuid UUID, owner uint64) {
	clear(d.B[:size])
	d.SetMagic(magic)
	if d.V5 {
		d.SetBlkno(blkno)
		copy(d.B[daUUID:], uuid[:])
		be.PutUint64(d.B[DABlockOwner:], owner)
	}
}

func (d DABlock) counts() int {
	if d.V5 {
		return 56
	}
	return 12
}

// Count is the number of entries.
func (d DABlock) Count() int { return int(be.Uint16(d.B[d.counts():])) }

// SetCount sets it.
func (d DABlock) SetCount(n int) { be.PutUint16(d.B[d.counts():], uint16(n)) }

// Level is the level of a node, from 1 on, or how many entries of a leaf of a
// directory are stale.
func (d DABlock) Level() int { return int(be.Uint16(d.B[d.counts()+2:])) }

// SetLevel sets it.
func (d DABlock) SetLevel(n int) { be.PutUint16(d.B[d.counts()+2:], uint16(n)) }

// Entries are the entries, with the room behind them.
func (d DABlock) Entries() Hashes { return Hashes(d.B[DAHeaderSize(d.V5):]) }

// Hashes is a list of hashes with a number each: in a node the greatest hash of
// a block below it and where that is, in a directory the hash of a name and the
// place of its entry, 0 for a stale one.
type Hashes []byte

// HashSize is the length of an entry of Hashes.
const HashSize = DirIndexSize

// Hash is that of an entry.
func (h Hashes) Hash(i int) uint32 { return be.Uint32(h[i*HashSize:]) }

// Value is the number of an entry.
func (h Hashes) Value(i int) uint32 { return be.Uint32(h[i*HashSize+4:]) }

// Put writes an entry.
func (h Hashes) Put(i int, hash, value uint32) {
	be.PutUint64(h[i*HashSize:], uint64(hash)<<32|uint64(value))
}

// SetHash changes the hash of an entry.
func (h Hashes) SetHash(i int, hash uint32) { be.PutUint32(h[i*HashSize:], hash) }

// SetValue changes the number of an entry.
func (h Hashes) SetValue(i int, value uint32) { be.PutUint32(h[i*HashSize+4:], value) }

// Move copies n entries to another place in the list.
func (h Hashes) Move(to, from, n int) { h.CopyFrom(to, h, from, n) }

// CopyFrom copies n entries of another list to a place in this one.
func (h Hashes) CopyFrom(to int, src Hashes, from, n int) {
	copy(h[to*HashSize:(to+n)*HashSize], src[from*HashSize:(from+n)*HashSize])
}

// Search is the index of the first of n entries whose hash is not below one; n if there is
// none. Hashes are as good as random, so that a jump for each comparison would be foretold wrong
// half of the time: there is none. A long list is narrowed down to one of 16 parts first, by comparisons that do not
// wait for each other: of a block that is not in the processor's cache several lines are on the way at a time.
func (h Hashes) Search(n int, hash uint32) int {
	const parts, short = 16, 64
	at, left := uint(0), uint(n)
	for left > short {
		part := left / parts
		below := uint(0)
		for i := uint(1); i < parts; i++ {
			below += h.below(at+i*part-1, hash)
		}
		at += below * part
		if left -= below * part; below < parts-1 {
			left = part
		}
	}
	for left > 0 {
		half := (left + 1) / 2
		at += half & -h.below(at+half-1, hash)
		left -= half
	}
	return int(at)
}

// below is 1 if the hash of an entry is below one, else 0.
func (h Hashes) below(i uint, hash uint32) uint {
	return uint((uint64(h.Hash(int(i))) - uint64(hash)) >> 63)
}

// Sorted tells whether n entries are in order of hash.
func (h Hashes) Sorted(n int) bool {
	for i := 1; i < n; i++ {
		if h.Hash(i) < h.Hash(i-1) {
			return false
		}
	}
	return true
}
