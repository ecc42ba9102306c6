package geometry

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// What a device advertises is used exactly where mkfs.xfs 7.2.0 uses it, and told once,
// with numbers and the option that sets it, where it is not and makes no sense or is lost.
// The figures are those that it printed for a device with these sizes.
func TestDeviceStripes(t *testing.T) {
	const huge = 1<<32 - 512 // as a driver that wants to say 0
	for _, c := range []struct {
		size            Bytes
		block           Bytes
		physical        int64
		min, opt        Bytes
		sunit, swidth   Blocks
		log             Blocks // stripe unit
		agcount, agsize Blocks
		says            string // "" for nothing
	}{
		// nothing to say, or a disk's sectors
		{8 * gib, 4096, 512, 0, 0, 0, 0, 0, 4, 524288, ""},
		{8 * gib, 4096, 512, 512, 0, 0, 0, 0, 4, 524288, ""},
		{8 * gib, 4096, 512, 512, 512, 0, 0, 0, 4, 524288, ""},
		{8 * gib, 4096, 4096, 4096, 0, 0, 0, 1, 4, 524288, ""},
		{8 * gib, 4096, 4096, 4096, 131072, 0, 0, 1, 4, 524288, ""},
		{8 * gib, 4096, 512, 512, 33553920, 0, 0, 0, 4, 524288, ""},
		// stripes
		{8 * gib, 4096, 512, 65536, 131072, 16, 32, 16, 8, 262128, ""},
		{8 * gib, 4096, 512, 65536, 65536, 16, 16, 16, 8, 262144, ""},
		{8 * gib, 1024, 512, 4096, 4096*300 + 100, 4, 1200, 4, 8, 1048576, ""}, // in whole basic blocks
		// the optimal size is no multiple of the minimum, smaller, or missing
		{8 * gib, 4096, 512, 65536, 98304, 0, 0, 0, 4, 524288, "65536.*98304.*the width must be a multiple of the unit"},
		{8 * gib, 4096, 512, 65536, 4096, 0, 0, 0, 4, 524288, "65536.*4096.*the width must not be smaller than the unit"},
		{8 * gib, 4096, 512, 65536, 0, 0, 0, 0, 4, 524288, "65536.*0 bytes.*the width must not be smaller than the unit"},
		{8 * gib, 4096, 512, 0, 65536, 0, 0, 0, 4, 524288, "a width needs a unit"},
		// of the physical sector
		{8 * gib, 4096, 4096, 4096, 33553920, 0, 0, 1, 4, 524288, "33553920.*multiples of a physical sector, 4096"},
		{8 * gib, 4096, 512, 512, 1000000, 0, 0, 0, 4, 524288, "1000000.*multiples of a physical sector, 512"},
		{8 * gib, 4096, 512, 100, 512, 0, 0, 0, 4, 524288, "100.*multiples of a physical sector, 512"},
		{8 * gib, 4096, 4096, 65536, 4096, 0, 0, 1, 4, 524288, "65536.*4096.*must not be smaller than the minimum"},
		// huge
		{8 * gib, 4096, 512, 65536, huge, 0, 0, 0, 4, 524288, "65536.*4294966784.*below 2 GiB"},
		{8 * gib, 4096, 512, 512, huge, 0, 0, 0, 4, 524288, "4294966784.*below 2 GiB"},
		// of the block size
		{8 * gib, 4096, 512, 66048, 66048, 0, 0, 0, 4, 524288, "66048 and a width of 66048 bytes, not both multiples of the block size, 4096"},
		{8 * gib, 65536, 512, 4096, 131072, 0, 0, 0, 4, 32768, "4096 and a width of 131072 bytes, not both multiples of the block size, 65536"},
		// small filesystems have none
		{700 * mib, 4096, 512, 65536, 131072, 0, 0, 0, 4, 44800, "smaller than 1 GiB.*65536.*131072.*-d su=65536,sw=2"},
	} {
		name := fmt.Sprintf("%d, blocks of %d, sectors of %d, %d and %d", c.size, c.block, c.physical, c.min, c.opt)
		dev := Device{Size: c.size, LogicalSector: 512, PhysicalSector: c.physical, IO: IOSizes{c.min, c.opt}}
		spec := Spec{BlockSize: Given(int64(c.block))}
		g, notes, err := Plan(spec, dev)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if g.StripeUnit != c.sunit || g.StripeWidth != c.swidth || g.Log.StripeUnit != c.log || Blocks(g.AGCount) != c.agcount || g.AGBlocks != c.agsize {
			t.Errorf("%s: sunit %d, swidth %d, log %d, %d AGs of %d", name, g.StripeUnit, g.StripeWidth, g.Log.StripeUnit, g.AGCount, g.AGBlocks)
		}
		saysOnce(t, name, notes, c.says, "-d su=")

		// Who says it by hand, or wants none, is told nothing of nonsense.
		for _, by := range []Spec{
			{BlockSize: spec.BlockSize, Data: DataSpec{NoAlign: Given(true)}},
			{BlockSize: spec.BlockSize, Data: DataSpec{StripeUnit512: Given[int64](256), StripeWidth512: Given[int64](512)}},
		} {
			_, notes, err := Plan(by, dev)
			if other := strings.Join(notes.Warnings, ""); err != nil || other != "" && !strings.Contains(other, "are not the device's") ||
				other != "" && c.says != "" && dev.IO.fault(c.physical) != "" {
				t.Errorf("%s, %+v: %v, %s", name, by.Data, err, other)
			}
		}
	}
}

