// Package live is a filesystem that is worked on: what all operations on it
// share. That is its geometry, the cache of its metadata blocks, the counters of
// the superblock, and transactions with the work that they put off to their end.
//
//	dir, attr   names                 ialloc   inodes
//	     \         \                     |
//	      bmap    the blocks of files    |
//	         \________     ______________/
//	                  alloc  rmap  refcount      blocks of an AG
//	                      \    |   /
//	                       btree                 records of a B+tree
//	                         |
//	                       live                  this package
//	                         |
//	                       buffer                blocks in memory
//
// What is changed is changed in the bytes of the block, so that a block ends as
// the kernel leaves it, with what records that have moved away left behind.
package live

import (
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// FS is a filesystem.
type FS struct {
	G    *geometry.Geometry
	V5   bool
	UUID ondisk.UUID // of all blocks that have one

	Cache *buffer.Cache

	Counts Counts
	// Attrs says that a file got its first attributes: the superblock is to tell that there are some
	// (ondisk.VersionAttr). AttrLists says that there was one in the inode itself, and so that attribute forks
	// begin where it suits (Features2Attr2).
	Attrs, AttrLists bool
	// Remains are kept for a new filesystem that is to be the reference's; nil for none: fresh
	// blocks begin with zeros.
	Remains Remains
	// Reserves is what is set aside in each AG; nil for nothing, as a filesystem that is
	// not mounted has it.
	Reserves []Reserves
	// Now is the time for inodes: seconds since 1970 and nanoseconds.
	Now func() (int64, uint32)
	// Generation draws the generation number of a new inode, or of the inodes of a new chunk.
	Generation func() uint32

	idle  []*Trans
	kinds struct{ agf, agfl, agi *buffer.Kind } // made when they are wanted first
	most  *geometry.Heights
	chunk geometry.InodeChunk // likewise
	// Inodes, Space, Owners and Shared are what packages ialloc, alloc, rmap and refcount keep of the filesystem.
	Inodes, Space, Owners, Shared any
}

// Counts are the counters of the superblock.
type Counts struct {
	Inodes, FreeInodes uint64
	FreeBlocks         geometry.Blocks
}

// Reserves are blocks of an AG that are set aside for btrees to grow by: the finobt and
// the refcountbt, which take free blocks, and the rmapbt, which takes them by way of the
// free list.
type Reserves struct{ Metadata, Rmap Reserve }

// Reserve is blocks that are set aside.
type Reserve struct {
	Asked geometry.Blocks // with those that the trees have
	Left  geometry.Blocks
}

// Take uses n of the blocks, as far as there are any left, and Give brings n back.
func (r *Reserve) Take(n geometry.Blocks) { r.Left -= min(n, r.Left) }

// Give: see Take.
func (r *Reserve) Give(n geometry.Blocks) { r.Left += min(n, r.Asked-min(r.Asked, r.Left)) }

// Begin starts a transaction that may take so many blocks.
func (fs *FS) Begin(reserve geometry.Blocks) *Trans {
	if n := len(fs.idle); n > 0 {
		t := fs.idle[n-1]
		fs.idle = fs.idle[:n-1]
		t.Reserve, t.LogSpace = reserve, 0
		return t
	}
	return &Trans{FS: fs, Reserve: reserve}
}

// Daddr is the address of a byte of the data section, as blocks record it.
func (fs *FS) Daddr(off int64) uint64 { return uint64(off) / geometry.BasicBlock }

// Offset is the byte at which a block of an AG is.
func (fs *FS) Offset(agno geometry.AGNumber, agbno geometry.AGBlock) int64 {
	return int64(fs.G.Offset(agno, agbno))
}

// at is the block of an AG that a byte is in.
func (fs *FS) at(off int64) (geometry.AGNumber, geometry.AGBlock) {
	block := geometry.Blocks(off) >> fs.G.BlockLog
	return geometry.AGNumber(block / fs.G.AGBlocks), geometry.AGBlock(block % fs.G.AGBlocks)
}

// Heights are the greatest heights of the btrees of an AG.
func (fs *FS) Heights() geometry.Heights {
	if fs.most == nil {
		h := fs.G.Heights()
		fs.most = &h
	}
	return *fs.most
}
