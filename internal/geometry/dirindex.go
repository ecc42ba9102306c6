package geometry

import (
	"cmp"
	"slices"
)

// DirIndex is a slot of a directory's index: the hash of a name and the place of
// its entry, in units of 8 bytes; in a node the greatest hash of a block below
// it and that block's place in the directory's space, in blocks.
type DirIndex struct{ Hash, At uint32 }

// IndexBlock is a block of a directory's index.
type IndexBlock struct {
	Offset        Blocks // in the directory's space
	Level         int    // 0: leaf
	Back, Forward Blocks // its neighbours, 0 for none
	// Slots are in order of hash. Those from Live on are remains; as many as were
	// ever in use are there.
	Slots []DirIndex
	Live  int
}

func (b *IndexBlock) last() uint32 { return b.Slots[b.Live-1].Hash }

// search is the index of the first slot whose hash is not below one.
func (b *IndexBlock) search(hash uint32) int {
	i, _ := slices.BinarySearchFunc(b.Slots[:b.Live], hash, func(x DirIndex, h uint32) int {
		return cmp.Compare(x.Hash,
			h)
	})
	return i
}

func (b *IndexBlock) insert(i int, x DirIndex) {
	if b.Live == len(b.Slots) {
		b.Slots = append(b.Slots, x)
	}
	copy(b.Slots[i+1:b.Live+1], b.Slots[i:b.Live])
	b.Slots[i] = x
	b.Live++
}

// moveTo moves the last n slots to the start of a new block, behind this one.
func (b *IndexBlock) moveTo(right *IndexBlock, n int, next *IndexBlock) {
	right.Slots = slices.Clone(b.Slots[b.Live-n : b.Live])
	b.Live, right.Live = b.Live-n, n
	right.Back, right.Forward = b.Offset, b.Forward
	b.Forward = right.Offset
	if next != nil {
		next.Back = right.Offset
	}
}

// dirStep is a slot on the way from the root of an index to a leaf.
type dirStep struct {
	*IndexBlock
	at int
}

// dirPath is the way to a slot of a leaf.
type dirPath []dirStep

// indexBlock is the block of the index at an offset, nil for 0.
func (m *maker) indexBlock(d *Directory, offset Blocks) *IndexBlock {
	if offset == 0 {
		return nil
	}
	g := m.p.g
	return d.Index[(offset-blocksIn(dirLeafOffset, g.BlockLog))/blocksIn(g.DirBlockSize, g.BlockLog)]
}

// descend finds the way to the first leaf that may have a hash.
func (m *maker) descend(d *Directory, hash uint32) (path dirPath) {
	b := d.Index[0]
	for b.Level > 0 {
		at := min(b.search(hash), b.Live-1)
		path = append(path, dirStep{b, at})
		b = m.indexBlock(d, Blocks(b.Slots[at].At))
	}
	return append(path, dirStep{b, b.search(hash)})
}

// forward moves a path to the start of the next leaf, if there is one.
func (m *maker) forward(d *Directory, path dirPath) bool {
	level := len(path) - 2
	for level >= 0 && path[level].at == path[level].Live-1 {
		level--
	}
	if level < 0 {
		return false
	}
	path[level].at++
	for ; level < len(path)-1; level++ {
		path[level+1] = dirStep{m.indexBlock(d, Blocks(path[level].Slots[path[level].at].At)), 0}
	}
	return true
}

// locate finds the slot where a name's hash belongs, behind others of the same
// hash, and a block that has one of those and room for the name. Where there
// are others, but without room, it tells which block of free space their last
// is listed in.
func (m *maker) locate(d *Directory, hash uint32, size Bytes) (path dirPath, block, skip int) {
	path = m.descend(d, hash)
	skip = none
	for {
		leaf := &path[len(path)-1]
		for ; leaf.at < leaf.Live && leaf.Slots[leaf.at].Hash == hash; leaf.at++ {
			block = int(Bytes(leaf.Slots[leaf.at].At) * dirPlaceUnit / m.p.g.DirBlockSize)
			if d.Free[block] >= size {
				return path, block, none
			}
			skip = block / m.p.g.DirFreePerBlock()
		}
		if leaf.last() != hash || !m.forward(d, path) {
			return path, none, skip
		}
		leaf = &path[len(path)-1]
		leaf.at = leaf.search(hash)
	}
}

