package geometry

// Space is how many blocks transactions of one geometry may take at most, as the
// kernel reserves them before it begins one. Allocations look whether an AG has
// room for all of it. (xfs_trans_space.h in libxfs.)
type Space struct {
	chunk, tree, enter, nodes uint64
	parent                    bool
	r                         *reserver
}

// NewSpace computes what they have in common.
func NewSpace(g *Geometry) *Space {
	r := newReserver(g)
	trees := uint64(1)
	if g.Features.Finobt {
		trees = 2
	}
	return &Space{
		chunk: uint64(g.chunkBlocks()), tree: trees * r.inodeLevels, enter: r.dirEnter(),
		nodes: attrTreeDepth * (1 + r.extentAdd(1, r.attrForkLevels)), parent: g.Features.Parent, r: r,
	}
}

// Inode is for an inode without a name.
func (s *Space) Inode() Blocks { return Blocks(s.chunk + s.tree) }

// Link is for a name of a length, with the pointer to its directory.
func (s *Space) Link(name int) Blocks {
	n := s.enter
	if s.parent {
		n += s.nodes + s.r.extentAdd(uint64(name), s.r.attrForkLevels)
	}
	return Blocks(n)
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
