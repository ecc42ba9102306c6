package metafile_test

import (
	"context"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live/livetest"
	"mkfs/internal/metafile"
)

// zones plans a filesystem of so many zones of 256 MiB on a device of their own.
func zones(t testing.TB, n int64) *geometry.Geometry {
	t.Helper()
	const zone = 256 << 20
	spec := geometry.Spec{SmallAllowed: true}
	spec.RT = geometry.RealtimeSpec{Device: true, Zoned: geometry.Given(true), GroupSize: geometry.Given(geometry.Size{
		Count: zone, Limits: geometry.Limits{Max: 1 << 62},
	})}
	dev := geometry.Device{Size: 1 << 42, LogicalSector: 512, PhysicalSector: 512}
	dev.RT.Size = geometry.Bytes(n * zone)
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// BenchmarkZones makes a file for each zone.
func BenchmarkZones(b *testing.B) {
	g := zones(b, int64(max(b.N, 64)))
	fs, _ := livetest.New(b, g)
	m := metafile.New(fs)
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := m.All(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.Logf("%+v", fs.Cache.Stats())
	if err := fs.Cache.Flush(); err != nil {
		b.Fatal(err)
	}
}
