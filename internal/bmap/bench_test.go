package bmap

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// newFile makes a file in a new filesystem.
func newFile(b testing.TB, size geometry.Bytes, ask func(*geometry.Spec)) (*live.FS, *inode.Inode) {
	b.Helper()
	fs, _ := livetest.New(b, livetest.Plan(b, size, ask))
	tr := fs.Begin(100)
	ino, ok, err := ialloc.Alloc(tr, nil, ondisk.ModeRegular)
	if err != nil || !ok {
		b.Fatal(ok, err)
	}
	ip, err := ialloc.Create(tr, ino, nil, ialloc.New{Mode: ondisk.ModeRegular | 0o644, Nlink: 1})
	if err != nil {
		b.Fatal(err)
	}
	if err := tr.Commit(); err != nil {
		b.Fatal(err)
	}
	return fs, ip
}

// A file grows by an extent with each write, which takes as long however many it has.
func BenchmarkAppend(b *testing.B) {
	fs, ip := newFile(b, 1<<40, nil)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range uint64(b.N) {
		tr := fs.Begin(10)
		if got, err := Write(tr, ip, Data, 2*i, 1, 0, 0); err != nil || len(got) == 0 {
			b.Fatal(got, err)
		}
		if err := tr.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// The same without the allocator: the extents are there, and the rmapbt is not.
func BenchmarkMap(b *testing.B) {
	fs, ip := newFile(b, 1<<40, func(s *geometry.Spec) {
		s.Features.Rmapbt = geometry.Opt[bool]{Value: false, Given: true}
		s.Features.Reflink = geometry.Opt[bool]{Value: false, Given: true}
	})
	b.ReportAllocs()
	b.ResetTimer()
	for i := range uint64(b.N) {
		tr := fs.Begin(10)
		if err := Map(tr, ip, Data, inode.Extent{Offset: 2 * i, Start: geometry.FSBlock(10000 + 2*i), Blocks: 1}); err != nil {
			b.Fatal(err)
		}
		if err := tr.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}
