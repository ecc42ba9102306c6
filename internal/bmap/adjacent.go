package bmap

import "mkfs/internal/geometry"

// gapUnits is how many times as long as the blocks that are wanted a gap in the file may be, if it is to be kept
// on the device as well.
const gapUnits = 4

// target is the place that blocks should have: by what is before or behind them in the file, if adjacent is true, else
// at home. (xfs_bmap_adjacent in libxfs.)
func (w *want) target(g *geometry.Geometry, home geometry.FSBlock) (_ geometry.FSBlock, adjacent bool) {
	if w.eof {
		return w.extend(g, home)
	}
	before, beforeGap, follows := w.follow(g)
	after, afterGap := w.precede(g)
	if follows && beforeGap <= afterGap {
		return before, true
	}
	return after, true
}

// extend is the target at the end of a file: behind the last extent, at the same distance if that is within the
// AG.
func (w *want) extend(g *geometry.Geometry, home geometry.FSBlock) (_ geometry.FSBlock, adjacent bool) {
	last := w.before.Start
	end := last + geometry.FSBlock(w.before.Blocks)
	if w.first || !within(g, end, last) {
		return home, false
	}
	if at := end + geometry.FSBlock(w.off-w.before.End()); within(g, at, last) {
		return at, true
	}
	return end, true
}

// follow is the target by the extent before, and how far from that it is.
func (w *want) follow(g *geometry.Geometry) (at geometry.FSBlock, gap uint64, ok bool) {
	start := w.before.Start
	at = start + geometry.FSBlock(w.before.Blocks)
	if w.first || !within(g, at, start) {
		return 0, 0, false
	}
	gap = w.off - w.before.End()
	if kept := at + geometry.FSBlock(gap); gap <= gapUnits*uint64(w.n) && within(g, kept, start) {
		return kept, gap, true
	}
	return at, 2 * gap, true
}

// precede is the target by the extent behind, and how far from that it is. A place that does not exist
// wraps around, and is in another AG.
func (w *want) precede(g *geometry.Geometry) (at geometry.FSBlock, gap uint64) {
	start := w.after.Start
	gap = w.after.Offset - w.off
	if kept := start - geometry.FSBlock(gap); gap <= gapUnits*uint64(w.n) && within(g, kept, start) {
		return kept, gap
	}
	if touching := start - geometry.FSBlock(w.n); within(g, touching, start) {
		return touching, 2*gap - uint64(w.n)
	}
	return start, 2 * gap
}

// within tells whether a block is in the AG of another.
func within(g *geometry.Geometry, at, other geometry.FSBlock) bool {
	agno, agbno := g.BlockAddress(at)
	ag, _ := g.BlockAddress(other)
	return agno == ag && agno < g.AGCount && geometry.Blocks(agbno) < g.AGBlocks
}
