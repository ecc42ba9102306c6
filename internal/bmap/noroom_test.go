package bmap

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// fragment fills a filesystem with a file, but for every other block of n runs of step blocks.
func fragment(t *testing.T, fs *live.FS, ip *inode.Inode, n, step uint64) {
	t.Helper()
	for room := geometry.Blocks(1 << 16); room > 0; {
		ok, err := Fill(fs, ip, lastBlock(ip), room, Prealloc)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			room /= 2
		}
	}
	for i := range n {
		deed{"fpunch", 1000 + i*step, step / 2}.do(t, fs, ip)
	}
}

// lastBlock is the first block behind all that a file has.
func lastBlock(ip *inode.Inode) uint64 {
	last, _ := LastOffset(nil, ip, Data, inode.MaxOffset)
	return last
}

// Where there is no room a Write maps nothing and changes nothing, and so does an Unmap that would need a block; all
// space can be had, and what is freed can be had again. xfs_repair agrees in the end.
func TestNoRoom(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"V5", []string{"-b", "size=1k"}},
		{"V4", []string{"-m", "crc=0", "-b", "size=512"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const size = 300 << 20
			path, inos := emptyFiles(t, size, 2, c.args...)
			dev := livetest.Open(t, path)
			fs := livetest.Load(t, dev)
			filler, ip := read(t, fs, inos[0]), read(t, fs, inos[1])
			fragment(t, fs, filler, 300, 6)
			r := rand.New(rand.NewPCG(3, 4))
			full, before := 0, fs.Counts.FreeBlocks
			for i := range 3000 {
				off, n := r.Uint64N(3000), 1+r.Uint64N(4)
				if i%100 < 80 {
					if !writeFull(t, fs, ip, off, geometry.Blocks(n)) {
						full++
					}
				} else {
					deed{"fpunch", off, n}.do(t, fs, ip)
				}
			}
			t.Logf("%d blocks were free, %d are; %d extents, no room %d times", before, fs.Counts.FreeBlocks, len(ip.Data.Extents), full)
			if full == 0 {
				t.Error("there was always room")
			}
			for _, f := range []*inode.Inode{filler, ip} {
				again := read(t, fs, f.Ino)
				if !slices.Equal(again.Data.Extents, f.Data.Extents) {
					t.Errorf("inode %d has other extents on disk", f.Ino)
				}
				f.Core.Size = uint64(lastBlock(f)) * uint64(fs.G.BlockSize)
				touch(t, fs, f)
			}
			repair(t, fs, dev, size)
		})
	}
}

// writeFull writes to a file of a filesystem that may be full, and tells whether there was room.
func writeFull(t *testing.T, fs *live.FS, ip *inode.Inode, off uint64, n geometry.Blocks) bool {
	t.Helper()
	before, count := slices.Clone(ip.Data.Extents), ip.Core.Blocks
	tr := fs.Begin(n + 8)
	got, err := Write(tr, ip, Data, off, n, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 && (!slices.Equal(ip.Data.Extents, before) || ip.Core.Blocks != count) {
		t.Fatalf("no room for %d blocks at %d, but extents are changed", n, off)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	return len(got) > 0
}

// To take blocks out of the midst of an extent needs a block where the fork, or the leaf of its btree, is full. A
// transaction without any is told so, and changes nothing.
func TestUnmapNeedsRoom(t *testing.T) {
	path, inos := emptyFiles(t, 300<<20, 1, "-b", "size=1k")
	fs := livetest.Load(t, livetest.Open(t, path))
	ip := read(t, fs, inos[0])
	most := ip.Room(fs, false) / ondisk.FileExtentSize
	for i := range uint64(600) {
		deed{"falloc", i * 10, 3}.do(t, fs, ip)
		if len(ip.Data.Extents) == most && !refused(t, fs, ip, 0) {
			t.Errorf("%d extents are all that fit, and there is room for one more", most)
		}
	}
	for k := range ip.Data.Extents {
		if refused(t, fs, ip, k) {
			return
		}
	}
	t.Error("there was always room in a leaf")
}

// refused takes a block out of the midst of an extent, and tells whether there was no room for that.
func refused(t *testing.T, fs *live.FS, ip *inode.Inode, k int) bool {
	t.Helper()
	before := slices.Clone(ip.Data.Extents)
	tr := fs.Begin(0)
	_, err := Unmap(tr, ip, Data, before[k].Offset+1, 1, 0, 0)
	if err != nil && !errors.Is(err, ErrNoRoom) {
		t.Fatal(err)
	}
	none := err != nil
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	if again := read(t, fs, ip.Ino); !slices.Equal(again.Data.Extents, ip.Data.Extents) {
		t.Fatal("extents are others on disk")
	}
	if none && !slices.Equal(ip.Data.Extents, before) {
		t.Fatal("extents are changed")
	}
	return none
}
