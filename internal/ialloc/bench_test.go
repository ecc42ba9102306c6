package ialloc_test

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// BenchmarkCreate is of empty files in a directory, without their names.
func BenchmarkCreate(b *testing.B) {
	for _, c := range []struct {
		name string
		ask  func(*geometry.Spec)
	}{
		{"default", nil},
		{"finobt=0", func(s *geometry.Spec) { off(&s.Features.Finobt) }},
		{"crc=0", func(s *geometry.Spec) { off(&s.Features.CRC) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			fs, _ := livetest.New(b, livetest.Plan(b, 64<<30, c.ask))
			root := makeDir(b, fs, nil, 0o755)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%20000 == 0 {
					b.StopTimer() // what was changed is written
					must(b, fs.Cache.Flush())
					b.StartTimer()
				}
				tr := fs.Begin(0)
				ip := create(b, tr, root, ialloc.New{Mode: ondisk.ModeRegular | 0o644})
				commit(b, tr)
				ip.Release()
			}
		})
	}
}
