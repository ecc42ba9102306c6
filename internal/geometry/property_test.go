package geometry

import (
	"flag"
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// maybe is an option that is mostly not given, mostly sensible where it is,
// and anything at all otherwise.
func maybe[T any](t *rapid.T, name string, sane, wild *rapid.Generator[T]) (o Opt[T]) {
	switch n := rapid.IntRange(0, 99).Draw(t, name+"?"); {
	case n < 90:
		return o
	case n < 99:
		return Given(sane.Draw(t, name))
	}
	return Given(wild.Draw(t, name))
}

func powers(from, to uint) *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 { return 1 << rapid.UintRange(from, to).Draw(t, "log2") })
}

func sizes(sane *rapid.Generator[int64]) *rapid.Generator[Size] {
	return rapid.Custom(func(t *rapid.T) Size {
		n := sane.Draw(t, "count")
		unit := Unit(rapid.SampledFrom([]Unit{UnitBytes, UnitBytes, UnitBytes, UnitSectors, UnitBlocks}).Draw(t, "unit"))
		if unit != UnitBytes {
			n >>= 12
		}
		return Size{Count: n, Unit: unit, Text: "text", Limits: Limits{Option: "-x y", Max: math.MaxInt64}}
	})
}

var (
	anyInt  = rapid.Int64()
	anySize = rapid.Custom(func(t *rapid.T) Size {
		return Size{
			Count: anyInt.Draw(t, "count"), Unit: Unit(rapid.ByteRange(0, 3).Draw(t, "unit")), Text: "text",
			Limits: Limits{"-x y", anyInt.Draw(t, "min"), anyInt.Draw(t, "max"), rapid.Bool().Draw(t, "power2")},
		}
	})
	anyBool = rapid.Bool()
	any32   = rapid.Uint32()
)

