package populate

import (
	"mkfs/internal/geometry"
	"mkfs/internal/tree"
)

// space is how many blocks transactions reserve, as those of mkfs.xfs (MKFS_BLOCKRES, getres).
type space struct {
	g     *geometry.Geometry
	base  geometry.Blocks // of a creation
	enter geometry.Blocks // for a name in a directory
}

func newSpace(g *geometry.Geometry) space {
	s := geometry.NewSpace(g)
	return space{g: g, base: s.Made(), enter: s.Enter()}
}

// create is for the inode of an entry: as much of what is usual as is free.
func (s *space) create(e *tree.Entry, free geometry.Blocks) geometry.Blocks {
	return min(s.base+s.own(e), free)
}

// own is what the entry takes besides what all take.
func (s *space) own(e *tree.Entry) geometry.Blocks {
	switch {
	case e.Reserve:
		return geometry.Blocks((e.Size + int64(s.g.BlockSize) - 1) >> s.g.BlockLog)
	case e.Mode&tree.TypeMask == tree.TypeSymlink:
		return geometry.Blocks((int64(len(e.Target)) + int64(s.g.BlockSize) - 1) >> s.g.BlockLog)
	}
	return 0
}

// link is for a further name.
func (s *space) link(free geometry.Blocks) geometry.Blocks { return min(s.base, free) }
