package geometry

import (
	"maps"
	"slices"
)

// planContents makes the files of the new filesystem, as far as numbers and
// places go. A checker computes the place of the root directory from the
// superblock alone; a filesystem where the two differ would lose its root, and
// is refused.
func (p *plan) planContents() {
	g := p.g
	m := newMaker(p)
	start := AGBlock(0)
	root := m.make(0, &File{Kind: RootDirectory, Size: shortHeader + 4})
	if root != nil && len(m.space.ags) == 1 && m.space.ags[0] != nil {
		g.Root = m.space.ags[0].Chunks[0]
		start = g.Root.Start
	}
	if want := g.expectedRoot(g.FreeListBlocks()); start != want {
		p.refuse("", "the root inode does not fit where checkers expect it, at block %d of AG 0; use larger AGs, a "+
			"smaller stripe unit or another AG for the log", want)
		return
	}
	ok := false
	if g.Features.Metadir {
		ok = m.metadir()
	} else {
		ok = m.realtime()
	}
	switch {
	case ok || p.stop:
	case m.space.stuck:
		p.refuse(p.groupsOption(), "the files of that many groups would make a btree merge blocks, or leave it none "+
			"to grow by, which is not foreseen")
	default:
		p.refuse("", "the data section has no room for its metadata files")
	}
	m.c.AGs = m.space.ags
	g.Contents = m.c
	if !p.stop {
		m.checkFree()
		m.checkReserves()
	}
}

// checkFree refuses what would have split the btrees of free space, since the
// allocator then looks for space in another way.
func (m *maker) checkFree() {
	t := newTrees(m.p.g)
	for _, agno := range slices.Sorted(maps.Keys(m.c.AGs)) {
		if most := len(m.c.AGs[agno].Free.ByStart.slots); most > int(t.alloc.maxLeaf) {
			m.p.refuse(m.p.groupsOption(),
				"while the files of that many groups are made, AG %d would have up to %d free pieces, more than the %d that "+
					"a btree block holds, which is not foreseen", agno, most, t.alloc.maxLeaf)
			return
		}
	}
}

// groupsOption is what settled the number of realtime groups.
func (p *plan) groupsOption() string {
	if p.spec.RT.GroupSize.Given {
		return "-r rgsize"
	}
	return "-r rgcount"
}

// maker makes files one after the other.
type maker struct {
	p        *plan
	space    *space
	reserver *reserver
	c        *Contents
	// Of the transaction: what it may take besides what it has, and the fork of
	// the file that it changes, if its form may change.
	total Blocks
	was   Fork
}

func newMaker(p *plan) *maker {
	return &maker{p: p, space: newSpace(p.g), reserver: newReserver(p.g), c: &Contents{}}
}

// created is how often an inode has changed once it is made.
const created = 2

// make allocates an inode in the first AG from one on that has room, and enters
// it into its directory. It returns nil if there was no room.
func (m *maker) make(agno AGNumber, f *File) *File {
	ino, ok := m.space.inode(agno)
	if !ok {
		return nil
	}
	f.Inode, f.Changes = ino, created
	if f.isDir() {
		f.Dir = &Directory{}
	}
	m.c.Files = append(m.c.Files, f)
	if f.Parent != nil {
		m.begin(f.Parent)
		if !m.enter(f) || !m.end(f.Parent) {
			return nil
		}
	}
	return f
}

// fill gives a regular file its blocks, each piece in a transaction.
func (m *maker) fill(f *File, n Blocks) bool {
	for offset := Blocks(0); offset < n; f.Changes++ {
		m.begin(f)
		e, ok := m.space.blocks(f, offset, n-offset, 0)
		if !ok || !m.enterExtent(f, e) || !m.end(f) {
			return false
		}
		offset += e.Blocks
	}
	return true
}

// realtime makes the bitmap and the summary of the realtime section, which
// exist even without one.
func (m *maker) realtime() bool {
	g := m.p.g
	r := &g.RT
	bitmap := m.make(0, &File{Kind: RealtimeBitmap, Size: g.Bytes(r.BitmapBlocks)})
	summary := m.make(0, &File{Kind: RealtimeSummary, Size: g.Bytes(r.SummaryBlocks)})
	if bitmap == nil || summary == nil || !m.fill(bitmap, r.BitmapBlocks) || !m.fill(summary, r.SummaryBlocks) {
		return false
	}
	if r.Blocks > 0 {
		bitmap.Changes++ // once everything is free
	}
	return true
}
