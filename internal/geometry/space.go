package geometry

// Space is how many blocks transactions of one geometry may take at most, as the
// kernel reserves them before it begins one. Allocations look whether an AG has
// room for all of it. (xfs_trans_space.h in libxfs.)
type Space struct {
	chunk, tree, enter, remove, nodes, free uint64
	parent                                  bool
	r                                       *reserver
}

// NewSpace computes what they have in common.
func NewSpace(g *Geometry) *Space {
	r := newReserver(g)
	trees := uint64(1)
	if g.Features.Finobt {
		trees = 2
	}
	remove := (attrTreeDepth + 2) * r.extentAdd(r.dirBlocks, r.dataForkLevels)
	return &Space{
		chunk: uint64(g.chunkBlocks()), tree: trees * r.inodeLevels, free: (trees - 1) * r.inodeLevels,
		enter: r.dirEnter(), remove: remove,
		nodes: attrTreeDepth * (1 + r.extentAdd(1, r.attrForkLevels)), parent: g.Features.Parent, r: r,
	}
}

// Inode is for an inode without a name.
func (s *Space) Inode() Blocks { return Blocks(s.chunk + s.tree) }

// Link is for a name of a length, with the pointer to its directory.
func (s *Space) Link(name int) Blocks {
	return Blocks(s.enter + s.pointers(1, name))
}

// pointers is for changes of so many pointers to directories, with names of a length.
func (s *Space) pointers(n uint64, name int) uint64 {
	if !s.parent {
		return 0
	}
	return n * (s.nodes + s.r.extentAdd(uint64(name), s.r.attrForkLevels))
}

// Create is for an inode with a name.
func (s *Space) Create(name int) Blocks { return s.Inode() + s.Link(name) }

// Enter is for a name in a directory, without the pointer back. (XFS_DIRENTER_SPACE_RES)
func (s *Space) Enter() Blocks { return Blocks(s.enter) }

// Made is what mkfs.xfs has for an inode with a name, besides what the file itself takes.
// (MKFS_BLOCKRES)
func (s *Space) Made() Blocks {
	return Blocks(s.chunk + s.r.inodeLevels - 1 + attrTreeDepth + s.r.dataForkLevels - 1)
}

// Remove is for a name of a length that is removed.
func (s *Space) Remove(name int) Blocks { return Blocks(s.remove + s.pointers(1, name)) }

// Rename is for a name that becomes another, of a length, which a file had before.
func (s *Space) Rename(to int) Blocks { return Blocks(s.remove + s.enter + s.pointers(3, to)) }

// FreeInode is for an inode that is freed.
func (s *Space) FreeInode() Blocks { return Blocks(s.free) }
