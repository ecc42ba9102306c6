package geometry

import "mkfs/internal/memtree"

// Contents is what a new filesystem holds besides the headers of its AGs: its
// inodes, and the blocks of files.
type Contents struct {
	Files []*File // in the order in which they were made; the root directory is the first
	// AGs has those AGs that hold some of it, in their final state.
	AGs map[AGNumber]*AG
}

// FileKind says what an inode is for.
type FileKind uint8

// The kinds of file in a new filesystem.
const (
	RootDirectory FileKind = iota
	RealtimeBitmap
	RealtimeSummary
	MetadataRoot   // of the directory tree that metadata files are in
	GroupDirectory // of the files of realtime groups
	RealtimeRmap
	RealtimeRefcount
)

// File is an inode in use.
type File struct {
	Kind   FileKind
	Inode  Inode
	Group  GroupNumber // of realtime files
	Parent *File       // the directory that names it; nil for none
	Name   string      // in that
	Dir    *Directory  // nil for other files
	Size   Bytes
	// Extents are where its data is, in order of offset.
	Extents []FileExtent
	// Tree has them too once there are more than fit the inode.
	Tree *memtree.Tree[FileExtent]
	// Before is what the data fork held each time before its form changed.
	Before []Fork
	// Changes is how many transactions have changed the inode.
	Changes uint64
}

// InodeCounts is the number of inodes in all AGs, and how many of them are free.
func (c *Contents) InodeCounts() (count, free uint64) {
	for _, a := range c.AGs {
		n, f := a.InodeCounts()
		count, free = count+uint64(n), free+uint64(f)
	}
	return count, free
}

// TakenBlocks is the number of blocks that inodes and files take, and what the
// inode btrees have grown by. The rmapbt grows by blocks of the free list, which
// count as free as long as it has them.
func (c *Contents) TakenBlocks() (n Blocks) {
	for _, a := range c.AGs {
		n += a.taken()
	}
	return n
}

func (a *AG) taken() (n Blocks) {
	for u := range a.Owners.Records {
		switch u.Owner {
		case OwnedByInodes, OwnedByFile:
			n += u.Blocks
		}
	}
	grown := a.Inodes.Blocks() - 1 + a.FreeInodes.Blocks() - 1
	return n + Blocks(grown)
}

// InodeCounts is the number of inodes in an AG, and how many of them are free.
func (a *AG) InodeCounts() (count, free uint32) {
	for r := range a.Inodes.Records {
		count += uint32(r.Count())
		free += uint32(r.FreeCount())
	}
	return count, free
}

// InodeAddress is where an inode is: its AG, and its number within that.
func (g *Geometry) InodeAddress(ino Inode) (AGNumber, uint32) {
	bits := g.AGBlockLog + g.InodeBlockLog()
	return AGNumber(ino >> bits), uint32(ino & (1<<bits - 1))
}

// InodeOf is the number of an inode that has a number within an AG.
func (g *Geometry) InodeOf(agno AGNumber, agino uint32) Inode {
	return Inode(agno)<<(g.AGBlockLog+g.InodeBlockLog()) | Inode(agino)
}

// BlockAddress is where a block is: its AG, and its number within that.
func (g *Geometry) BlockAddress(b FSBlock) (AGNumber, AGBlock) {
	return AGNumber(b >> g.AGBlockLog), AGBlock(b & (1<<g.AGBlockLog - 1))
}

// Place names a file in messages.
func (f *File) Place() string {
	switch {
	case f.Name != "":
		return f.Name
	case f.Kind == RealtimeBitmap:
		return "realtime bitmap"
	case f.Kind == RealtimeSummary:
		return "realtime summary"
	}
	return "directory"
}
