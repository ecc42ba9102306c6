package inode_test

import (
	"testing"

	"mkfs/internal/inode"
	"mkfs/internal/live/livetest"
)

// BenchmarkRead reads an inode whose cluster is in memory, and writes it there.
func BenchmarkRead(b *testing.B) {
	d := livetest.Open(b, livetest.Reference(b, size))
	fs := livetest.Load(b, d)
	ino := fs.G.RootInode()
	for _, log := range []bool{false, true} {
		name := "read"
		if log {
			name = "read, write"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				tr := fs.Begin(0)
				ip, err := inode.Read(tr, ino)
				if err != nil {
					b.Fatal(err)
				}
				if log {
					ip.Log(tr)
				}
				if err := tr.Commit(); err != nil {
					b.Fatal(err)
				}
				ip.Release()
			}
		})
	}
}
