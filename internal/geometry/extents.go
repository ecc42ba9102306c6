package geometry

import (
	"cmp"
	"slices"

	"mkfs/internal/memtree"
)

// Lengths in bytes of what a data fork holds: extents, or the root of a btree
// of extents, a header and keys with pointers.
const fileExtentSize, forkHeader, forkEntry = 16, 4, 16

// FileExtent is a run of a file's blocks.
type FileExtent struct {
	Offset Blocks // within the file
	Start  FSBlock
	Blocks Blocks
}

// extendsTo tells whether an extent goes on in another, as one.
func (e FileExtent) extendsTo(next FileExtent) bool {
	return e.Offset+e.Blocks == next.Offset && e.Start+FSBlock(e.Blocks) == next.Start && e.Blocks+
		next.Blocks <= maxFileExtent
}

// DataBlocks is the number of blocks of a file's data.
func (f *File) DataBlocks() (n Blocks) {
	for _, e := range f.Extents {
		n += e.Blocks
	}
	return n
}

// extentAt is the index of a file's first extent behind an offset.
func (f *File) extentAt(offset Blocks) int {
	i, _ := slices.BinarySearchFunc(f.Extents, offset, func(e FileExtent, at Blocks) int {
		return cmp.Compare(e.Offset,
			at)
	})
	return i
}

// grow gives a directory more blocks, in as few pieces as there can be.
func (m *maker) grow(f *File, offset, n Blocks) bool {
	for end := offset + n; offset < end; {
		tree := f.treeBlocks()
		e, ok := m.space.blocks(f, offset, end-offset, m.total)
		if !ok || !m.enterExtent(f, e) {
			return false
		}
		offset += e.Blocks
		m.total -= min(m.total, e.Blocks+f.treeBlocks()-tree)
	}
	return true
}

func (f *File) treeBlocks() Blocks {
	if f.Tree == nil {
		return 0
	}
	return Blocks(f.Tree.Blocks())
}

// enterExtent adds an extent to a file's, as one with its neighbours if they
// are contiguous.
func (m *maker) enterExtent(f *File, e FileExtent) bool {
	i := f.extentAt(e.Offset)
	before := i > 0 && f.Extents[i-1].extendsTo(e)
	behind := i < len(f.Extents) && e.extendsTo(f.Extents[i])
	if before {
		i--
		e = FileExtent{f.Extents[i].Offset, f.Extents[i].Start, f.Extents[i].Blocks + e.Blocks}
	}
	ok := true
	switch {
	case before && behind:
		next := f.Extents[i+1]
		e.Blocks += next.Blocks
		if f.Tree != nil {
			ok = f.Tree.Remove(f.Tree.Find(next)) || m.space.stick()
		}
		f.Extents = slices.Delete(f.Extents, i+1, i+2)
	case behind:
		e.Blocks += f.Extents[i].Blocks
	}
	switch {
	case before || behind:
		if f.Tree != nil {
			f.Tree.Update(f.Tree.Find(f.Extents[i]), e)
		}
		f.Extents[i] = e
	default:
		f.Extents = slices.Insert(f.Extents, i, e)
		if f.Tree == nil {
			return len(f.Extents) <= int(m.forkRoom(f))/fileExtentSize || m.extentsToTree(f)
		}
		ok = f.Tree.Insert(f.Tree.Find(e), e, func(near uint64) (uint64, bool) {
			return m.space.treeBlock(f, FSBlock(near))
		})
	}
	return ok
}

// extentsToTree moves extents that do not fit the inode to a memtree.
func (m *maker) extentsToTree(f *File) bool {
	g := m.p.g
	if !g.Features.CRC {
		m.p.refuse("", "a metadata file would have %d extents, more than fit a V4 inode", len(f.Extents))
		return false
	}
	agno, agino := g.InodeAddress(f.Inode)
	at, ok := m.space.treeBlock(f, g.FSBlock(agno, AGBlock(agino>>g.InodeBlockLog())))
	if !ok {
		return false
	}
	t := newTrees(g)
	size := t.bmap.size()
	size.Fork = int(m.forkRoom(f)-forkHeader) / forkEntry
	f.Tree = memtree.InFork(byOffset, size, at, f.Extents)
	return true
}

var byOffset = &memtree.Order[FileExtent]{Less: func(a, b FileExtent) bool { return a.Offset < b.Offset }}

// Fork is what an inode's data fork holds of a file's extents: these, or the
// root of their memtree.
type Fork struct {
	Extents []FileExtent
	Level   int // of the root, 0 for extents
	Keys    []Blocks
	Below   []FSBlock
}

// Fork is what the data fork holds.
func (f *File) Fork() Fork {
	if f.Tree == nil {
		return Fork{Extents: slices.Clone(f.Extents)}
	}
	root := f.Tree.Root()
	k := Fork{Level: root.Level}
	for i, child := range root.Below[:root.Live] {
		k.Keys, k.Below = append(k.Keys, root.Low[i].Offset), append(k.Below, FSBlock(child.At))
	}
	return k
}

// begin begins a transaction that may change a file's extents, and with them
// the form of its fork: what that held shows behind what it holds then.
func (m *maker) begin(f *File) {
	m.was = Fork{}
	if f.Tree == nil || f.Tree.Full() {
		m.was = f.Fork()
	}
}

// end ends it.
func (m *maker) end(f *File) bool {
	if f.Tree != nil && f.Tree.Root().Level > m.was.Level && (m.was.Level > 0 || m.was.Extents != nil) {
		f.Before = append(f.Before, m.was)
	}
	return m.space.commit()
}
