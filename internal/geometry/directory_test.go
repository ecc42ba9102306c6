package geometry

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHashName(t *testing.T) {
	for name, want := range map[string]uint32{".": 0x2e, "..": 0x172e, "rtgroups": 0x2d18ab4c, "0.rmap": 0xee5b7172} {
		if got := HashName(name); got != want {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
}

// grouped plans a filesystem with many realtime groups.
func grouped(t fataler, groups int64, ask func(*Spec)) *Geometry {
	t.Helper()
	spec := Spec{RT: RealtimeSpec{Device: true, GroupCount: Given(groups)}}
	spec.Features.Metadir = Given(true)
	ask(&spec)
	dev := Device{Size: 64 * gib, LogicalSector: 512, PhysicalSector: 512}
	dev.RT.Size = Bytes(groups) * 32 * mib
	g, _, err := Plan(spec, dev)
	if err != nil {
		t.Fatalf("%d groups: %v", groups, err)
	}
	return g
}

// Each name of a directory is found by its hash, whatever the form of the
// index, and every AG's blocks have one use.
func TestManyGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Int64Range(1, 1200).Draw(t, "groups")
		g := grouped(t, groups, func(s *Spec) {
			s.BlockSize = Given(int64(rapid.SampledFrom([]int{1024, 4096, 65536}).Draw(t, "block")))
			s.Features.Rmapbt = Given(rapid.Bool().Draw(t, "rmapbt"))
			s.Features.Finobt = Given(rapid.Bool().Draw(t, "finobt"))
			s.Features.Parent = Given(rapid.Bool().Draw(t, "parent"))
			s.Data.AGCount = Given(rapid.Int64Range(4, 64).Draw(t, "AGs"))
		})
		for agno := range g.Contents.AGs {
			checkAG(t, g, agno)
		}
		for _, f := range g.Contents.Files {
			checkExtents(t, f)
		}
		checkIndex(t, g, g.Contents.Files[2])
	})
}

// checkExtents checks that a file's extents are in order and, if it has a
// btree, that they are what that holds.
func checkExtents(t fataler, f *File) {
	t.Helper()
	for i, e := range f.Extents[min(1, len(f.Extents)):] {
		if before := f.Extents[i]; before.Offset+before.Blocks > e.Offset || before.extendsTo(e) {
			t.Fatalf("%s: extents %+v and %+v", f.Place(), before, e)
		}
	}
	if f.Tree != nil {
		if got := slices.Collect(f.Tree.Records); !slices.Equal(got, f.Extents) {
			t.Fatalf("%s: the btree has %+v, the file %+v", f.Place(), got, f.Extents)
		}
	}
}

// checkIndex walks a directory's index as a reader does.
func checkIndex(t fataler, g *Geometry, f *File) {
	t.Helper()
	d := f.Dir
	if d.Form == DirInInode || d.Form == DirOneBlock {
		if len(d.Index) != 0 {
			t.Fatalf("form %d has an index", d.Form)
		}
		return
	}
	m := &maker{p: &plan{g: g}}
	names := map[DirIndex]string{}
	ends := make([]Bytes, len(d.Free))
	for i := range ends {
		ends[i] = dirHeader
	}
	ends[0] += 2 * dirSelf
	for _, e := range d.Entries {
		x := DirIndex{HashName(e.File.Name), uint32(e.At / dirPlaceUnit)}
		if names[x] != "" {
			t.Fatalf("%s and %s are at %#x", names[x], e.File.Name, e.At)
		}
		names[x] = e.File.Name
		block := e.At / g.DirBlockSize
		if e.At%g.DirBlockSize != ends[block] {
			t.Fatalf("%s is at %#x, its block is used up to %#x", e.File.Name, e.At, ends[block])
		}
		ends[block] += dirEntrySize(e.File.Name)
	}
	for i, end := range ends {
		if d.Free[i] != g.DirBlockSize-end {
			t.Fatalf("block %d: %d bytes are free, says %d", i, g.DirBlockSize-end, d.Free[i])
		}
	}
	// From the left all leaves are in order, and each knows its neighbours.
	b := d.Index[0]
	for b.Level > 0 {
		b = m.indexBlock(d, Blocks(b.Slots[0].At))
	}
	count, last, back := 0, uint32(0), Blocks(0)
	for ; b != nil; b = m.indexBlock(d, b.Forward) {
		if b.Back != back || b.Level != 0 {
			t.Fatalf("leaf %d: level %d, its left neighbour is %d, says %d", b.Offset, b.Level, back, b.Back)
		}
		for _, x := range b.Slots[:b.Live] {
			if x.Hash < last {
				t.Fatalf("hash %#x after %#x", x.Hash, last)
			}
			last = x.Hash
			count++
		}
		if back = b.Offset; len(d.Index) == 1 {
			break
		}
	}
	if count != len(d.Entries)+2 {
		t.Fatalf("%d names are indexed, there are %d", count, len(d.Entries)+2)
	}
	for x, name := range names {
		path := m.descend(d, x.Hash)
		for found := false; !found; {
			leaf := path[len(path)-1]
			found = slices.Contains(leaf.Slots[:leaf.Live], x)
			if !found && !m.forward(d, path) {
				t.Fatalf("%s is not in the index", name)
			}
		}
	}
}

