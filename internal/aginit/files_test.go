package aginit

import (
	"math/bits"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// withFiles are filesystems that have more than the three inodes of the others.
var withFiles = []struct {
	name string
	size geometry.Bytes
	rt   geometry.Bytes
	ask  func(*geometry.Spec)
}{
	{"realtime", 2 << 30, 1 << 30, func(*geometry.Spec) {}},
	{"realtime V4", 2 << 30, 1 << 30, func(s *geometry.Spec) { s.Features.CRC = off }},
	{"metadir", 2 << 30, 0, func(s *geometry.Spec) { s.Features.Metadir = on }},
	{"group", 2 << 30, 1 << 30, func(s *geometry.Spec) { s.Features.Metadir = on }},
	{"groups", 2 << 30, 1 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.RT.GroupCount = on, geometry.Given[int64](7)
	}},
	{"many groups", 2 << 30, 1 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.RT.GroupCount = on, geometry.Given[int64](60)
	}},
	{"external log", 2 << 30, 1 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.Log.External, s.RT.GroupCount = on, true, geometry.Given[int64](20)
	}},
	{"no parent pointers", 2 << 30, 1 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.Features.Parent, s.RT.GroupCount = on, off, geometry.Given[int64](12)
	}},
	{"64k", 4 << 30, 4 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.BlockSize, s.RT.GroupCount = on, geometry.Given[int64](65536), geometry.Given[int64](40)
	}},
	{"zoned", 16 << 30, 0, func(s *geometry.Spec) { s.RT.Zoned = on }},
	{"large inode numbers", 64 << 40, 4 << 30, func(s *geometry.Spec) { s.Features.Metadir = on }},
}

var on = geometry.Given(true)

