package ondisk

import "math/bits"

// Superblock bits that mkfs does not set, but others may.
const (
	VersionShared       Version  = 0x0200 // no longer supported by anyone
	IncompatNeedsRepair Incompat = 0x10
	IncompatZoneGaps    Incompat = 0x400
)

// Values and flags in records that mkfs does not write, but others may.
const (
	OwnCow               = ^uint64(8) // -9: staging for copy on write
	RefcountCow   uint32 = 1 << 31    // in a RefcountRecord's start
	RmapUnwritten uint64 = 1 << 61    // in an RmapRecord's offset, and no part of its order
	NullLSN       uint64 = ^uint64(0)
)

// Sizes and numbers for who reads headers and the log.
const (
	AGHeaderVersion   = agVersion
	InodesPerHole     = 4 // what a bit of an InodeRecord's hole mask stands for
	LogBlock          = logBlock
	LogHeaderBytes    = bytesPerHeader // of a record that one header block serves
	btreeNodePointer  = 4
	agHeaderVersionAt = 4
	opFlagsAt         = 9
	opHeader          = 12
)

// AGVersion reads the version of an AGF or AGI.
func AGVersion(b []byte) uint32 { return be.Uint32(b[agHeaderVersionAt:]) }

// FirstWord reads the first word of a block: its magic number or, in the log,
// the cycle it was written in.
func FirstWord(b []byte) uint32 { return be.Uint32(b) }

// Cycle reads which cycle of the log a block of it was written in. That of a
// record's header stands behind its magic number.
func Cycle(b []byte) uint32 {
	if be.Uint32(b) == LogMagic {
		return be.Uint32(b[4:])
	}
	return be.Uint32(b)
}

// IsUnmount tells whether the log operation at the start of b is the note
// that the filesystem was unmounted.
func IsUnmount(b []byte) bool { return len(b) >= opHeader && b[opFlagsAt]&opUnmount != 0 }

// NodePointer reads pointer i of a btree node. The node's body b has room for
// most keys of size key, and behind them as many pointers.
func NodePointer(b []byte, most, key, i int) uint32 {
	return be.Uint32(b[most*key+i*btreeNodePointer:])
}

// NodeCapacity is how many keys of size key, with pointers, a node's body holds.
func NodeCapacity(body, key int) int { return body / (key + btreeNodePointer) }

// Holes counts the inodes of a sparse chunk that do not exist, and those of
// its free ones that do.
func (r InodeRecord) Holes() (holes int, free int) {
	real := ^uint64(0)
	for bit := range 16 {
		if r.HoleMask>>bit&1 != 0 {
			real &^= 0xf << (InodesPerHole * bit)
		}
	}
	return 64 - bits.OnesCount64(real), bits.OnesCount64(r.Free & real)
}

// Where the superblock keeps what recovery changes.
const (
	sbUUID        = 32
	sbIncompat    = 216
	sbMetaUUID    = 248
	sbInodeCount  = 128
	sbFreeInodes  = 136
	sbFreeBlocks  = 144
	sbLogIncompat = 220
)

// SetCounters changes the counters of a superblock, which then wants sealing.
func SetCounters(b []byte, inodes, freeInodes, freeBlocks uint64) {
	be.PutUint64(b[sbInodeCount:], inodes)
	be.PutUint64(b[sbFreeInodes:], freeInodes)
	be.PutUint64(b[sbFreeBlocks:], freeBlocks)
}

// ClearLogIncompat takes back all features of a superblock that are about the
// contents of the log.
func ClearLogIncompat(b []byte) { be.PutUint32(b[sbLogIncompat:], 0) }

// SetUUID gives a superblock another UUID; it then wants sealing. In V5 that of
// all other blocks stays what it was, so that the superblock has both, unless
// they are the same again.
func SetUUID(b []byte, id UUID) {
	s, _ := DecodeSuperblock(b)
	copy(b[sbUUID:], id[:])
	if !s.IsV5() {
		return
	}
	old := s.UUID
	if s.Incompat&IncompatMetaUUID != 0 {
		old = s.MetaUUID
	}
	s.Incompat |= IncompatMetaUUID
	if id == old {
		s.Incompat &^= IncompatMetaUUID
		old = UUID{}
	}
	be.PutUint32(b[sbIncompat:], uint32(s.Incompat))
	copy(b[sbMetaUUID:], old[:])
}
