package aginit

import (
	"encoding/binary"
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
	{"a tree of names", 32 << 30, 64 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.RT.GroupCount = on, geometry.Given[int64](2000)
	}},
	{"trees of 1k blocks", 32 << 30, 64 << 30, func(s *geometry.Spec) {
		s.Features.Metadir, s.RT.GroupCount, s.BlockSize = on, geometry.Given[int64](1024), geometry.Given[int64](1024)
		s.Features.Reflink = off
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
	trees  int // blocks of the extent btree that was read last
}

func newImage(t *testing.T, b *Builder) *image {
	m := &image{t: t, g: b.g, blocks: map[geometry.FSBlock][]byte{}}
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
			chunk := make([]byte, b.g.Bytes(e.Blocks))
			b.InodeChunk(agno, e, chunk)
			put(b.g.FSBlock(agno, e.Start), chunk)
		}
		for blk := range b.GrownBlocks(agno) {
			data := make([]byte, b.g.BlockSize)
			blk.Put(data)
			put(b.g.FSBlock(agno, blk.At), data)
		}
	}
	for _, f := range b.g.Contents.Files {
		for blk := range b.FileTree(f) {
			data := make([]byte, b.g.BlockSize)
			blk.Put(data)
			put(blk.At, data)
		}
		for _, e := range f.Extents {
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

// extents reads a file's extents, from its inode or from their btree.
func (m *image) extents(i ondisk.Inode, fork []byte) (list []ondisk.FileExtent) {
	n := uint64(i.Extents)
	if m.g.Features.Nrext64 {
		n = i.BigExtents
	}
	if i.Format != ondisk.FormatBtree {
		for k := range n {
			list = append(list, ondisk.DecodeFileExtent(fork[k*ondisk.FileExtentSize:]))
		}
		return list
	}
	if i.ForkOffset > 0 {
		fork = fork[:8*int(i.ForkOffset)]
	}
	level, blocks, ok := ondisk.BmbtRoot.Children(fork)
	for ; ok && level > 0; level-- {
		var next []uint64
		for k, at := range blocks {
			data := m.blocks[geometry.FSBlock(at)]
			h, ok := ondisk.DecodeLongBtreeBlock(data)
			if !ok || int(h.Level) != level-1 || h.Owner != i.Number || !ondisk.Sealed(data, ondisk.LongBtreeCRC) ||
				k > 0 && h.Left != blocks[k-1] || k+1 < len(blocks) && h.Right != blocks[k+1] {
				m.t.Fatalf("inode %d: btree block %d: %+v", i.Number, at, h)
			}
			if level > 1 {
				below, _ := ondisk.BmbtChildren(data)
				next = append(next, below...)
				continue
			}
			for r := range int(h.Records) {
				list = append(list, ondisk.DecodeFileExtent(data[72+r*ondisk.FileExtentSize:]))
			}
		}
		m.trees += len(blocks)
		blocks = next
	}
	if !ok || uint64(len(list)) != n {
		m.t.Errorf("inode %d: %d extents in the btree, says %d", i.Number, len(list), n)
	}
	return list
}

// data reads a file's blocks; those of a directory's index are left out.
func (m *image) data(i ondisk.Inode, fork []byte) (list [][]byte) {
	m.trees = 0
	var count uint64
	for _, e := range m.extents(i, fork) {
		for at := range geometry.FSBlock(e.Blocks) {
			count++
			if e.Offset<<m.g.BlockLog < 32<<30 {
				list = append(list, m.blocks[geometry.FSBlock(e.Start)+at])
			}
		}
	}
	if count += uint64(m.trees); count != i.Blocks {
		m.t.Errorf("inode %d has %d blocks and says %d", i.Number, count, i.Blocks)
	}
	return list
}

// index reads the index of a directory that has one in blocks of its own: what
// its leaves say, from left to right.
func (m *image) index(i ondisk.Inode, fork []byte) (list []ondisk.DirIndex) {
	blocks := map[uint32][]byte{}
	per := uint32(m.g.DirBlockSize / m.g.BlockSize)
	for _, e := range m.extents(i, fork) {
		for at := uint32(0); at < e.Blocks; at += per {
			var data []byte
			for k := range geometry.FSBlock(per) {
				data = append(data, m.blocks[geometry.FSBlock(e.Start)+geometry.FSBlock(at)+k]...)
			}
			blocks[uint32(e.Offset)+at] = data
		}
	}
	at := uint32(uint64(32<<30) >> m.g.BlockLog)
	for {
		h, ok := ondisk.DecodeDirIndexBlock(blocks[at])
		if !ok || h.Owner != i.Number || !ondisk.Sealed(blocks[at], ondisk.DirIndexCRC) {
			m.t.Fatalf("index block %#x: %+v", at, h)
		}
		entry := func(k uint16) ondisk.DirIndex {
			b := blocks[at][64+8*k:]
			return ondisk.DirIndex{Hash: binary.BigEndian.Uint32(b), Address: binary.BigEndian.Uint32(b[4:])}
		}
		if h.Magic == ondisk.DirNodeMagic {
			at = entry(0).Address
			continue
		}
		for k := range h.Count {
			list = append(list, entry(k))
		}
		if at = h.Forward; at == 0 {
			return list
		}
	}
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

// What indexes a directory names each entry by its hash, in order, whether it
// is a leaf or a tree.
func TestDirectoryIndex(t *testing.T) {
	for groups, form := range map[int64]geometry.DirForm{60: geometry.DirLeaf, 1500: geometry.DirNode} {
		g := planFiles(t, 64<<30, 64<<30, func(s *geometry.Spec) {
			s.Features.Metadir, s.RT.GroupCount = on, geometry.Given(groups)
		})
		b := New(g, testIdentity())
		dir := g.Contents.Files[2]
		list := inBlocks(dir)
		places := map[uint32]string{}
		for _, e := range list {
			places[uint32(e.At/8)] = e.Name
		}
		m := newImage(t, b)
		idx := m.index(m.inode(uint64(dir.Inode)))
		if len(idx) != len(list) || len(places) != len(list) || dir.Dir.Form != form {
			t.Fatalf("%d entries at %d places, %d in the index, form %d", len(list), len(places), len(idx), dir.Dir.Form)
		}
		for i, x := range idx {
			if geometry.HashName(places[x.Address]) != x.Hash || i > 0 && idx[i-1].Hash > x.Hash {
				t.Errorf("index entry %d: %+v is of %q", i, x, places[x.Address])
			}
		}
	}
}

// From the roots that AGF and AGI name, pointers lead to all blocks of the
// btrees, and their records are all owners and all inodes.
func TestGrownTrees(t *testing.T) {
	g := planFiles(t, 64<<30, 64<<30, func(s *geometry.Spec) {
		s.Features.Metadir, s.RT.GroupCount, s.BlockSize = on, geometry.Given[int64](4096), geometry.Given[int64](1024)
		s.Features.Reflink = off
	})
	b := New(g, testIdentity())
	m := newImage(t, b)
	agno := g.Log.AG
	frame := Frame{Data: make([]byte, b.HeaderSize())}
	b.Build(agno, &frame)
	for at := range geometry.AGBlock(g.HeaderBlocks()) {
		m.blocks[g.FSBlock(agno, at)] = frame.Data[int(at)<<g.BlockLog:][:g.BlockSize]
	}
	agf, _ := ondisk.DecodeAGF(frame.Data[g.SectorSize:])
	agi, _ := ondisk.DecodeAGI(frame.Data[2*g.SectorSize:])
	ag := g.AG(agno)
	for _, c := range []struct {
		name                string
		magic               ondisk.BtreeMagic
		root, level, blocks uint32
		key, records        int
	}{
		{"rmapbt", ondisk.RmapMagic, agf.RmapRoot, agf.RmapLevel, agf.RmapBlocks, 40, ag.Owners.Len()},
		{"inobt", ondisk.InoMagic, agi.Root, agi.Level, agi.InodeBlocks, 4, len(ag.Chunks)},
	} {
		blocks, records := uint32(0), 0
		list := []uint32{c.root}
		for level := c.level - 1; ; level-- {
			var below []uint32
			for k, at := range list {
				data := m.blocks[g.FSBlock(agno, geometry.AGBlock(at))]
				h, ok := ondisk.DecodeBtreeBlock(data, true)
				if !ok || h.Magic != c.magic || uint32(h.Level) != level || !ondisk.Sealed(data, ondisk.BtreeCRC) ||
					k > 0 && h.Left != list[k-1] || k+1 < len(list) && h.Right != list[k+1] {
					t.Fatalf("%s: block %d: %+v", c.name, at, h)
				}
				blocks++
				if level == 0 {
					records += int(h.Records)
					continue
				}
				_, pointers := ondisk.BtreeNode(data[ondisk.BtreeHeader:], c.key, 4)
				for i := range h.Records {
					below = append(below, binary.BigEndian.Uint32(pointers[4*i:]))
				}
			}
			if list = below; level == 0 {
				break
			}
		}
		if c.level < 2 || blocks != c.blocks || records != c.records {
			t.Errorf("%s: %d levels, %d blocks of %d, %d records of %d", c.name, c.level, blocks, c.blocks, records, c.records)
		}
	}
}
