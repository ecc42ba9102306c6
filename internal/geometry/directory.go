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
}

// DirForm is how a directory is laid out.
type DirForm uint8

// The forms of a directory, as it grows.
const (
	DirInInode DirForm = iota
	DirOneBlock
	DirLeaf // blocks of entries, and one that indexes them by hash
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
	shortHeader   = 2
)

// dirLeafOffset is where in a directory's space its indexes begin.
const dirLeafOffset = 32 * gib

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
	return f.parentInode()>>32 != 0
}

// parentInode is the directory that a directory is in, itself for a root.
func (f *File) parentInode() Inode {
	if f.Parent == nil {
		return f.Inode
	}
	return f.Parent.Inode
}

// ParentInode is the directory that a directory is in, itself for a root.
func (f *File) ParentInode() Inode { return f.parentInode() }

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

// enter puts a file into its directory. It tells whether there was room.
func (m *maker) enter(f *File) bool {
	parent := f.Parent
	d := &parent.Dir
	parent.Changes++
	d.Entries = append(d.Entries, DirEntry{File: f})
	e := &d.Entries[len(d.Entries)-1]
	size := dirEntrySize(f.Name)
	if d.Form == DirInInode {
		e.At = dirHeader + 2*dirSelf
		if last := len(d.Entries) - 2; last >= 0 {
			e.At = d.Entries[last].At + dirEntrySize(d.Entries[last].File.Name)
		}
		d.InInode++
		if parent.Size = parent.shortSize(); parent.Size <= m.forkRoom(parent) {
			return true
		}
		d.InInode--
		if !m.toBlock(parent, e.At) {
			return false
		}
	}
	if d.Form == DirOneBlock && d.Free[0] < size+dirIndexEntry && !m.toLeaf(parent) {
		return false
	}
	block := 0
	for block < len(d.Free) && d.Free[block] < size {
		block++
	}
	if d.Form == DirLeaf && !m.leafFits(parent, block) {
		return false
	}
	if block == len(d.Free) && !m.addDirBlock(parent) {
		return false
	}
	e.At = Bytes(block+1)*m.p.g.DirBlockSize - d.Free[block]
	if d.Form == DirOneBlock {
		e.At -= Bytes(len(d.Entries)-1+2)*dirIndexEntry + dirBlockTail
		size += dirIndexEntry
	}
	d.Free[block] -= size
	return true
}

// forkRoom is how much of an inode the data fork may take.
func (m *maker) forkRoom(f *File) Bytes {
	if m.hasParentPointer(f) {
		return parentForkOffset
	}
	return m.p.g.InodeSize - inodeCore
}

// toBlock moves a directory out of the inode; used is how far its entries reach.
func (m *maker) toBlock(f *File, used Bytes) bool {
	if !m.addDirBlock(f) {
		return false
	}
	indexed := Bytes(len(f.Dir.Entries) - 1 + 2)
	f.Dir.Form = DirOneBlock
	f.Dir.Free[0] = m.p.g.DirBlockSize - used - indexed*dirIndexEntry - dirBlockTail
	return true
}

// toLeaf moves the index of a directory's block to a block of its own.
func (m *maker) toLeaf(f *File) bool {
	g := m.p.g
	if !m.grow(f, blocksIn(dirLeafOffset, g.BlockLog), blocksIn(g.DirBlockSize, g.BlockLog), m.createSpace(f)) {
		return false
	}
	f.Dir.Form, f.Dir.InBlock = DirLeaf, len(f.Dir.Entries)-1
	f.Dir.Free[0] += Bytes(f.Dir.InBlock+2)*dirIndexEntry + dirBlockTail
	return true
}

// leafFits tells whether the index has room for another entry, in a block that
// may be a new one.
func (m *maker) leafFits(f *File, block int) bool {
	used := Bytes(dirLeafHeader + dirLeafTail)
	used += Bytes(len(f.Dir.Entries)+2)*dirIndexEntry + Bytes(max(len(f.Dir.Free), block+1))*dirLeafBest
	if used <= m.p.g.DirBlockSize {
		return true
	}
	m.p.refuse("-r rgcount", "the directory of the files of that many groups would need a form of index that is not supported yet; use fewer groups")
	return false
}

// createSpace is the most that making the last file of a directory may take:
// for inodes, its entry, and the pointer to its parent.
func (m *maker) createSpace(dir *File) Blocks {
	g := m.p.g
	r := newReserver(g)
	trees := uint64(1)
	if g.Features.Finobt {
		trees = 2
	}
	n := uint64(g.chunkBlocks()) + trees*r.inodeLevels + r.dirEnter()
	if g.Features.Parent {
		name := dir.Dir.Entries[len(dir.Dir.Entries)-1].File.Name
		n += attrTreeDepth*(1+r.extentAdd(1, r.attrForkLevels)) + r.extentAdd(uint64(len(name)), r.attrForkLevels)
	}
	return Blocks(n)
}

// addDirBlock gives a directory another block of entries.
func (m *maker) addDirBlock(f *File) bool {
	g := m.p.g
	n := blocksIn(g.DirBlockSize, g.BlockLog)
	if !m.grow(f, Blocks(len(f.Dir.Free))*n, n, m.createSpace(f)) {
		return false
	}
	f.Dir.Free = append(f.Dir.Free, g.DirBlockSize-dirHeader)
	f.Size = Bytes(len(f.Dir.Free)) * g.DirBlockSize
	return true
}
