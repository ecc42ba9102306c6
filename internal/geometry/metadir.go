package geometry

import "fmt"

// inodeCore is the length in bytes of an inode before its forks.
func (g *Geometry) inodeCore() Bytes {
	if g.Features.CRC {
		return 176
	}
	return 100
}

const (
	// ParentForkOffset is where the attribute fork of a new inode begins that
	// is to have a parent pointer, in bytes.
	ParentForkOffset = 192
)

// hasParentPointer tells whether a file has an attribute that names its directory.
func (m *maker) hasParentPointer(f *File) bool { return f.Parent != nil && m.p.g.Features.Parent }

// groupFiles are the files of each realtime group, in the order in which they
// are made.
var groupFiles = []struct {
	kind   FileKind
	suffix string
	there  func(*Geometry) bool
	size   func(*Geometry) Blocks
}{
	{RealtimeBitmap, "bitmap",
		func(g *Geometry) bool { return !g.Features.Zoned },
		func(g *Geometry) Blocks { return g.RT.BitmapBlocks }},
	{RealtimeSummary, "summary",
		func(g *Geometry) bool { return !g.Features.Zoned },
		func(g *Geometry) Blocks { return g.RT.SummaryBlocks }},
	{RealtimeRmap, "rmap",
		func(g *Geometry) bool { return g.Features.Rmapbt }, nil},
	{RealtimeRefcount, "refcount",
		func(g *Geometry) bool { return g.Features.Reflink }, nil},
}

// metadir makes the metadata directory and the files in it. They are kept
// together in the log's AG.
func (m *maker) metadir() bool {
	g := m.p.g
	root := m.make(0, &File{Kind: MetadataRoot, Size: shortHeader + 4})
	if root == nil {
		return false
	}
	home := AGNumber(0)
	if !g.Log.External {
		home = g.Log.AG
	}
	groups := m.make(home, &File{Kind: GroupDirectory, Parent: root, Name: "rtgroups"})
	if groups == nil {
		return false
	}
	groups.Size = groups.shortSize()
	if !m.inodesSuffice() {
		return false
	}
	for n := range g.RT.GroupCount {
		if !m.group(home, groups, n) {
			return false
		}
	}
	return true
}

// inodesSuffice refuses more groups than there may be inodes for their files,
// before it makes them all to find that out.
func (m *maker) inodesSuffice() bool {
	g := m.p.g
	perGroup := 0
	for _, row := range groupFiles {
		if row.there(g) {
			perGroup++
		}
	}
	want := uint64(len(m.c.Files)) + uint64(perGroup)*uint64(g.RT.GroupCount)
	most, option := g.maxInodes(), "-i maxpct"
	if most == 0 {
		most, option = uint64(g.Blocks)<<g.InodeBlockLog(), m.p.groupsOption()
	}
	if want > most {
		m.p.refuse(option, "the files of %d realtime groups take %d inodes; %d%% of the data section hold %d",
			g.RT.GroupCount, want, inodePercent(g), most)
		return false
	}
	return true
}

func inodePercent(g *Geometry) int {
	if g.MaxInodePercent == 0 {
		return 100
	}
	return g.MaxInodePercent
}

// group makes the files of a realtime group.
func (m *maker) group(home AGNumber, dir *File, n GroupNumber) bool {
	g := m.p.g
	var made []*File
	for _, row := range groupFiles {
		if !row.there(g) {
			continue
		}
		f := &File{Kind: row.kind, Group: n, Parent: dir, Name: fmt.Sprintf("%d.%s", n, row.suffix)}
		if row.size != nil {
			f.Size = g.Bytes(row.size(g))
		}
		if m.make(home, f) == nil {
			return false
		}
		if f.Kind == RealtimeRmap && n == 0 && g.HasRealtimeSuper() {
			f.Changes++ // the section's superblock is entered
		}
		made = append(made, f)
	}
	for _, f := range made {
		if !m.fill(f, blocksIn(f.Size, g.BlockLog)) {
			return false
		}
	}
	return true
}

// HasRealtimeSuper tells whether the realtime section begins with a superblock.
func (g *Geometry) HasRealtimeSuper() bool {
	return g.Features.Metadir && g.RT.Blocks > 0 && !g.Features.Zoned
}