func planFiles(t *testing.T, size, rt geometry.Bytes, ask func(*geometry.Spec)) *geometry.Geometry {
	t.Helper()
	spec := geometry.Spec{SmallAllowed: true}
	ask(&spec)
	dev := geometry.Device{Size: size, LogicalSector: 512, PhysicalSector: 512}
	dev.Log.Size, dev.Log.LogicalSector = 64<<20, 512
	spec.RT.Device, dev.RT.Size = rt > 0, rt
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// image is what a builder writes of inodes and files, by block.
type image struct {
	t      *testing.T
	g      *geometry.Geometry
	blocks map[geometry.FSBlock][]byte
}

func newImage(t *testing.T, b *Builder) *image {
	m := &image{t, b.g, map[geometry.FSBlock][]byte{}}
	put := func(at geometry.FSBlock, data []byte) {
		for ; len(data) > 0; at, data = at+1, data[b.g.BlockSize:] {
			if m.blocks[at] != nil {
				t.Errorf("block %#x is written twice", at)
			}
			m.blocks[at] = data[:b.g.BlockSize]
		}
	}
	for agno, a := range b.g.Contents.AGs {
		for _, e := range a.Chunks {
			put(b.g.FSBlock(agno, e.Start), b.InodeChunk(agno, e))
		}
	}
	for _, f := range b.g.Contents.Files {
		for _, e := range f.Blocks {
			data := make([]byte, b.g.Bytes(e.Blocks))
			b.FileBlocks(f, e, 0, data)
			put(e.Start, data)
		}
	}
	return m
}

// inode reads an inode with its data fork.
func (m *image) inode(ino uint64) (i ondisk.Inode, fork []byte) {
	m.t.Helper()
	agno, agino := m.g.InodeAddress(geometry.Inode(ino))
	block := m.blocks[m.g.FSBlock(agno, geometry.AGBlock(agino>>m.g.InodeBlockLog()))]
	if block == nil {
		m.t.Fatalf("inode %d is in no chunk", ino)
	}
	raw := block[int(agino)%m.g.InodesPerBlock()*int(m.g.InodeSize):][:m.g.InodeSize]
	i, ok := ondisk.DecodeInode(raw)
	if !ok || m.g.Features.CRC && (i.Number != ino || !ondisk.Sealed(raw, ondisk.InodeCRC)) || i.Mode == 0 {
		m.t.Fatalf("inode %d: %+v", ino, i)
	}
	return i, raw[ondisk.CoreSize(m.g.Features.CRC):]
}

// data reads a file's blocks; those of a directory's index are left out.
func (m *image) data(i ondisk.Inode, fork []byte) (list [][]byte) {
	n := uint64(i.Extents)
	if m.g.Features.Nrext64 {
		n = i.BigExtents
	}
	var count uint64
	for k := range n {
		e := ondisk.DecodeFileExtent(fork[k*ondisk.FileExtentSize:])
		for at := range geometry.FSBlock(e.Blocks) {
			count++
			if e.Offset < 1<<22 {
				list = append(list, m.blocks[geometry.FSBlock(e.Start)+at])
			}
		}
	}
	if count != i.Blocks {
		m.t.Errorf("inode %d has %d blocks and says %d", i.Number, count, i.Blocks)
	}
	return list
}

// A reader that begins at the superblock finds all files, and what they say.
func TestFiles(t *testing.T) {
	for _, c := range withFiles {
		t.Run(c.name, func(t *testing.T) {
			g := planFiles(t, c.size, c.rt, c.ask)
			b := New(g, testIdentity())
			m := newImage(t, b)
			sb, _ := ondisk.DecodeSuperblock(b.Primary())
			if got := sb.InodeCount - sb.FreeInodes; got != uint64(len(g.Contents.Files)) {
				t.Errorf("%d inodes in use, want %d", got, len(g.Contents.Files))
			}
			if !g.Features.Metadir {
				m.section(&sb)
				return
			}
			root, fork := m.inode(sb.MetadirInode)
			if root.Metadata != ondisk.MetaDirectory || root.Nlink != 3 || fork[0] != 1 {
				t.Errorf("the metadata root: %+v, %d entries", root, fork[0])
			}
			for _, f := range g.Contents.Files[1:] {
				m.file(b, f)
			}
		})
	}
}

// file checks what is common to metadata files, and a bitmap.
func (m *image) file(b *Builder, f *geometry.File) {
	t := m.t
	i, fork := m.inode(uint64(f.Inode))
	if i.Flags2&ondisk.Flag2Metadata == 0 || i.Metadata == 0 || i.Flags&ondisk.FlagImmutable == 0 {
		t.Errorf("%s: %+v", f.Place(), i)
	}
	if f.Parent != nil && m.g.Features.Parent {
		attrs, ok := ondisk.DecodeAttrs(fork[8*int(i.ForkOffset):])
		parent, _ := m.inode(uint64(f.Parent.Inode))
		if !ok || len(attrs) != 1 || attrs[0].Name != f.Name || attrs[0].Flags != ondisk.AttrParent ||
			attrs[0].Value != ondisk.PutParent(parent.Number, parent.Generation) {
			t.Errorf("%s: attributes %q", f.Name, attrs)
		}
	}
	blocks := m.data(i, fork)
	if want := (i.Size + uint64(m.g.BlockSize) - 1) / uint64(m.g.BlockSize); i.Format == ondisk.FormatExtents && uint64(len(blocks)) != want {
		t.Errorf("%s: %d blocks, and a size of %d", f.Place(), len(blocks), i.Size)
	}
	if f.Kind != geometry.RealtimeBitmap {
		return
	}
	var free uint64
	for _, block := range blocks {
		h, ok := ondisk.DecodeRTBlock(block)
		if !ok || h.Magic != ondisk.RTBitmapMagic || h.Owner != i.Number || !ondisk.Sealed(block, ondisk.RTBlockCRC) {
			t.Errorf("%s: %+v", f.Name, h)
		}
		free += ones(block[ondisk.RTBlockHeader:])
	}
	want := m.g.RT.ExtentsOf(f.Group)
	if f.Group == 0 {
		want--
	}
	if free != want {
		t.Errorf("%s: %d are free, want %d", f.Name, free, want)
	}
}

// section checks bitmap and summary of a section without groups.
func (m *image) section(sb *ondisk.Superblock) {
	i, fork := m.inode(sb.BitmapInode)
	var free uint64
	for _, block := range m.data(i, fork) {
		free += ones(block)
	}
	if free != sb.FreeExtents || free != sb.RealtimeExtents || i.Flags&ondisk.FlagNewBitmap == 0 {
		m.t.Errorf("%d of %d are free, the superblock says %d", free, sb.RealtimeExtents, sb.FreeExtents)
	}
	i, fork = m.inode(sb.SummaryInode)
	var runs uint64
	for _, block := range m.data(i, fork) {
		runs += ones(block)
	}
	if runs != 1 {
		m.t.Errorf("%d free runs", runs)
	}
}

func ones(b []byte) (n uint64) {
	for _, x := range b {
		n += uint64(bits.OnesCount8(x))
	}
	return n
}

// What indexes a directory names each entry by its hash, in order.
func TestDirectoryIndex(t *testing.T) {
	g := planFiles(t, 2<<30, 1<<30, func(s *geometry.Spec) {
		s.Features.Metadir, s.RT.GroupCount = on, geometry.Given[int64](60)
	})
	dir := g.Contents.Files[2]
	list := inBlocks(dir)
	places := map[uint32]string{}
	for _, e := range list {
		places[ondisk.DirAddress(e.At)] = e.Name
	}
	idx := index(list)
	if len(idx) != len(list) || len(places) != len(list) || dir.Dir.Form != geometry.DirLeaf {
		t.Fatalf("%d entries at %d places, %d in the index, form %d", len(list), len(places), len(idx), dir.Dir.Form)
	}
	for i, x := range idx {
		if ondisk.HashName(places[x.Address]) != x.Hash || i > 0 && idx[i-1].Hash > x.Hash {
			t.Errorf("index entry %d: %+v is of %q", i, x, places[x.Address])
		}
	}
}
