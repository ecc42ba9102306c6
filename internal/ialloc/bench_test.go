package ialloc_test

import (
	"fmt"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
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
				if err := createFile(fs, root); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// createFile is create without what a test's helper takes.
func createFile(fs *live.FS, root *inode.Inode) error {
	tr := fs.Begin(0)
	ino, ok, err := ialloc.Alloc(tr, root, ondisk.ModeRegular)
	if err != nil || !ok {
		return fmt.Errorf("no inode: %w", err)
	}
	ip, err := ialloc.Create(tr, ino, root, ialloc.New{Mode: ondisk.ModeRegular | 0o644})
	if err != nil {
		return err
	}
	err = tr.Commit()
	ip.Release()
	return err
}
