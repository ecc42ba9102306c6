package buffer

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio"
)

// creates does to a cache what so many creations of empty files in 100 directories, in
// turn, do to the blocks of four AGs: headers, the leaf of an inobt, clusters of
// inodes, and directory blocks.
func creates(c *Cache, files int) error {
	const dirs, ags, agSize, perBlock, perCluster = 100, 4, 1 << 30, 150, 32
	next := [ags]int64{} // of each AG, blocks in use
	take := func(ag, blocks int) int64 {
		at := next[ag]
		next[ag] += int64(blocks)
		return int64(ag)*agSize + 1<<20 + at*4096
	}
	block := func(off int64, n int, fresh bool) error {
		get := c.Get
		if fresh {
			get = c.Fresh
		}
		b, err := get(off, n, plain)
		if err != nil {
			return err
		}
		c.Dirty(b)
		b.Data[0]++
		c.Unpin(b)
		return nil
	}
	var cluster [ags]int64
	var inodes [ags]int
	var entries [dirs]int
	var dir [dirs]int64
	for i := range files {
		d, ag := i%dirs, i%dirs%ags
		newCluster, newBlock := inodes[ag]%perCluster == 0, entries[d]%perBlock == 0
		if newCluster {
			cluster[ag] = take(ag, 4)
		}
		if newBlock {
			dir[d] = take(ag, 1)
		}
		inodes[ag]++
		entries[d]++
		head := int64(ag) * agSize
		list := []struct {
			off   int64
			n     int
			fresh bool
		}{
			{head + 1024, 512, false},                           // AGI
			{head + 8192, 4096, false},                          // inobt
			{cluster[ag], 16384, newCluster},                    // the inode
			{dir[d], 4096, newBlock},                            // its name
			{head + 65536 + int64(d/32)*16384, 16384, i < dirs}, // the directory's inode
		}
		if newCluster || newBlock {
			list = append(list, list[0], list[0])
			list[5].off, list[6].off, list[6].n = head+512, head+4096, 4096 // AGF, bnobt
		}
		for _, b := range list {
			if err := block(b.off, b.n, b.fresh); err != nil {
				return err
			}
		}
		if err := c.Tick(); err != nil {
			return err
		}
	}
	return c.Flush()
}

// BenchmarkPolicies writes by three policies to a file with direct IO, where that works.
func BenchmarkPolicies(b *testing.B) {
	for _, p := range []struct {
		name  string
		age   int64
		limit int64
	}{{"at once", AtOnce, 64 << 20}, {"aged", DefaultAge, 64 << 20}, {"at the end", AtEnd, 4 << 30}} {
		b.Run(p.name, func(b *testing.B) {
			const files = 100_000
			f, err := os.OpenFile(filepath.Join(b.TempDir(), "device"), os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600)
			if err != nil {
				b.Skip(err)
			}
			defer f.Close()
			must(b, f.Truncate(5<<30))
			var s Stats
			for b.Loop() {
				ring, err := aio.Open(int(f.Fd()), aio.Config{})
				must(b, err)
				c := New(ring, Config{Age: p.age, Limit: p.limit, Memory: aio.NewSlab})
				must(b, creates(c, files))
				must(b, ring.Sync())
				s = c.Stats()
				must(b, c.Release())
				must(b, ring.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
			b.ReportMetric(float64(s.Writes), "writes")
			b.ReportMetric(float64(s.Bytes)/1e6, "MB")
			b.ReportMetric(float64(s.Requests), "requests")
			b.ReportMetric(100*float64(s.Saved())/float64(s.Changes), "%saved")
		})
	}
}
