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
