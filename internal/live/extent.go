package live

import "mkfs/internal/geometry"

// HasExtent tells whether blocks are of the filesystem, within an AG and behind its
// header, or within the realtime section and one of its groups
// (xfs_verify_fsbext and xfs_verify_rtbext in libxfs).
func (fs *FS) HasExtent(realtime bool, start geometry.FSBlock, n geometry.Blocks) bool {
	g := fs.G
	if realtime {
		return fs.hasRealtime(geometry.Blocks(start), n)
	}
	if start>>g.AGBlockLog >= geometry.FSBlock(g.AGCount) {
		return false
	}
	agno, agbno := g.BlockAddress(start)
	length, first := g.AGLength(agno), geometry.Blocks(agbno)
	return first >= g.SectorBlocks() && first < length && n <= length-first
}

// hasRealtime: with groups an address is that of a group and, in the bits below, of a
// block in it.
func (fs *FS) hasRealtime(start, n geometry.Blocks) bool {
	r := &fs.G.RT
	length := r.Blocks
	if r.GroupCount > 0 {
		bits := r.GroupLog()
		group := start >> bits
		if group >= geometry.Blocks(r.GroupCount) || group*r.GroupBlocks >= r.Blocks {
			return false
		}
		start &= 1<<bits - 1
		length = min(r.GroupBlocks, r.Blocks-group*r.GroupBlocks)
	}
	return start < length && n <= length-start
}
