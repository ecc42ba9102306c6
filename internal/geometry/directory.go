package geometry

// Directory is what a directory holds besides itself and its parent.
type Directory struct {
	Entries []DirEntry // in the order in which they were made
	Form    DirForm
	// InInode is how many of the entries were last in the inode, and InBlock how
	// many there were when a directory of one block got a second: their remains,
	// and those of the index in the block, are still there.
	InInode, InBlock int
	// Free is the free space at the end of each block of entries.
	Free []Bytes
	// Index is what indexes those blocks from DirLeaf on: the root, and the
	// others in the order in which they were made, which is that of their offsets.
	Index []*IndexBlock
	// LeafFree is what Free was when the index became a tree: it remains at the
	// end of what was the only leaf.
	LeafFree []Bytes
}

// DirForm is how a directory is laid out.
type DirForm uint8

// The forms of a directory, as it grows.
const (
	DirInInode DirForm = iota
	DirOneBlock
	DirLeaf // blocks of entries, and one that indexes them by hash
	DirNode // the index is a tree, and a list of free space has blocks of its own
)

// DirEntry is a name in a directory.
type DirEntry struct {
	File *File
	// At is where the entry is, or would be if the directory had blocks.
	At Bytes
}

// Lengths of parts of a directory in bytes.
const (
	dirHeader     = 64 // of a block of entries
	dirSelf       = 16 // the entry of itself or the parent
	dirIndexEntry = 8
	dirBlockTail  = 8
	dirLeafHeader = 64
	dirLeafTail   = 4
	dirLeafBest   = 2 // for each block of entries
	dirFreeHeader = 64
	shortHeader   = 2
	dirPlaceUnit  = 8 // of places in the index
)

// Where in a directory's space its index begins, and its list of free space.
const (
	dirLeafOffset = 32 * gib
	dirFreeOffset = 64 * gib
)

// DirPart is a kind of block in a directory.
type DirPart uint8

// The parts of a directory's space, in order of offset.
const (
	DirEntries DirPart = iota
	DirIndexes
	DirFreeSpace
)

// DirBlock tells what a directory has at an offset, and which of such blocks it is.
func (g *Geometry) DirBlock(offset Blocks) (DirPart, int) {
	index, free := blocksIn(dirLeafOffset, g.BlockLog), blocksIn(dirFreeOffset, g.BlockLog)
	part, start := DirEntries, Blocks(0)
	switch {
	case offset >= free:
		part, start = DirFreeSpace, free
	case offset >= index:
		part, start = DirIndexes, index
	}
	return part, int((offset - start) / blocksIn(g.DirBlockSize, g.BlockLog))
}

// dirEntrySize is the length of an entry: inode, length, name, type and the
// entry's own place, in multiples of 8.
func dirEntrySize(name string) Bytes { return roundUp(Bytes(8+1+len(name)+1+2), 8) }

// isDir tells whether a file is a directory.
func (f *File) isDir() bool {
	return f.Kind == RootDirectory || f.Kind == MetadataRoot || f.Kind == GroupDirectory
}

// IsDir tells whether an entry is of a directory.
func (e *DirEntry) IsDir() bool { return e.File.isDir() }

// Wide tells whether a directory in an inode needs inode numbers of 64 bits.
func (f *File) Wide() bool {
	for _, e := range f.Dir.Entries[:f.Dir.InInode] {
		if e.File.Inode>>32 != 0 {
			return true
		}
	}
	return f.ParentInode()>>32 != 0
}

// ParentInode is the directory that a directory is in, itself for a root.
func (f *File) ParentInode() Inode {
	if f.Parent == nil {
		return f.Inode
	}
	return f.Parent.Inode
}

// shortSize is the length of a directory in an inode.
func (f *File) shortSize() Bytes {
	number := Bytes(4)
	if f.Wide() {
		number = 8
	}
	size := shortHeader + number
	for _, e := range f.Dir.Entries[:f.Dir.InInode] {
		size += Bytes(1+2+len(e.File.Name)+1) + number
	}
	return size
}