// drawSpec draws a Spec in which everything may be given. Numbers without a
// unit are within the limits that options checks before there is a Spec, and
// noalign does not go with stripes.
func drawSpec(t *rapid.T) Spec {
	number := func(name string, least, most int64, sane *rapid.Generator[int64]) Opt[int64] {
		return maybe(t, name, sane, rapid.Int64Range(least, most))
	}
	on := func(name string) Opt[bool] { return maybe(t, name, anyBool, anyBool) }
	size := func(name string, sane *rapid.Generator[int64]) Opt[Size] {
		return maybe(t, name, sizes(sane), anySize)
	}
	hint := func(name string) Opt[uint32] { return maybe(t, name, rapid.Uint32Range(0, 1<<12), any32) }
	var s Spec
	s.BlockSize = maybe(t, "block", powers(9, 16), powers(0, 62))
	s.SectorSize = maybe(t, "sector", powers(9, 12), powers(0, 62))
	s.Data = DataSpec{
		Size:    size("data size", rapid.Int64Range(int64(16*mib), int64(20*tib))),
		AGCount: number("agcount", 1, math.MaxUint32-1, rapid.Int64Range(1, 100)),
		AGSize: size("agsize", rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64Range(16<<8, 1<<14).Draw(t, "agsize") << 16
		})),
		Concurrency:    number("data concurrency", 0, math.MaxInt32, rapid.Int64Range(0, 200)),
		StripeUnit512:  number("sunit", 0, math.MaxUint32, powers(3, 12)),
		StripeWidth512: number("swidth", 0, math.MaxUint32, powers(3, 14)),
		StripeUnit:     size("su", powers(12, 26)),
		StripeWidth:    number("sw", 0, math.MaxUint32, rapid.Int64Range(1, 20)),
		NoAlign:        on("noalign"),
		Inherit: Inherit{
			ProjectID: hint("projid"), ExtentSize: hint("extsize"), CowExtent: hint("cowextsize"),
			DAX: on("dax"), Realtime: on("realtime"),
		},
	}
	if rapid.IntRange(0, 9).Draw(t, "striped") == 0 { // seldom together by chance
		s.Data.StripeUnit512, s.Data.StripeWidth512 = Opt[int64]{}, Opt[int64]{}
		s.Data.StripeUnit = Given(sizes(powers(12, 22)).Draw(t, "su"))
		s.Data.StripeWidth = Given(rapid.Int64Range(1, 20).Draw(t, "sw"))
	}
	if d := &s.Data; d.StripeUnit.Given || d.StripeWidth.Given || d.StripeUnit512.Given || d.StripeWidth512.Given {
		d.NoAlign = Opt[bool]{} // options excludes it
	}
	s.Log = LogSpec{
		External:      rapid.IntRange(0, 9).Draw(t, "external") == 0,
		Size:          size("log size", powers(21, 31)),
		AG:            number("log AG", 0, math.MaxUint32, rapid.Int64Range(0, 4)),
		StripeUnit512: number("log sunit", 1, 512, powers(3, 9)),
		StripeUnit:    size("log su", powers(9, 18)),
		SectorSize:    maybe(t, "log sector", powers(9, 12), powers(0, 62)),
		Concurrency:   number("log concurrency", 0, math.MaxInt32, rapid.Int64Range(0, 200)),
	}
	s.Inode = InodeSpec{
		Size:       maybe(t, "inode size", powers(8, 11), powers(0, 62)),
		PerBlock:   maybe(t, "perblock", powers(1, 8), powers(1, 8)),
		MaxPercent: number("maxpct", 0, 100, rapid.Int64Range(0, 100)),
	}
	s.DirBlockSize = size("dir", powers(12, 16))
	if d := &s.DirBlockSize; d.Given {
		d.Value.Limits.Power2, d.Value.Limits.Min = true, 4096 // what options says
	}
	s.Features = FeatureSpec{
		CRC: on("crc"), Finobt: on("finobt"), InobtCount: on("inobtcount"), Rmapbt: on("rmapbt"),
		Reflink: on("reflink"), Bigtime: on("bigtime"), Sparse: on("sparse"), Nrext64: on("nrext64"),
		Exchange: on("exchange"), Align: on("align"), Projid32: on("projid32"), LazyCount: on("lazycount"),
		Ftype: on("ftype"), Parent: on("parent"), CaseFold: on("casefold"),
		Attr: number("attr", 0, 2, rapid.Int64Range(0, 2)), LogVersion: number("log version", 1, 2, rapid.Int64Range(1, 2)),
		AutofsckSwitch: rapid.Bool().Draw(t, "autofsck switch"),
	}
	words := rapid.SampledFrom([]Autofsck{AutofsckUnset, AutofsckNone, AutofsckCheck, AutofsckOptimize, AutofsckRepair})
	s.Features.Autofsck = maybe(t, "autofsck", words, words)
	if rapid.IntRange(0, 4).Draw(t, "V4") == 0 { // with all that only V5 has not given
		s.Features = FeatureSpec{
			CRC: Given(false), Align: on("align"), Projid32: on("projid32"), LazyCount: on("lazycount"),
			Ftype: on("ftype"), CaseFold: on("casefold"),
			Attr: number("attr", 0, 2, rapid.Int64Range(0, 2)), LogVersion: number("log version", 1, 2, rapid.Int64Range(1, 2)),
		}
	}
	s.Label = rapid.StringN(0, 12, 12).Draw(t, "label")
	s.SmallAllowed = rapid.IntRange(0, 3).Draw(t, "small") > 0
	s.CPUs = rapid.IntRange(1, 256).Draw(t, "cpus")
	return s
}

func drawDevice(t *rapid.T) Device {
	bytes := rapid.Custom(func(t *rapid.T) Bytes { // every size class alike
		return Bytes(rapid.Int64Range(0, 1<<rapid.UintRange(24, 62).Draw(t, "log2")).Draw(t, "size"))
	})
	edge := rapid.SampledFrom([]Bytes{
		0, 1, 16*mib - 1, 16 * mib, 300 * mib, gib, 4*tib - 4096, 4 * tib, 16 * tib, 32 * tib, 50 * tib, math.MaxInt64,
	})
	logical := powers(9, 12)
	d := Device{
		Size:          rapid.OneOf(bytes, bytes, edge).Draw(t, "device"),
		LogicalSector: logical.Draw(t, "logical"),
		SolidState:    rapid.Bool().Draw(t, "ssd"),
		Grows:         rapid.Bool().Draw(t, "grows"),
	}
	d.PhysicalSector = d.LogicalSector << rapid.UintRange(0, 3).Draw(t, "physical")
	switch rapid.IntRange(0, 9).Draw(t, "device stripes") {
	case 0:
		d.IO.Min = Bytes(powers(9, 22).Draw(t, "unit"))
		d.IO.Opt = d.IO.Min * Bytes(rapid.IntRange(1, 20).Draw(t, "disks"))
	case 1:
		d.IO.Min = Bytes(rapid.Int64Min(0).Draw(t, "unit"))
		d.IO.Opt = Bytes(rapid.Int64Min(0).Draw(t, "width"))
	}
	d.Log.Size = rapid.OneOf(bytes, edge).Draw(t, "log device")
	d.Log.LogicalSector = logical.Draw(t, "log logical")
	d.Log.Grows = rapid.Bool().Draw(t, "log grows")
	return d
}

