package geometry

import (
	"math"
	"math/bits"

	"mkfs/internal/memtree"
)

// InodeRecord is a record of an inode btree: InodesPerChunk inodes within an
// AG, of which some may not be there.
type InodeRecord struct {
	Start uint32 // inode number within the AG
	Holes uint16 // a bit for each 4 inodes that are not there
	Free  uint64 // a bit for each inode that is free, or not there
}

const inodesPerHole = InodesPerChunk / 16

var byInode = &memtree.Order[InodeRecord]{Less: func(a, b InodeRecord) bool { return a.Start < b.Start }}

// newRecord is a record of a chunk without holes.
func newRecord(start uint32) InodeRecord { return InodeRecord{Start: start, Free: math.MaxUint64} }

// Count is the number of inodes that are there.
func (r InodeRecord) Count() int { return InodesPerChunk - bits.OnesCount16(r.Holes)*inodesPerHole }

// FreeCount is the number of free inodes.
func (r InodeRecord) FreeCount() int {
	return bits.OnesCount64(r.Free) - bits.OnesCount16(r.Holes)*inodesPerHole
}

// take takes the first free inode.
func (r *InodeRecord) take() (agino uint32) {
	for i := range uint32(InodesPerChunk) {
		if r.Free>>i&1 != 0 && r.Holes>>(i/inodesPerHole)&1 == 0 {
			r.Free &^= 1 << i
			return r.Start + i
		}
	}
	panic("geometry: no free inode in a record that has some")
}
