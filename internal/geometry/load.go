package geometry

// Load is what files put into a filesystem.
type Load struct {
	Inodes  uint64
	Folders uint64 // of them, directories, which may each be in an AG of its own
	// Blocks are those of data, directories, attributes and symbolic links, and
	// Extents how many pieces they are in.
	Blocks, Extents Blocks
	// Forks are the blocks of btrees of extents.
	Forks Blocks
}

// Takes is at most how many blocks a load takes, with inodes and with what the btrees of the
// AGs grow by, if free space is in long pieces.
func (g *Geometry) Takes(l Load) Blocks {
	if l.Inodes == 0 {
		return 0
	}
	t := newTrees(g)
	perChunk := uint64(g.ChunkInodes())
	ags := min(uint64(g.AGCount), l.Folders+1)
	chunks := Blocks(divUp(l.Inodes, perChunk) + ags)
	records := chunks + l.Extents + l.Forks
	n := chunks*g.chunkBlocks() + l.Blocks + l.Forks + t.inode.blocks(chunks)
	if g.Features.Finobt {
		n += t.inode.blocks(chunks)
	}
	if g.Features.Rmapbt {
		n += t.rmap.blocks(records)
	}
	return n
}

// ForkBlocks is at most how many blocks the btree of a fork of so many extents has besides its
// root, and 0 if all extents fit an inode with so many bytes for them.
func (g *Geometry) ForkBlocks(extents Blocks, room Bytes) Blocks {
	const size = 16
	if extents <= Blocks(room/size) {
		return 0
	}
	t := newTrees(g)
	return t.bmap.blocks(extents)
}

// directory is the shape of blocks of directories, in bytes. (xfs_da_format.h)
const (
	dirEntry     = 8 + 1 + 1 + 2 // inode, length, type, place; with the name rounded up to 8
	dirHeader    = 64            // of any block, at most
	dirHash      = 8             // of an entry in the index
	dirTail      = 8
	dirNodeEntry = 8
	dirFree      = 2  // of a block in the list of free space
	shortHeader  = 10 // of a directory in an inode, with 8-byte numbers
	shortEntry   = 1 + 2 + 1 + 8
)

// DirEntry is how many bytes an entry of a directory with a name of so many bytes takes there, at
// most, and in an inode.
func DirEntry(name int) (block, short Bytes) {
	return Bytes(dirEntry+name+7) &^ 7, Bytes(shortEntry + name)
}

// DirBlocks is at most how many blocks a directory has of n entries that take so many bytes, in
// blocks and in the inode, the longest so many; 0 if it fits an inode with so much room.
func (g *Geometry) DirBlocks(n uint64, block, short, longest, room Bytes) Blocks {
	const dots = 2 // . and ..
	size, per := uint64(g.DirBlockSize), Blocks(g.DirBlockSize/g.BlockSize)
	if shortHeader+short <= room {
		return 0
	}
	n += dots
	block += dots * 16
	if uint64(block)+n*dirHash+dirHeader+dirTail <= size {
		return per
	}
	data := divUp(uint64(block), max(size-dirHeader-uint64(min(longest, Bytes(size/2))), size/4))
	leaves := divUp(n*dirHash+data*dirFree, size-dirHeader)
	all := data + leaves
	if leaves > 1 {
		leaves *= 2 // no block of the index is less than half full
		all = data + leaves + divUp(data*dirFree, size-dirHeader)
		for nodes := leaves; nodes > 1; {
			nodes = divUp(2*nodes*dirNodeEntry, size-dirHeader)
			all += nodes
		}
	}
	return Blocks(all) * per
}