// none stands for no block.
const none = -1

// enterIndex enters a name at the end of a path, and splits what is full.
func (m *maker) enterIndex(f *File, path dirPath, x DirIndex) bool {
	leaf := path[len(path)-1]
	if leaf.Live < m.indexSlots() {
		leaf.insert(leaf.at, x)
		path.fixHashes()
		return true
	}
	added := m.addIndexBlock(f, 0)
	if added == nil {
		return false
	}
	leaf.moveTo(added, leaf.Live/2, m.indexBlock(f.Dir, leaf.Forward))
	if leaf.at <= leaf.Live {
		leaf.insert(leaf.at, x)
	} else {
		added.insert(leaf.at-leaf.Live, x)
	}
	path.fixHashes()
	for ; added != nil && len(path) > 1; path.fixHashes() {
		path = path[:len(path)-1]
		var ok bool
		if added, ok = m.enterNode(f, path[len(path)-1], added); !ok {
			return false
		}
	}
	return added == nil || m.splitRoot(f, added)
}

// enterNode enters a new block into the node above its left neighbour, which
// is in the step's slot. It returns a new node if that splits.
func (m *maker) enterNode(f *File, node dirStep, below *IndexBlock) (added *IndexBlock, ok bool) {
	x := DirIndex{below.last(), uint32(below.Offset)}
	if node.Live == m.indexSlots() {
		if added = m.addIndexBlock(f, node.Level); added == nil {
			return nil, false
		}
		node.moveTo(added, node.Live/2, m.indexBlock(f.Dir, node.Forward))
		if node.at >= node.Live {
			added.insert(node.at-node.Live+1, x)
			return added, true
		}
	}
	node.insert(node.at+1, x)
	return added, true
}

// splitRoot puts a new root above two blocks. The root's place never changes:
// what was there moves.
func (m *maker) splitRoot(f *File, right *IndexBlock) bool {
	root := f.Dir.Index[0]
	left := m.addIndexBlock(f, root.Level)
	if left == nil {
		return false
	}
	left.Slots = slices.Clone(root.Slots[:root.Live])
	left.Live, left.Forward = root.Live, root.Forward
	right.Back = left.Offset
	root.Level, root.Live, root.Forward = root.Level+1, 0, 0
	for i, b := range []*IndexBlock{left, right} {
		root.insert(i, DirIndex{b.last(), uint32(b.Offset)})
	}
	return true
}

// fixHashes makes the last hash of a path's end known to the nodes above it.
func (path dirPath) fixHashes() {
	for i := len(path) - 1; i > 0; i-- {
		x := &path[i-1].Slots[path[i-1].at]
		if x.Hash == path[i].last() {
			return
		}
		x.Hash = path[i].last()
	}
}

// indexSlots is how many slots a block of the index has.
func (m *maker) indexSlots() int { return int(m.p.g.DirBlockSize-dirLeafHeader) / dirIndexEntry }

// addIndexBlock gives the index another block, or returns nil.
func (m *maker) addIndexBlock(f *File, level int) *IndexBlock {
	g := m.p.g
	n := blocksIn(g.DirBlockSize, g.BlockLog)
	b := &IndexBlock{
		Offset: blocksIn(dirLeafOffset, g.BlockLog) + Blocks(len(f.Dir.Index))*n,
		Level:  level,
	}
	if !m.grow(f, b.Offset, n) {
		return nil
	}
	f.Dir.Index = append(f.Dir.Index, b)
	return b
}
