package ialloc_test

import (
	"math/rand/v2"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// What is kept from one allocation to the next saves searches, and changes nothing: the inodes
// are those of a filesystem where all of it is lost before each, and so are the blocks.
func TestKeptChangesNothing(t *testing.T) {
	for seed, size := range []int64{4096, 1024} { // of blocks
		random := rand.New(rand.NewPCG(7, uint64(seed)))
		g := livetest.Plan(t, 300<<20, func(s *geometry.Spec) { s.BlockSize = geometry.Given(size) })
		a, deviceA := livetest.New(t, g)
		b, deviceB := livetest.New(t, g)
		var files []geometry.Inode
		file := func(near geometry.Inode) {
			t.Helper()
			x := makeFile(t, a, near)
			b.Inodes = nil
			if y := makeFile(t, b, near); x != y {
				t.Fatalf("blocks of %d: near inode %d it is %d, and %d where nothing is kept", size, near, x, y)
			}
			files = append(files, x)
		}
		root := makeDir(t, a, nil, 0o755).Ino
		makeDir(t, b, nil, 0o755)
		for range 1500 {
			file(root)
		}
		for range 300 {
			for n := random.IntN(4); n > 0; n-- {
				from := random.IntN(len(files) - 10)
				to := from + 1 + random.IntN(9)
				for _, ino := range files[from:to] {
					release(t, a, ino)
					b.Inodes = nil
					release(t, b, ino)
				}
				files = append(files[:from], files[to:]...)
			}
			few := [3]geometry.Inode{}
			for i := range few {
				few[i] = files[random.IntN(len(files))]
			}
			for range random.IntN(12) {
				file(few[random.IntN(len(few))])
			}
		}
		must(t, a.Cache.Flush())
		must(t, b.Cache.Flush())
		if d := livetest.Differ(deviceA, deviceB, 0, 16<<20); d != "" {
			t.Errorf("blocks of %d: %s", size, d)
		}
	}
}

// makeFile makes a file near another inode, as if that were its directory.
func makeFile(t *testing.T, fs *live.FS, near geometry.Inode) geometry.Inode {
	t.Helper()
	tr := fs.Begin(0)
	dir := inode.New(near)
	ip := create(t, tr, dir, ialloc.New{Mode: ondisk.ModeRegular | 0o644})
	commit(t, tr)
	dir.Release()
	defer ip.Release()
	return ip.Ino
}
