package metafile_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/metafile"
	"mkfs/internal/ondisk"
)

var on, off = geometry.Given(true), geometry.Given(false)

// filesystems are those that differ in what files they have, and how these lie.
var filesystems = []struct {
	name string
	size geometry.Bytes
	rt   geometry.Bytes
	ask  func(*geometry.Spec)
}{
	{"no realtime section", 2 << 30, 0, func(*geometry.Spec) {}},
	{"realtime", 2 << 30, 1 << 30, func(*geometry.Spec) {}},
	{"realtime V4", 2 << 30, 1 << 30, func(s *geometry.Spec) { s.Features.CRC = off }},
	{"metadir", 2 << 30, 0, func(s *geometry.Spec) { s.Features.Metadir = on }},
	{"group", 2 << 30, 1 << 30, func(s *geometry.Spec) { s.Features.Metadir = on }},
	{"groups", 2 << 30, 1 << 30, groups(7)},
	{"many groups", 2 << 30, 1 << 30, groups(60)},
	{"a tree of names", 32 << 30, 64 << 30, groups(2000)},
	{"trees of 1k blocks", 32 << 30, 64 << 30, func(s *geometry.Spec) {
		groups(1024)(s)
		s.BlockSize, s.Features.Reflink = geometry.Given[int64](1024), off
	}},
	{"external log", 2 << 30, 1 << 30, func(s *geometry.Spec) {
		groups(20)(s)
		s.Log.External = true
	}},
	{"no parent pointers", 2 << 30, 1 << 30, func(s *geometry.Spec) {
		groups(12)(s)
		s.Features.Parent = off
	}},
	{"64k", 4 << 30, 4 << 30, func(s *geometry.Spec) {
		groups(40)(s)
		s.BlockSize = geometry.Given[int64](65536)
	}},
	{"zoned", 16 << 30, 0, func(s *geometry.Spec) { s.RT.Zoned = on }},
	{"large inode numbers", 64 << 40, 4 << 30, func(s *geometry.Spec) { s.Features.Metadir = on }},
}

func groups(n int64) func(*geometry.Spec) {
	return func(s *geometry.Spec) { s.Features.Metadir, s.RT.GroupCount = on, geometry.Given(n) }
}

func plan(t testing.TB, size, rt geometry.Bytes, ask func(*geometry.Spec)) *geometry.Geometry {
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

// files is a new filesystem with its files.
type files struct {
	t    *testing.T
	g    *geometry.Geometry
	fs   *live.FS
	dev  *livetest.Device
	data map[geometry.FSBlock][]byte // blocks of data
	made metafile.Made
}

func makeFiles(t *testing.T, g *geometry.Geometry) *files {
	t.Helper()
	f := &files{t: t, g: g, data: map[geometry.FSBlock][]byte{}}
	f.fs, f.dev = livetest.New(t, g)
	m := metafile.New(f.fs)
	m.Data = func(at geometry.FSBlock, n geometry.Blocks, _ string, fill func(geometry.Blocks, []byte)) error {
		for skip := range n { // the least that can be filled at a time
			b := make([]byte, g.BlockSize)
			fill(skip, b)
			f.data[at+geometry.FSBlock(skip)] = b
		}
		return nil
	}
	last := int64(0)
	m.Progress = func(done, total int64) {
		if last++; done != last || total != m.Inodes() {
			t.Errorf("told of %d of %d inodes, after %d", done, total, last-1)
		}
	}
	var err error
	if f.made, err = m.All(context.Background()); err != nil {
		t.Fatal(err)
	}
	if last != m.Inodes() {
		t.Errorf("told of %d of %d inodes", last, m.Inodes())
	}
	return f
}

func (f *files) read(ino geometry.Inode) *inode.Inode {
	f.t.Helper()
	t := f.fs.Begin(0)
	ip, err := inode.Read(t, ino)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := t.Commit(); err != nil {
		f.t.Fatal(err)
	}
	return ip
}

// blocks are those of a file, which is as long as they are.
func (f *files) blocks(ip *inode.Inode) (list [][]byte) {
	f.t.Helper()
	t := f.fs.Begin(0)
	n := geometry.Blocks(ip.Core.Size >> f.g.BlockLog)
	extents, err := bmap.Read(t, ip, bmap.Data, 0, n)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range extents {
		for i := range geometry.FSBlock(e.Blocks) {
			list = append(list, f.data[e.Start+i])
		}
	}
	if geometry.Blocks(len(list)) != n || ip.Core.Blocks < uint64(n) {
		f.t.Errorf("inode %d has %d blocks and says %d; its length is %d", ip.Ino, len(list), ip.Core.Blocks, n)
	}
	return list
}

// The superblock's counters are those of the AGs, and all files are there.
func TestFiles(t *testing.T) {
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			g := plan(t, c.size, c.rt, c.ask)
			f := makeFiles(t, g)
			f.counters()
			root := f.read(g.RootInode())
			if root.Core.Generation != 0 || root.Core.Mode != ondisk.ModeDirectory|0o755 || root.Core.Nlink != 2 {
				t.Errorf("root directory: %+v", root.Core)
			}
			if g.Features.Metadir {
				f.groups()
			} else {
				f.section()
			}
		})
	}
}

