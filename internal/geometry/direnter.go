package geometry

import (
	"cmp"
	"slices"
)

// enter puts a file into its directory. It tells whether there was room.
func (m *maker) enter(f *File) bool {
	parent := f.Parent
	d := parent.Dir
	parent.Changes++
	d.Entries = append(d.Entries, DirEntry{File: f})
	m.total = m.createSpace(parent)
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
	if d.Form == DirOneBlock {
		if d.Free[0] >= size+dirIndexEntry {
			e.At = m.p.g.DirBlockSize - d.Free[0] - Bytes(len(d.Entries)-1+2)*dirIndexEntry - dirBlockTail
			d.Free[0] -= size + dirIndexEntry
			return true
		}
		if !m.toLeaf(parent) {
			return false
		}
	}
	if d.Form == DirLeaf {
		if done, ok := m.enterLeaf(parent, e, size); done || !ok {
			return ok
		}
		if !m.toNode(parent) {
			return false
		}
	}
	return m.enterTree(parent, e, size)
}

// enterLeaf enters a name into a directory whose index is one leaf, unless that
// is full: in the block of a name of the same hash, else in the first with room.
func (m *maker) enterLeaf(f *File, e *DirEntry, size Bytes) (done, ok bool) {
	d := f.Dir
	leaf := d.Index[0]
	hash := HashName(e.File.Name)
	at, block := leaf.search(hash), none
	for ; at < leaf.Live && leaf.Slots[at].Hash == hash; at++ {
		if n := int(Bytes(leaf.Slots[at].At) * dirPlaceUnit / m.p.g.DirBlockSize); d.Free[n] >= size {
			block = n
			break
		}
	}
	if block == none {
		block = slices.IndexFunc(d.Free, func(n Bytes) bool { return n >= size })
	}
	blocks := len(d.Free)
	if block == none {
		blocks++
	}
	used := dirLeafHeader + Bytes(leaf.Live+1)*dirIndexEntry + Bytes(blocks)*dirLeafBest + dirLeafTail
	if used > m.p.g.DirBlockSize {
		return false, true
	}
	if block == none {
		if block = len(d.Free); !m.addDirBlock(f) {
			return true, false
		}
	}
	leaf.insert(at, DirIndex{hash, m.place(d, e, block, size)})
	return true, true
}

// enterTree enters a name into a directory whose index is a tree: in the block
// of a name of the same hash, else in the last with room.
func (m *maker) enterTree(f *File, e *DirEntry, size Bytes) bool {
	d := f.Dir
	hash := HashName(e.File.Name)
	path, block, skip := m.locate(d, hash, size)
	for n := len(d.Free) - 1; n >= 0 && block == none; n-- {
		if d.Free[n] >= size && n/m.p.g.DirFreePerBlock() != skip {
			block = n
		}
	}
	if block == none {
		if block = len(d.Free); !m.addDirBlock(f) || block%m.p.g.DirFreePerBlock() == 0 && !m.addFreeBlock(f, block) {
			return false
		}
	}
	return m.enterIndex(f, path, DirIndex{hash, m.place(d, e, block, size)})
}

// place puts an entry of a size into a block. It returns its place in the index's units.
func (m *maker) place(d *Directory, e *DirEntry, block int, size Bytes) uint32 {
	e.At = Bytes(block+1)*m.p.g.DirBlockSize - d.Free[block]
	d.Free[block] -= size
	return uint32(e.At / dirPlaceUnit)
}

// DirFreePerBlock is how many blocks of entries a block of free space lists.
func (g *Geometry) DirFreePerBlock() int { return int(g.DirBlockSize-dirFreeHeader) / dirLeafBest }

// addFreeBlock gives a directory the block of free space that lists a block of entries.
func (m *maker) addFreeBlock(f *File, block int) bool {
	g := m.p.g
	n := blocksIn(g.DirBlockSize, g.BlockLog)
	return m.grow(f, blocksIn(dirFreeOffset, g.BlockLog)+Blocks(block/g.DirFreePerBlock())*n, n)
}

// forkRoom is how much of an inode the data fork may take.
func (m *maker) forkRoom(f *File) Bytes {
	if m.hasParentPointer(f) {
		return ParentForkOffset
	}
	return m.p.g.InodeSize - m.p.g.inodeCore()
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
	d := f.Dir
	leaf := m.addIndexBlock(f, 0)
	if leaf == nil {
		return false
	}
	d.Form, d.InBlock = DirLeaf, len(d.Entries)-1
	for _, x := range f.BlockIndex() {
		leaf.insert(leaf.Live, x)
	}
	d.Free[0] += Bytes(d.InBlock+2)*dirIndexEntry + dirBlockTail
	return true
}

// BlockIndex is the index of the first block of a directory, from when it had
// no other: of equal hashes the later is first.
func (f *File) BlockIndex() []DirIndex {
	entries := f.Dir.Entries
	if f.Dir.Form != DirOneBlock {
		entries = entries[:f.Dir.InBlock]
	}
	list := make([]DirIndex, 0, len(entries)+2)
	add := func(name string, at Bytes) {
		list = append(list, DirIndex{HashName(name), uint32(at / dirPlaceUnit)})
	}
	for _, e := range slices.Backward(entries) {
		add(e.File.Name, e.At)
	}
	add("..", dirHeader+dirSelf)
	add(".", dirHeader)
	slices.SortStableFunc(list, func(a, b DirIndex) int { return cmp.Compare(a.Hash, b.Hash) })
	return list
}

// toNode makes the index of a directory, a leaf, the root of a tree, and moves
// the list of free space from its end to a block of its own.
func (m *maker) toNode(f *File) bool {
	if !m.addFreeBlock(f, 0) {
		return false
	}
	f.Dir.Form, f.Dir.LeafFree = DirNode, slices.Clone(f.Dir.Free)
	return true
}

// createSpace is the most that making the last file of a directory may take:
// for inodes, its entry, and the pointer to its parent.
func (m *maker) createSpace(dir *File) Blocks {
	g := m.p.g
	r := m.reserver
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
	if !m.grow(f, Blocks(len(f.Dir.Free))*n, n) {
		return false
	}
	f.Dir.Free = append(f.Dir.Free, g.DirBlockSize-dirHeader)
	f.Size = Bytes(len(f.Dir.Free)) * g.DirBlockSize
	return true
}
