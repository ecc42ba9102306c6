package geometry

// Heights are the greatest heights that the btrees of an AG can reach: a
// taller tree is damaged. One that its filesystem does not have is 0.
type Heights struct {
	Alloc, Inode, Rmap, Refcount uint64
	// DataFork and AttrFork are those of the btrees of extents, their roots included: of as many
	// extents as can be counted, in blocks that are half full. (xfs_bmap_compute_maxlevels in libxfs.)
	DataFork, AttrFork uint64
}

// Heights computes the greatest heights from the sizes of blocks and AGs and
// from the features.
func (g *Geometry) Heights() Heights {
	t := newTrees(g)
	return Heights{t.allocLevels, t.inodeLevels, t.rmapLevels, t.refcountLevels, t.dataForkLevels, t.attrForkLevels}
}
