package verify

import "mkfs/internal/rule"

// crossRule is a check of a field of one structure against others of its AG.
type crossRule struct {
	place place
	name  string
	trees []int // whose tallies must be known, so that these trees are one leaf each
	bad   func(c *checker) string
}

var crossRules = []crossRule{
	{placeAGF, "freeblks", []int{rootBno}, func(c *checker) string {
		return rule.Against(uint64(c.agf.FreeBlocks), c.tallies[rootBno].blocks, "the bnobt has")
	}},
	{placeAGF, "longest", []int{rootCnt}, func(c *checker) string {
		return rule.Against(uint64(c.agf.Longest), c.tallies[rootCnt].longest, "the cntbt has")
	}},
	{placeRoots + rootCnt, "extents", []int{rootBno, rootCnt}, func(c *checker) string {
		b, n := &c.tallies[rootBno], &c.tallies[rootCnt]
		return rule.Unless(b.blocks == n.blocks && b.mix == n.mix, "are not those of the bnobt")
	}},
	{placeAGF, "btreeblks", []int{rootBno, rootCnt}, func(c *checker) string {
		// It does not count roots.
		if !c.fs.Lazy || c.fs.Geometry.Features.Rmapbt && !c.tallies[rootRmap].known {
			return ""
		}
		return rule.Is(c.agf.BtreeBlocks, 0)
	}},
	{placeAGF, "number of rmapbt blocks", []int{rootRmap}, func(c *checker) string {
		return rule.Is(c.agf.RmapBlocks,
			1)
	}},
	{placeAGF, "number of refcountbt blocks", []int{rootRefcount},
		func(c *checker) string { return rule.Is(c.agf.RefcountBlocks, 1) }},
	{placeRoots + rootRmap, "number of used blocks", []int{rootBno, rootRmap}, func(c *checker) string {
		return rule.Against(c.tallies[rootRmap].blocks, uint64(c.length)-c.tallies[rootBno].blocks, "the bnobt leaves")
	}},
	{placeAGI, "count", []int{rootIno}, func(c *checker) string {
		return rule.Against(uint64(c.agi.Count), c.tallies[rootIno].inodes, "the inobt has")
	}},
	{placeAGI, "freecount", []int{rootIno}, func(c *checker) string {
		return rule.Against(uint64(c.agi.FreeCount), c.tallies[rootIno].free, "the inobt has")
	}},
	{placeRoots + rootFino, "number of free inodes", []int{rootFino}, func(c *checker) string {
		return rule.Against(c.tallies[rootFino].free, uint64(c.agi.FreeCount), "the AGI has")
	}},
	{placeAGI, "number of inobt blocks", []int{rootIno}, func(c *checker) string {
		if !c.fs.Geometry.Features.InobtCount {
			return ""
		}
		return rule.Is(c.agi.InodeBlocks, 1)
	}},
	{placeAGI, "number of finobt blocks", []int{rootFino}, func(c *checker) string {
		if !c.fs.Geometry.Features.InobtCount {
			return ""
		}
		return rule.Is(c.agi.FreeBlocks, 1)
	}},
}

// cross checks the structures of the AG against each other.
func (c *checker) cross() {
	for i := range crossRules {
		r := &crossRules[i]
		known := true
		for _, tree := range r.trees {
			known = known && c.tallies[tree].known
		}
		if !known {
			continue
		}
		if text := r.bad(c); text != "" {
			c.tell(r.place, r.name+" "+text)
		}
	}
}
