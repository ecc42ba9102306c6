package super

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mkfs/internal/aginit"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// What a geometry's superblock says is that geometry.
func TestGeometry(t *testing.T) {
	on, off := geometry.Given(true), geometry.Given(false)
	for name, change := range map[string]func(*geometry.Spec){
		"default": func(*geometry.Spec) {},
		"V4":      func(s *geometry.Spec) { s.Features.CRC = off },
		"bare V4": func(s *geometry.Spec) {
			f := &s.Features
			f.CRC, f.Ftype, f.LazyCount, f.Projid32, f.Align = off, off, off, off, off
		},
		"version": func(s *geometry.Spec) {
			f := &s.Features
			f.CRC, f.LogVersion, f.Attr = off, geometry.Given[int64](1), geometry.Given[int64](1)
		},
		"bare V5": func(s *geometry.Spec) {
			f := &s.Features
			f.Finobt, f.Rmapbt, f.Reflink, f.Sparse, f.Bigtime = off, off, off, off, off
		},
		"few": func(s *geometry.Spec) {
			f := &s.Features
			f.Nrext64, f.Exchange, f.Parent, f.InobtCount = off, off, off, off
		},
		"casefold": func(s *geometry.Spec) { s.Features.CaseFold = on },
		"label":    func(s *geometry.Spec) { s.Label = "abcdefghijkl" },
	} {
		t.Run(name, func(t *testing.T) {
			spec := geometry.Spec{CPUs: 1}
			change(&spec)
			g, _, err := geometry.Plan(spec, geometry.Device{Size: 1 << 30, LogicalSector: 512, PhysicalSector: 512})
			if err != nil {
				t.Fatal(err)
			}
			b := aginit.New(g, aginit.Identity{UUID: ondisk.UUID{1}, Generation: func() uint32 { return 1 }}).Primary(aginit.Made{})
			fs := Read(b, 1<<30, func(text string) { t.Error(text) })
			if fs == nil {
				t.Fatal("no filesystem")
			}
			want := *g
			want.Log.MinBlocks, want.Inherit, want.Features.Autofsck = 0, geometry.Inherit{}, ""
			fs.Geometry.Features.Autofsck = ""
			if diff := cmp.Diff(want, fs.Geometry); diff != "" {
				t.Error(diff)
			}
		})
	}
}