// Names of one hash are found although they fill more than a leaf, and go to
// blocks that hold some of them.
func TestSameHash(t *testing.T) {
	g := grouped(t, 1, func(*Spec) {})
	m := newMaker(&plan{g: g})
	root := m.make(0, &File{Kind: MetadataRoot, Size: shortHeader + 4})
	dir := m.make(0, &File{Kind: GroupDirectory, Parent: root, Name: "d"})
	dir.Size = dir.shortSize()
	for i := range 2000 {
		// Adding 1 to a letter and flipping bit 7 of the next changes nothing.
		name := fmt.Sprintf("%04d", i)
		if i >= 700 && i < 1500 {
			name = sameHash(i - 700)
		}
		if m.make(0, &File{Parent: dir, Name: name}) == nil {
			t.Fatalf("no room for %s", name)
		}
	}
	if HashName(sameHash(0)) != HashName(sameHash(799)) || dir.Dir.Form != DirNode {
		t.Fatalf("form %d; %#x and %#x differ", dir.Dir.Form, HashName(sameHash(0)), HashName(sameHash(799)))
	}
	checkIndex(t, g, dir)
	for agno := range m.space.ags {
		g.Contents.AGs[agno] = m.space.ags[agno]
		checkAG(t, g, agno)
	}
}

// sameHash makes names of one hash: the low bit of a letter and the high bit of
// the next one are one bit of the hash.
func sameHash(i int) string {
	b := []byte("aaaaaaaaaaaaaaaaaaaaaa")
	for bit := range 11 {
		if i>>bit&1 != 0 {
			b[2*bit] ^= 1
			b[2*bit+1] ^= 0x80
		}
	}
	return string(b)
}

// More groups than the data section has inodes or blocks for are refused, as
// are those whose btrees could not grow.
func TestTooManyGroups(t *testing.T) {
	for _, c := range []struct {
		size    Bytes
		percent int64
		want    string
	}{
		{130 * mib, 25, ""},
		{200 * mib, 5, "-i maxpct: the files of 8192 realtime groups take 32771 inodes; 5% of the data section hold 20480"},
		{120 * mib, 25, "the btrees of the realtime groups may come to take 7680 blocks, and the data section has 6443 for them; make it larger, or fewer groups"},
		{90 * mib, 25, "the data section has no room for its metadata files"},
		{90 * mib, 0, "the data section has no room for its metadata files"},
	} {
		spec := Spec{SmallAllowed: true, RT: RealtimeSpec{Device: true, GroupCount: Given[int64](8192)}}
		spec.Features.Metadir, spec.Inode.MaxPercent = Given(true), Given(c.percent)
		dev := Device{Size: c.size, LogicalSector: 512, PhysicalSector: 512}
		dev.RT.Size = 128 * gib
		g, _, err := Plan(spec, dev)
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && got != c.want {
			t.Errorf("%d bytes, %d%%: %s\nwant %s", c.size, c.percent, got, c.want)
		}
		if err == nil {
			checkFullAGs(t, g)
		}
	}
}

// checkFullAGs checks a filesystem whose files fill AGs: where no whole chunk of
// inodes had a place, a part of one did.
func checkFullAGs(t *testing.T, g *Geometry) {
	t.Helper()
	parts := 0
	for agno, a := range g.Contents.AGs {
		checkAG(t, g, agno)
		inodes := Blocks(0)
		for _, e := range a.Chunks {
			inodes += e.Blocks << g.InodeBlockLog()
			if e.Blocks < g.chunkBlocks() {
				parts++
			}
		}
		if count, _ := a.InodeCounts(); Blocks(count) != inodes {
			t.Errorf("AG %d: chunks have %d inodes, records %d", agno, inodes, count)
		}
	}
	if parts == 0 {
		t.Error("there is no part of a chunk")
	}
	used := map[Inode]bool{}
	for _, f := range g.Contents.Files {
		if used[f.Inode] {
			t.Errorf("%s: inode %d is in use", f.Place(), f.Inode)
		}
		used[f.Inode] = true
	}
}

// Parts of a chunk make one record, whichever is first.
func TestPartsOfChunk(t *testing.T) {
	g := grouped(t, 1, func(*Spec) {})
	for _, order := range [][]AGBlock{{0, 4}, {4, 0}} {
		s := newSpace(g)
		a := g.newAG(1)
		for i, at := range order {
			if !s.enterChunk(a, Extent{800 + at, 4}) {
				t.Fatal("not entered")
			}
			want := InodeRecord{Start: 6400, Free: 1<<64 - 1}
			if i == 0 {
				want.Holes = map[AGBlock]uint16{0: 0xff00, 4: 0x00ff}[at]
			}
			records := slices.Collect(a.Inodes.Records)
			if len(records) != 1 || records[0] != want || a.FreeInodes.Len() != 1 || a.NewInode != 6400 {
				t.Fatalf("%v: %+v, want %+v", order, records, want)
			}
			if got, want := a.takeInode(), uint32(6400+8*at); i == 0 && got != want {
				t.Errorf("the first inode of the part at %d is %d, want %d", at, got, want)
			}
			if i == 0 { // give it back
				a.Inodes.Update(a.Inodes.Find(want), want)
				a.FreeInodes.Update(a.FreeInodes.Find(want), want)
			}
		}
	}
}