func (f *files) counters() {
	f.t.Helper()
	var n live.Counts
	for agno := range min(f.g.AGCount, 40) {
		inodes, free, err := f.fs.InodeCounts(agno)
		if err != nil {
			f.t.Fatal(err)
		}
		n.Inodes, n.FreeInodes = n.Inodes+uint64(inodes), n.FreeInodes+uint64(free)
	}
	if c := f.fs.Counts; c.Inodes != n.Inodes || c.FreeInodes != n.FreeInodes {
		f.t.Errorf("%d inodes, %d of them free; the AGs have %d and %d", c.Inodes, c.FreeInodes, n.Inodes, n.FreeInodes)
	}
	used := int64(f.fs.Counts.Inodes - f.fs.Counts.FreeInodes)
	want := int64(3)
	if f.g.Features.Metadir {
		want = metafile.New(f.fs).Inodes()
	}
	if used != want {
		f.t.Errorf("%d inodes in use, want %d", used, want)
	}
}

// section checks bitmap and summary of a section without groups.
func (f *files) section() {
	bitmap := f.read(f.made.Bitmap)
	if free := ones(f.blocks(bitmap), 0); free != f.g.RT.Extents() || bitmap.Core.Flags&ondisk.FlagNewBitmap == 0 {
		f.t.Errorf("%d units are free, of %d; flags %#x", free, f.g.RT.Extents(), bitmap.Core.Flags)
	}
	runs := uint64(0)
	if f.g.RT.Blocks > 0 {
		runs = 1
	}
	if n := ones(f.blocks(f.read(f.made.Summary)), 0); n != runs {
		f.t.Errorf("%d free runs, want %d", n, runs)
	}
}

// groups checks the files of groups, which follow the metadata root and the directory of groups.
func (f *files) groups() {
	t, g := f.t, f.g
	dir := f.read(g.MetadirInode())
	if dir.Core.Metadata != ondisk.MetaDirectory || dir.Core.Nlink != 3 || dir.Data.Local[0] != 1 {
		t.Errorf("metadata root: %+v", dir.Core)
	}
	seen := map[ondisk.MetaType]int{}
	for ip := range f.inodes() {
		i := &ip.Core
		if i.Flags2&ondisk.Flag2Metadata == 0 {
			continue
		}
		if i.Metadata == 0 || i.Flags&ondisk.FlagImmutable == 0 {
			t.Errorf("inode %d: %+v", ip.Ino, i)
		}
		seen[i.Metadata]++
		group := geometry.GroupNumber(i.ProjectID)
		switch i.Metadata {
		case ondisk.MetaRTBitmap:
			blocks := f.blocks(ip)
			for _, b := range blocks {
				if h, ok := ondisk.DecodeRTBlock(b); !ok || h.Magic != ondisk.RTBitmapMagic || h.Owner != uint64(ip.Ino) ||
					!ondisk.Sealed(b, ondisk.RTBlockCRC) {
					t.Errorf("inode %d: %+v", ip.Ino, h)
				}
			}
			want := g.RT.ExtentsOf(group)
			if group == 0 {
				want--
			}
			if free := ones(blocks, ondisk.RTBlockHeader); free != want {
				t.Errorf("group %d: %d units are free, want %d", group, free, want)
			}
		case ondisk.MetaRTSummary:
			f.blocks(ip)
		}
	}
	want := map[ondisk.MetaType]int{ondisk.MetaDirectory: 2}
	n := int(g.RT.GroupCount)
	for meta, there := range map[ondisk.MetaType]bool{
		ondisk.MetaRTBitmap: !g.Features.Zoned, ondisk.MetaRTSummary: !g.Features.Zoned,
		ondisk.MetaRTRmap: g.Features.Rmapbt, ondisk.MetaRTRefcount: g.Features.Reflink,
	} {
		if there && n > 0 {
			want[meta] = n
		}
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("files by type: %v, want %v", seen, want)
	}
}

