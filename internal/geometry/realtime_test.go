package geometry

import (
	"strings"
	"testing"
)

// The sizes of groups that mkfs.xfs 7.2.0 chooses.
func TestGroupSizes(t *testing.T) {
	size := func(n Bytes) Opt[Size] { return Given(Size{Count: int64(n), Limits: Limits{Max: 1<<63 - 1}}) }
	for _, c := range []struct {
		name        string
		size        Bytes
		rt          RealtimeSpec
		count       GroupNumber
		blocks      Blocks
		bitmap, sum Blocks
	}{
		{"all in one", 2 * gib, RealtimeSpec{}, 1, 1048576, 33, 1},
		{"a rest of a group", 10 * gib, RealtimeSpec{}, 2, 2097152, 65, 2},
		{"count", 2 * gib, RealtimeSpec{GroupCount: Given[int64](5)}, 5, 104858, 4, 1},
		{"size", 2 * gib, RealtimeSpec{GroupSize: size(300 * mib)}, 7, 76800, 3, 1},
		{"no power of two", 3 * gib, RealtimeSpec{ExtentSize: size(12 * kib), GroupSize: size(300 * mib)}, 11, 76800, 1, 1},
		{"as small as can be", 8 * kib, RealtimeSpec{GroupSize: size(8 * kib)}, 1, 2, 1, 1},
		{"threads", 100 * gib, RealtimeSpec{Concurrency: Given[int64](8)}, 8, 3276800, 102, 3},
	} {
		spec := Spec{RT: c.rt}
		spec.RT.Device = true
		spec.Features.Metadir = Given(true)
		dev := Device{Size: gib, LogicalSector: 512, PhysicalSector: 512}
		dev.RT.Size = c.size
		g, _, err := Plan(spec, dev)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r := &g.RT
		if r.GroupCount != c.count || r.GroupBlocks != c.blocks || r.BitmapBlocks != c.bitmap || r.SummaryBlocks != c.sum {
			t.Errorf("%s: %d groups of %d blocks, bitmap %d, summary %d; want %d of %d, %d, %d", c.name,
				r.GroupCount, r.GroupBlocks, r.BitmapBlocks, r.SummaryBlocks, c.count, c.blocks, c.bitmap, c.sum)
		}
		var units uint64
		for n := range r.GroupCount {
			units += r.ExtentsOf(n)
		}
		if units != r.Extents() {
			t.Errorf("%s: %d units in groups, %d in all", c.name, units, r.Extents())
		}
	}
}

func TestNearestPlace(t *testing.T) {
	for _, c := range []struct {
		name     string
		free     Extent
		target   AGBlock
		n, align Blocks
		at       AGBlock
		ok       bool
	}{
		{"behind the target", Extent{100, 10}, 50, 4, 1, 100, true},
		{"around the target", Extent{100, 10}, 103, 4, 1, 103, true},
		{"not enough behind it", Extent{100, 10}, 108, 4, 1, 106, true},
		{"before the target", Extent{100, 10}, 200, 4, 1, 106, true},
		{"aligned", Extent{101, 20}, 50, 8, 8, 104, true},
		{"aligned behind the end", Extent{101, 2}, 50, 1, 8, 104, false},
		{"aligned places on both sides", Extent{96, 64}, 109, 8, 8, 112, true},
		{"only the one before", Extent{96, 13}, 97, 8, 16, 96, true},
		{"aligned before the target", Extent{96, 20}, 200, 8, 8, 104, true},
	} {
		at, _, ok := placeNear(c.free, c.target, c.n, c.align)
		if ok != c.ok || ok && at != c.at {
			t.Errorf("%s: block %d (%v), want %d (%v)", c.name, at, ok, c.at, c.ok)
		}
	}
}

// A directory leaves its inode, then its block, when the next entry has no room.
func TestDirectoryForms(t *testing.T) {
	for _, c := range []struct {
		groups int64
		form   DirForm
		blocks Blocks
	}{
		{0, DirInInode, 0}, {13, DirInInode, 0}, {14, DirOneBlock, 1},
		{124, DirOneBlock, 1}, {125, DirLeaf, 2}, {164, DirLeaf, 2}, {169, DirLeaf, 3},
	} {
		spec := Spec{}
		dev := Device{Size: gib, LogicalSector: 512, PhysicalSector: 512}
		spec.Features.Metadir = Given(true)
		if c.groups > 0 {
			spec.RT = RealtimeSpec{Device: true, Zoned: Given(true), GroupCount: Given(c.groups)}
			dev.RT.Size = Bytes(c.groups) * 16 * mib
		}
		g, _, err := Plan(spec, dev)
		if err != nil {
			t.Errorf("%d groups: %v", c.groups, err)
			continue
		}
		dir := g.Contents.Files[2]
		if dir.Dir.Form != c.form || dir.DataBlocks() != c.blocks || len(dir.Dir.Entries) != int(c.groups) {
			t.Errorf("%d groups: form %d, %d blocks, %d entries; want form %d, %d blocks",
				c.groups, dir.Dir.Form, dir.DataBlocks(), len(dir.Dir.Entries), c.form, c.blocks)
		}
	}
}

// The reserve leaves something of the section.
func TestReserved(t *testing.T) {
	for reserved, ok := range map[Bytes]bool{3583 * mib: true, 3584 * mib: false, 100 * gib: false} {
		spec := Spec{RT: RealtimeSpec{Zoned: Given(true), Reserved: Given(Size{Count: int64(reserved), Limits: Limits{Max: 1 << 62}})}}
		_, _, err := Plan(spec, Device{Size: 4 * gib, LogicalSector: 512, PhysicalSector: 512})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "-r reserved: ") {
			t.Errorf("%d bytes: %v", reserved, err)
		}
	}
}

// Where a chunk of inodes is one block there is no part of one.
func TestFullWithLargeBlocks(t *testing.T) {
	spec := Spec{SmallAllowed: true, BlockSize: Given[int64](65536)}
	spec.RT.Device, spec.RT.GroupSize, spec.Features.Metadir = true, Given(Size{Count: int64(16 * mib), Limits: Limits{Max: 1 << 62}}), Given(true)
	for _, rt := range []Bytes{gib, 4 * gib, 64 * gib} {
		dev := Device{Size: 300 * mib, LogicalSector: 512, PhysicalSector: 512}
		dev.RT.Size = rt
		g, _, err := Plan(spec, dev)
		if (err == nil) != (rt < 64*gib) {
			t.Errorf("%d bytes: %v", rt, err)
		}
		if err == nil {
			for agno := range g.Contents.AGs {
				checkAG(t, g, agno)
			}
		}
	}
}
