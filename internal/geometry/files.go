package geometry

// planContents makes the files of the new filesystem, as far as numbers and
// places go. A checker computes the place of the root directory from the
// superblock alone; a filesystem where the two differ would lose its root, and
// is refused.
func (p *plan) planContents() {
	g := p.g
	m := &maker{p: p, space: newSpace(g), c: &Contents{}}
	start := AGBlock(0)
	if m.make(0, File{Kind: RootDirectory, Size: emptyDirSize, Changes: 2}) {
		g.Root = m.space.ags[0].Chunks[0]
		start = g.Root.Start
	}
	if want := g.expectedRoot(m.space.freeList); start != want {
		p.refuse("", "the root inode does not fit where checkers expect it, at block %d of AG 0; use larger AGs, a smaller stripe unit or another AG for the log", want)
		return
	}
	m.realtime()
	m.c.AGs = m.space.ags
	g.Contents = m.c
}

// emptyDirSize is the length of a directory without entries.
const emptyDirSize = 6

// maker makes files one after the other.
type maker struct {
	p     *plan
	space *space
	c     *Contents
}

// make allocates an inode in the first AG from one on that has room. It tells
// whether there was any.
func (m *maker) make(agno AGNumber, f File) bool {
	ino, ok := m.space.inode(agno)
	if ok && len(m.c.Files) == 0 && ino != m.p.g.InodeOf(0, uint32(ino)) {
		ok = false // the root directory belongs into AG 0
	}
	f.Inode = ino
	m.c.Files = append(m.c.Files, f)
	return ok
}

// realtime makes the bitmap and the summary of the realtime section, which
// exist even without one.
func (m *maker) realtime() {
	for _, kind := range []FileKind{RealtimeBitmap, RealtimeSummary} {
		m.make(0, File{Kind: kind, Changes: 2})
	}
}