// saysOnce wants one warning that matches a pattern and names an option, or none.
func saysOnce(t *testing.T, name string, notes Notes, pattern, option string) {
	t.Helper()
	text := strings.Join(notes.Warnings, "\n")
	switch {
	case pattern == "" && text != "":
		t.Errorf("%s: says %q", name, text)
	case pattern == "":
	case len(notes.Warnings) != 1 || !regexp.MustCompile(pattern).MatchString(text) || !strings.Contains(text, option):
		t.Errorf("%s: says %q, not %q", name, text, pattern)
	}
}

// The optimal size of a realtime device is the size of an extent where mkfs.xfs takes it
// for one.
func TestDeviceExtent(t *testing.T) {
	for _, c := range []struct {
		block, physical int64
		min, opt        Bytes
		want            Bytes
		says            string
	}{
		{4096, 512, 512, 0, 4096, ""}, {4096, 512, 512, 512, 4096, ""}, {4096, 4096, 4096, 1 << 20, 4096, ""},
		{4096, 512, 65536, 131072, 131072, ""}, {4096, 512, 0, 65536, 65536, ""}, {1024, 512, 4096, 6144, 6144, ""},
		{1024, 512, 4096, 4096*300 + 100, 4096 * 300, ""}, {4096, 512, 0, 4096, 4096, ""},
		{4096, 512, 4096, 6144, 4096, "6144.*multiples of the block size, 4096.*they have 4096 bytes"},
		{1024, 512, 4096, 2048, 4096, "2048.*must have 4096 to 1073741824"},
		{4096, 512, 65536, 1<<30 + 65536, 4096, "1073807360.*must have 4096 to 1073741824"},
		{65536, 512, 512, 33553920 + 100, 65536, "33554020.*multiples of a physical sector.*they have 65536 bytes"},
		{4096, 512, 65536, 0, 4096, "65536.*0 bytes"},
	} {
		name := fmt.Sprintf("%+v", c)
		spec := Spec{BlockSize: Given(c.block), RT: RealtimeSpec{Device: true}}
		spec.Features.Reflink, spec.Features.Rmapbt = Given(false), Given(false)
		dev := Device{Size: gib, LogicalSector: 512, PhysicalSector: 512}
		dev.RT.Size, dev.RT.LogicalSector, dev.RT.PhysicalSector, dev.RT.IO = 700*mib, 512, c.physical, IOSizes{c.min, c.opt}
		g, notes, err := Plan(spec, dev)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := g.Bytes(g.RT.Extent); got != c.want {
			t.Errorf("%s: extents of %d bytes", name, got)
		}
		saysOnce(t, name, notes, c.says, "-r extsize")
		spec.RT.ExtentSize = Given(Size{Count: 65536, Limits: Limits{Max: int64(gib)}})
		if _, notes, err = Plan(spec, dev); err != nil || len(notes.Warnings) > 0 {
			t.Errorf("%s, asked for: %v, %q", name, err, notes.Warnings)
		}
	}
}

// Physical sectors that cannot be used give way to logical ones, which is told.
func TestDeviceSectors(t *testing.T) {
	for _, c := range []struct {
		logical, physical int64
		misaligned        bool
		want              Bytes
		says              string
	}{
		{512, 4096, false, 4096, ""}, {4096, 4096, true, 4096, ""}, {512, 512, true, 512, ""},
		{512, 4096, true, 512, "the device is not aligned to its physical sectors of 4096 bytes.*of 512 bytes"},
		{512, 65536, false, 512, "physical sectors of 65536 bytes, more than the 32768.*of 512 bytes"},
	} {
		name := fmt.Sprintf("%+v", c)
		dev := Device{Size: gib, LogicalSector: c.logical, PhysicalSector: c.physical, Misaligned: c.misaligned}
		g, notes, err := Plan(Spec{}, dev)
		if err != nil || g.SectorSize != c.want {
			t.Errorf("%s: %v, sectors of %d", name, err, g.SectorSize)
		}
		saysOnce(t, name, notes, c.says, "-s size")
		if _, notes, err = Plan(Spec{SectorSize: Given[int64](4096)}, dev); err != nil || len(notes.Warnings) > 0 {
			t.Errorf("%s, asked for: %v, %q", name, err, notes.Warnings)
		}

		dev = Device{Size: gib, LogicalSector: 512, PhysicalSector: 512}
		dev.RT.Size, dev.RT.LogicalSector, dev.RT.PhysicalSector, dev.RT.Misaligned = gib, c.logical, c.physical, c.misaligned
		g, notes, err = Plan(Spec{RT: RealtimeSpec{Device: true}}, dev)
		if err != nil || g.SectorSize != c.want {
			t.Errorf("%s as realtime device: %v, sectors of %d", name, err, g.SectorSize)
		}
		saysOnce(t, name, notes, strings.Replace(c.says, "the device", "the realtime device", 1), "-s size")
	}
}