// inodes are all that are in use, by the inobts.
func (f *files) inodes() func(yield func(*inode.Inode) bool) {
	return func(yield func(*inode.Inode) bool) {
		for agno := range f.g.AGCount {
			for _, agino := range f.used(agno) {
				if !yield(f.read(f.g.InodeOf(agno, agino))) {
					return
				}
			}
		}
	}
}

// used lists the inodes in use of an AG.
func (f *files) used(agno geometry.AGNumber) (list []uint32) {
	if n, _, err := f.fs.InodeCounts(agno); err != nil || n == 0 {
		return nil
	}
	t := f.fs.Begin(0)
	agi, err := t.AGI(agno)
	if err != nil {
		f.t.Fatal(err)
	}
	tree := btree.Tree{Kind: btree.Inobt, AG: agno, Root: inobt{agi: agi}}
	for b, err := range tree.Records(t) {
		if err != nil {
			f.t.Fatal(err)
		}
		r := ondisk.DecodeInodeRecord(b, f.g.Features.Sparse)
		for i := range uint32(geometry.InodesPerChunk) {
			if r.Free>>i&1 == 0 {
				list = append(list, r.Start+i)
			}
		}
	}
	if err := t.Commit(); err != nil {
		f.t.Fatal(err)
	}
	return list
}

// inobt is the root of a tree that is read.
type inobt struct {
	changes
	agi live.AGI
}

type changes = btree.Root // of which there are none

func (r inobt) Root() (ptr uint64, levels int) {
	root, level := r.agi.Root()
	return uint64(root), int(level)
}

func ones(blocks [][]byte, skip int) (n uint64) {
	for _, b := range blocks {
		for _, x := range b[skip:] {
			n += uint64(bits.OnesCount8(x))
		}
	}
	return n
}

// The directory of groups leaves its inode, then its block, when the next entry has no room.
func TestDirectoryForms(t *testing.T) {
	for _, c := range []struct{ groups, blocks int64 }{
		{13, 0}, {14, 1}, {124, 1}, {125, 2}, {164, 2}, {169, 3},
	} {
		g := plan(t, 1<<30, geometry.Bytes(c.groups)*16<<20, func(s *geometry.Spec) {
			s.Features.Metadir = on
			s.RT.Zoned, s.RT.GroupCount = on, geometry.Given(c.groups)
		})
		f := makeFiles(t, g)
		for ip := range f.inodes() {
			if ip.Core.Metadata == ondisk.MetaDirectory && ip.Ino != g.MetadirInode() {
				if ip.Core.Blocks != uint64(c.blocks) {
					t.Errorf("%d groups: %d blocks, want %d", c.groups, ip.Core.Blocks, c.blocks)
				}
			}
		}
	}
}

// A data section that is too small for the files is told so, wherever it ends.
func TestNoRoom(t *testing.T) {
	g := plan(t, 300<<20, 64<<30, func(s *geometry.Spec) {
		s.BlockSize, s.Features.Metadir = geometry.Given[int64](65536), on
		s.RT.GroupSize = geometry.Given(geometry.Size{Count: 16 << 20, Limits: geometry.Limits{Max: 1 << 62}})
	})
	fs, _ := livetest.New(t, g)
	if _, err := metafile.New(fs).All(context.Background()); !errors.Is(err, metafile.ErrNoRoom) {
		t.Error(err)
	}
	g = plan(t, 1<<30, 0, func(s *geometry.Spec) {
		s.Data.StripeUnit512, s.Data.StripeWidth512 = geometry.Given[int64](500<<11), geometry.Given[int64](500<<11)
	})
	fs, _ = livetest.New(t, g)
	if err := metafile.New(fs).Root(); !errors.Is(err, metafile.ErrRoot) {
		t.Error(err)
	}
}
