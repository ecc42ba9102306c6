package attr

import (
	"fmt"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// A parent pointer for a new file: nothing is allocated in memory.
func BenchmarkAddParent(b *testing.B) {
	d := newDesk(b, nil)
	t := d.fs.Begin(0)
	names := make([][]byte, 1000)
	for i := range names {
		names[i] = fmt.Appendf(nil, "some-file-%04d.txt", i)
	}
	ip := inode.New(d.ino)
	ip.Core.Mode = ondisk.ModeRegular
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ip.Attr.Reset(ondisk.FormatExtents)
		ip.ForkOffset = ip.DefaultForkOffset(d.fs)
		if err := d.f.AddParent(t, ip, Link{Dir: 128, Generation: 7, Name: names[i%len(names)]}); err != nil {
			b.Fatal(err)
		}
	}
}

// Parent pointers of a file with many links, in a tree.
func BenchmarkAddParentToTree(b *testing.B) {
	d := newDesk(b, func(s *geometry.Spec) { s.Inode.Size = geometry.Given[int64](2048) })
	t := d.fs.Begin(0)
	ip, err := inode.Read(t, d.ino)
	if err != nil {
		b.Fatal(err)
	}
	ip.ForkOffset = ip.DefaultForkOffset(d.fs)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		link := Link{Dir: 128, Generation: 7, Name: fmt.Appendf(nil, "some-file-%07d.txt", i%20000)}
		if i%40000 < 20000 {
			err = d.f.AddParent(t, ip, link)
		} else {
			err = d.f.RemoveParent(t, ip, link)
		}
		if err == nil {
			err = t.Commit()
		}
		if err != nil {
			b.Fatal(err)
		}
		t = d.fs.Begin(0)
	}
}