// Plan takes anything, and what comes out hangs together.
func TestPlanProperties(t *testing.T) {
	planned := 0
	if n := flag.Lookup("rapid.checks"); n.Value.String() == n.DefValue { // most plans are refused
		n.Value.Set("3000")
		defer n.Value.Set(n.DefValue)
	}
	rapid.Check(t, func(t *rapid.T) {
		spec, dev := drawSpec(t), drawDevice(t)
		if checkPlan(t, spec, dev) {
			planned++
		}
	})
	if !t.Failed() && planned == 0 {
		t.Error("nothing was ever planned")
	}
	t.Logf("%d plans succeeded", planned)
}

// fataler is the part of testing.T and rapid.T that checks need.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkPlan plans twice and checks the result. It tells whether there was one.
func checkPlan(t fataler, spec Spec, dev Device) bool {
	t.Helper()
	before := spec
	g, notes, err := Plan(spec, dev)
	again, notes2, err2 := Plan(spec, dev)
	if !reflect.DeepEqual(g, again) || !reflect.DeepEqual(notes, notes2) || fmt.Sprint(err) != fmt.Sprint(err2) {
		t.Fatalf("planning again gives something else:\n%+v %v\n%+v %v", g, err, again, err2)
	}
	if !reflect.DeepEqual(spec, before) {
		t.Fatalf("Plan changed the Spec")
	}
	if (g == nil) == (err == nil) {
		t.Fatalf("geometry %v and error %v", g, err)
	}
	if err != nil {
		if err.Error() == "" {
			t.Fatalf("an error without words")
		}
		return false
	}
	checkNumbers(t, g, spec, dev)
	checkLog(t, g, dev)
	return true
}

func checkNumbers(t fataler, g *Geometry, spec Spec, dev Device) {
	t.Helper()
	for _, p := range []struct {
		name        string
		size        Bytes
		log         uint
		least, most Bytes
	}{
		{"block", g.BlockSize, g.BlockLog, 512, 65536},
		{"sector", g.SectorSize, g.SectorLog, 512, g.BlockSize},
		{"log sector", g.Log.SectorSize, g.Log.SectorLog, 512, g.BlockSize},
		{"inode", g.InodeSize, g.InodeLog, 256, min(2048, g.BlockSize/2)},
		{"directory block", g.DirBlockSize, g.DirBlockLog, max(g.BlockSize, 4096), 65536},
	} {
		if p.size != 1<<p.log || p.size < p.least || p.size > p.most {
			t.Fatalf("%s size %d (log %d), should be a power of two from %d to %d", p.name, p.size, p.log, p.least, p.most)
		}
	}
	count := Blocks(g.AGCount)
	last := g.AGLength(g.AGCount - 1)
	low, high := Blocks(16*mib)>>g.BlockLog, Blocks(tib-1)>>g.BlockLog
	switch {
	case count == 0:
		t.Fatalf("no AGs")
	case (count-1)*g.AGBlocks+last != g.Blocks:
		t.Fatalf("%d AGs of %d blocks and one of %d do not make %d", count-1, g.AGBlocks, last, g.Blocks)
	case g.AGBlocks < low || g.AGBlocks > high || last < low || last > g.AGBlocks:
		t.Fatalf("AGs of %d blocks, the last of %d; should be %d to %d", g.AGBlocks, last, low, high)
	case g.Blocks > Blocks(math.MaxInt64>>g.BlockLog):
		t.Fatalf("%d blocks are more than 8 EiB", g.Blocks)
	case g.Blocks > Blocks(dev.Size)>>g.BlockLog && !(dev.Grows && spec.Data.Size.Given):
		t.Fatalf("%d blocks on a device of %d bytes", g.Blocks, dev.Size)
	case g.AGBlocks > 1<<g.AGBlockLog || g.AGBlocks <= 1<<(g.AGBlockLog-1):
		t.Fatalf("AGs of %d blocks have addresses of %d bits", g.AGBlocks, g.AGBlockLog)
	case g.StripeUnit == 0 && g.StripeWidth != 0 || g.StripeUnit != 0 && (g.StripeWidth == 0 || g.StripeWidth%g.StripeUnit != 0):
		t.Fatalf("stripe unit %d, width %d", g.StripeUnit, g.StripeWidth)
	case g.StripeUnit != 0 && count > 1 && g.AGBlocks%g.StripeUnit != 0:
		t.Fatalf("AGs of %d blocks do not begin at stripe units of %d", g.AGBlocks, g.StripeUnit)
	case g.Root.Blocks == 0 || int(g.Root.Blocks)*g.InodesPerBlock() != g.ChunkInodes():
		t.Fatalf("%d blocks of %d inodes are no chunk of %d", g.Root.Blocks, g.InodesPerBlock(), g.ChunkInodes())
	case g.InodeAlign > 1 && Blocks(g.Root.Start)%g.InodeAlign != 0:
		t.Fatalf("root chunk at block %d, alignment %d", g.Root.Start, g.InodeAlign)
	case g.RootInode()>>g.InodeBlockLog() != Inode(g.Root.Start):
		t.Fatalf("root inode %d in block %d", g.RootInode(), g.Root.Start)
	case !spec.SmallAllowed && (g.Bytes(g.Blocks) < 300*mib || g.AGCount < 2 || g.Bytes(g.Log.Blocks) < 64*mib):
		t.Fatalf("too small to be supported: %d blocks, %d AGs, log %d", g.Blocks, g.AGCount, g.Log.Blocks)
	}
	if end := g.Offset(g.AGCount-1, AGBlock(last-1)); end < 0 || end > Bytes(math.MaxInt64)-g.BlockSize+1 {
		t.Fatalf("the last block is at byte %d", end)
	}
}

