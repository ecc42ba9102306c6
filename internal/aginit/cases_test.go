package aginit

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// One filesystem of each kind that differs in what its AGs hold.
var filesystems = []struct {
	name string
	size geometry.Bytes
	ask  func(*geometry.Spec)
}{
	{"default", 2 << 30, func(*geometry.Spec) {}},
	{"one AG", 16 << 20, func(*geometry.Spec) {}},
	{"two AGs", 300 << 20, func(s *geometry.Spec) { s.Data.AGCount = geometry.Given[int64](2) }},
	{"three AGs", 300 << 20, func(s *geometry.Spec) { s.Data.AGCount = geometry.Given[int64](3) }},
	{"many AGs", 4<<30 + 20<<20, func(s *geometry.Spec) { s.Data.AGSize = sizeOf(16 << 20) }},
	{"log in AG 0", 2 << 30, func(s *geometry.Spec) { s.Log.AG = geometry.Given[int64](0) }},
	{"log in the last AG", 2 << 30, func(s *geometry.Spec) { s.Log.AG = geometry.Given[int64](3) }},
	{"external log", 2 << 30, func(s *geometry.Spec) { s.Log.External = true }},
	{"stripes", 8 << 30, func(s *geometry.Spec) {
		s.Data.StripeUnit, s.Data.StripeWidth = sizeOf(64<<10), geometry.Given[int64](4)
	}},
	{"log stripe", 2 << 30, func(s *geometry.Spec) { s.Log.StripeUnit = sizeOf(256 << 10) }},
	{"no rmapbt", 2 << 30, func(s *geometry.Spec) { s.Features.Rmapbt = off }},
	{"no reflink", 2 << 30, func(s *geometry.Spec) { s.Features.Reflink = off }},
	{"no finobt", 2 << 30, func(s *geometry.Spec) { s.Features.Finobt = off }},
	{"no inobtcount", 2 << 30, func(s *geometry.Spec) { s.Features.InobtCount = off }},
	{"no sparse", 2 << 30, func(s *geometry.Spec) { s.Features.Sparse = off }},
	{"no bigtime", 2 << 30, func(s *geometry.Spec) { s.Features.Bigtime = off }},
	{"no nrext64", 2 << 30, func(s *geometry.Spec) { s.Features.Nrext64 = off }},
	{"no parent", 2 << 30, func(s *geometry.Spec) { s.Features.Parent, s.Features.Exchange = off, off }},
	{"least of V5", 2 << 30, func(s *geometry.Spec) {
		f := &s.Features
		f.Rmapbt, f.Reflink, f.Finobt, f.InobtCount, f.Sparse = off, off, off, off, off
		f.Bigtime, f.Nrext64, f.Exchange, f.Parent = off, off, off, off
	}},
	{"V4", 2 << 30, func(s *geometry.Spec) { s.Features.CRC = off }},
	{"V4 1k", 2 << 30, func(s *geometry.Spec) { s.Features.CRC, s.BlockSize = off, geometry.Given[int64](1024) }},
	{"V4 512", 1 << 30, func(s *geometry.Spec) { s.Features.CRC, s.BlockSize = off, geometry.Given[int64](512) }},
	{"1k", 2 << 30, func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](1024) }},
	{"8k", 2 << 30, func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](8192) }},
	{"64k", 4 << 30, func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](65536) }},
	{"4k sectors", 2 << 30, func(s *geometry.Spec) {
		s.SectorSize, s.Log.SectorSize = geometry.Given[int64](4096), geometry.Given[int64](4096)
	}},
	{"2k inodes", 2 << 30, func(s *geometry.Spec) { s.Inode.Size = geometry.Given[int64](2048) }},
}

var off = geometry.Given(false)

func sizeOf(n int64) geometry.Opt[geometry.Size] {
	return geometry.Given(geometry.Size{Count: n, Limits: geometry.Limits{Max: 1<<63 - 1}})
}

var testUUID = ondisk.UUID{0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}

func testIdentity() Identity {
	next := uint32(0x1000)
	return Identity{
		UUID: testUUID, Seconds: 1234567890, Nanos: 987654321,
		Generation: func() uint32 { next++; return next },
	}
}

func plan(t testing.TB, size geometry.Bytes, ask func(*geometry.Spec)) *geometry.Geometry {
	t.Helper()
	spec := geometry.Spec{SmallAllowed: true}
	ask(&spec)
	dev := geometry.Device{Size: size, LogicalSector: 512, PhysicalSector: 512}
	dev.Log.Size, dev.Log.LogicalSector = 64<<20, 512
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// every runs a test for each filesystem.
func every(t *testing.T, f func(t *testing.T, g *geometry.Geometry)) {
	for _, fs := range filesystems {
		t.Run(fs.name, func(t *testing.T) { f(t, plan(t, fs.size, fs.ask)) })
	}
}
