package bmap

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// repair has xfs_repair look at a filesystem, with the number of free blocks that it should have.
func repair(t *testing.T, fs *live.FS, dev *livetest.Device, size int64) {
	t.Helper()
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	const freeBlocks = 144 // in the superblock
	sb := make([]byte, fs.G.SectorSize)
	_, _ = dev.ReadAt(sb, 0)
	binary.BigEndian.PutUint64(sb[freeBlocks:], uint64(fs.Counts.FreeBlocks))
	if fs.V5 {
		ondisk.Seal(sb, ondisk.SuperblockCRC)
	}
	_, _ = dev.WriteAt(sb, 0)
	path := filepath.Join(t.TempDir(), "image")
	dev.Save(t, path, size)
	if out, err := livetest.Run(t, "xfs_repair", "-n", "-f", path); err != nil {
		t.Errorf("xfs_repair: %v\n%s", err, out)
	}
}

// Files that were written, converted and punched at random are sound, and so is the free space around them.
func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"V5", []string{"-b", "size=1k"}},
		{"V5 of 4 KiB", nil},
		{"V4", []string{"-m", "crc=0", "-b", "size=512"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const size = 300 << 20
			path, inos := emptyFiles(t, size, 3, c.args...)
			dev := livetest.Open(t, path)
			fs := livetest.Load(t, dev)
			r := rand.New(rand.NewPCG(1, 2))
			var list []deed
			for range 3000 {
				verb := [...]string{"falloc", "pwrite", "pwrite", "pwrite", "fpunch"}[r.IntN(5)]
				list = append(list, deed{verb, r.Uint64N(20000), 1 + r.Uint64N(5)})
			}
			for _, ino := range inos {
				ip := read(t, fs, ino)
				for _, d := range list {
					d.do(t, fs, ip)
				}
				ip.Core.Size = uint64(geometry.Bytes(20010) * fs.G.BlockSize)
				touch(t, fs, ip)
				t.Logf("%d extents, level %d", len(ip.Data.Extents), ip.Data.Root.Level())
			}
			repair(t, fs, dev, size)
		})
	}
}
