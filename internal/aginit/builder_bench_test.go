package aginit

import (
	"testing"

	"mkfs/internal/geometry"
)

// BenchmarkPlain builds plain AGs into frames that are used again and again.
func BenchmarkPlain(b *testing.B) {
	g, _, err := geometry.Plan(geometry.Spec{}, geometry.Device{Size: 1 << 60, LogicalSector: 512, PhysicalSector: 512})
	if err != nil {
		b.Fatal(err)
	}
	build := New(g, Identity{Generation: func() uint32 { return 1 }})
	frames := make([]Frame, 256)
	for i := range frames {
		frames[i].Data = make([]byte, build.HeaderSize())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		build.Build(geometry.AGNumber(1+i%100000), &frames[i%len(frames)])
	}
}
