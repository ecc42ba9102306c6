package geometry

import "slices"

// planContents makes the files of the new filesystem, as far as numbers and
// places go. A checker computes the place of the root directory from the
// superblock alone; a filesystem where the two differ would lose its root, and
// is refused.
func (p *plan) planContents() {
	g := p.g
	m := &maker{p: p, space: newSpace(g), c: &Contents{}}
	start := AGBlock(0)
	root := m.make(0, &File{Kind: RootDirectory, Size: shortHeader + 4})
	if root != nil && len(m.space.ags) == 1 && m.space.ags[0] != nil {
		g.Root = m.space.ags[0].Chunks[0]
		start = g.Root.Start
	}
	if want := g.expectedRoot(m.space.freeList); start != want {
		p.refuse("", "the root inode does not fit where checkers expect it, at block %d of AG 0; use larger AGs, a smaller stripe unit or another AG for the log", want)
		return
	}
	ok := false
	if g.Features.Metadir {
		ok = m.metadir()
	} else {
		ok = m.realtime()
	}
	if !ok && !p.stop {
		p.refuse("", "the data section has no room for its metadata files")
	}
	m.c.AGs = m.space.ags
	g.Contents = m.c
	if !p.stop {
		m.checkRoots()
	}
}

// checkRoots refuses what would not fit btrees of a single block, for as long
// as no others are made.
func (m *maker) checkRoots() {
	g := m.p.g
	t := newTrees(g)
	for agno, a := range m.space.ags {
		uses := 0
		if g.Features.Rmapbt {
			uses = len(g.Uses(a))
		}
		if uses > int(t.rmap.maxLeaf) || a.Inodes.live > int(t.inode.maxLeaf) ||
			a.Free.ByStart.live > int(t.alloc.maxLeaf) {
			m.p.refuse("-r rgcount", "the files of that many groups would need btrees of several blocks in AG %d, which are not supported yet; use fewer groups, larger blocks or -m rmapbt=0", agno)
			return
		}
	}
}

// maker makes files one after the other.
type maker struct {
	p     *plan
	space *space
	c     *Contents
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
	m.c.Files = append(m.c.Files, f)
	if f.Parent != nil && !m.enter(f) {
		return nil
	}
	return f
}

// grow gives a file more blocks, in as few pieces as there can be. total is
// what all of the operation may take, 0 if it is only this.
func (m *maker) grow(f *File, offset, n, total Blocks) bool {
	for n > 0 {
		e, ok := m.space.blocks(f, offset, n, total)
		if !ok {
			return false
		}
		f.Blocks = slices.Insert(f.Blocks, f.extentAt(offset), e)
		offset, n = offset+e.Blocks, n-e.Blocks
	}
	if room := int(m.forkRoom(f)) / fileExtentSize; len(f.Blocks) > room {
		m.p.refuse("", "a metadata file would have %d extents, and an inode has room for %d", len(f.Blocks), room)
		return false
	}
	return true
}

// fileExtentSize is the length in bytes of an extent in an inode.
const fileExtentSize = 16

// fill gives a regular file its blocks; each piece changes the inode.
func (m *maker) fill(f *File, n Blocks) bool {
	if n == 0 {
		return true
	}
	ok := m.grow(f, 0, n, 0)
	f.Changes += uint64(len(f.Blocks))
	return ok
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
