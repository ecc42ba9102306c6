package geometry

// ParentForkOffset is where the attribute fork of a new inode begins that
// is to have a parent pointer, in bytes.
const ParentForkOffset = 192

// groupFiles is how many files each realtime group has.
func (g *Geometry) groupFiles() (n uint64) {
	f := &g.Features
	for _, there := range []bool{!f.Zoned, !f.Zoned, f.Rmapbt, f.Reflink} { // bitmap, summary, owners, shared blocks
		if there {
			n++
		}
	}
	return n
}

// checkGroupInodes refuses more groups than there may be inodes for their files,
// before they are all made to find that out.
func (p *plan) checkGroupInodes() {
	g := p.g
	if !g.Features.Metadir {
		return
	}
	const roots = 3 // the root directory, that of metadata, and the directory of groups
	want := roots + g.groupFiles()*uint64(g.RT.GroupCount)
	most, option := g.maxInodes(), "-i maxpct"
	if most == 0 {
		most, option = uint64(g.Blocks)<<g.InodeBlockLog(), p.groupsOption()
	}
	if want > most {
		percent := g.MaxInodePercent
		if percent == 0 {
			percent = 100
		}
		p.refuse(option, "the files of %d realtime groups take %d inodes; %d%% of the data section hold %d",
			g.RT.GroupCount, want, percent, most)
	}
}

// groupsOption is what settled the number of realtime groups.
func (p *plan) groupsOption() string {
	if p.spec.RT.GroupSize.Given {
		return "-r rgsize"
	}
	return "-r rgcount"
}

// HasRealtimeSuper tells whether the realtime section begins with a superblock.
func (g *Geometry) HasRealtimeSuper() bool {
	return g.Features.Metadir && g.RT.Blocks > 0 && !g.Features.Zoned
}

// FilesBound is at least as many blocks as the inodes, directories and metadata files of a
// new filesystem take, with what btrees grow by.
func (g *Geometry) FilesBound() Blocks {
	const inodes = 3
	n := uint64(inodes)
	data := g.RT.BitmapBlocks + g.RT.SummaryBlocks
	if g.Features.Metadir {
		n += g.groupFiles() * uint64(g.RT.GroupCount)
		data *= Blocks(g.RT.GroupCount)
	}
	// An entry of a directory: inode, name, type and place, and in the index its
	// hash and place. No block of either is less than half full.
	const entry = 32 + 8
	dir := 2 * (divUp(Blocks(n)*entry, Blocks(g.DirBlockSize)) + 2) * Blocks(g.DirBlockSize/g.BlockSize)
	chunks := divUp(Blocks(n), Blocks(g.ChunkInodes())) + 1
	t := newTrees(g)
	extents := chunks + data + dir
	trees := 2*t.inode.blocks(chunks) + t.rmap.blocks(extents) + t.bmap.blocks(dir)
	return chunks*g.chunkBlocks() + data + dir + trees
}