func checkLog(t fataler, g *Geometry, dev Device) {
	t.Helper()
	l := &g.Log
	switch {
	case l.Blocks < l.MinBlocks || l.MinBlocks < 512:
		t.Fatalf("log of %d blocks, least %d", l.Blocks, l.MinBlocks)
	case l.Blocks > 1<<20 || g.Bytes(l.Blocks) > 2*gib-10*mib:
		t.Fatalf("log of %d blocks of %d bytes is too large", l.Blocks, g.BlockSize)
	case l.StripeUnit > 0 && l.Blocks%l.StripeUnit != 0:
		t.Fatalf("log of %d blocks, stripe unit %d", l.Blocks, l.StripeUnit)
	case g.Bytes(l.StripeUnit) > 256*kib:
		t.Fatalf("log stripe unit %d", l.StripeUnit)
	case l.StripeUnit > 0 && g.Features.LogVersion < 2:
		t.Fatalf("a log of version %d has a stripe unit", g.Features.LogVersion)
	case l.External && !dev.Log.Grows && g.Bytes(l.Blocks) > dev.Log.Size:
		t.Fatalf("external log of %d bytes on a device of %d", g.Bytes(l.Blocks), dev.Log.Size)
	case l.External:
		return
	case l.AG >= g.AGCount || Blocks(l.Start) < g.HeaderBlocks() || Blocks(l.Start)+l.Blocks > g.AGLength(l.AG):
		t.Fatalf("log at block %d of AG %d, %d blocks, is not inside", l.Start, l.AG, l.Blocks)
	case l.StripeUnit > 0 && uint64(g.FSBlock(l.AG, l.Start))%uint64(l.StripeUnit) != 0:
		t.Fatalf("log at block %d of AG %d, stripe unit %d", l.Start, l.AG, l.StripeUnit)
	}
}

// A stripe unit whose limits allow less than nothing is refused like others that
// make no sense.
func TestNegativeStripeUnit(t *testing.T) {
	unit := Given(Size{Count: -4096, Limits: Limits{Min: -4096}})
	spec := Spec{Data: DataSpec{StripeUnit: unit, StripeWidth: Given[int64](1)}}
	if _, _, err := Plan(spec, Device{Size: gib, LogicalSector: 512, PhysicalSector: 512}); err == nil {
		t.Error("accepted")
	}
}

// With 57458 AGs of 18688 blocks, 57457 would do, and the last of those is
// short of 16 MiB.
func TestAGCountStaysOnDevice(t *testing.T) {
	dev := Device{Size: 4*tib - 4096, LogicalSector: 512, PhysicalSector: 512}
	g, _, err := Plan(Spec{Data: DataSpec{AGCount: Given(int64(57458))}}, dev)
	if err == nil && g.Bytes(g.Blocks) > dev.Size {
		t.Errorf("%d bytes on a device of %d", g.Bytes(g.Blocks), dev.Size)
	}
}
