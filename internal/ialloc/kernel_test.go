package ialloc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/alloc"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inodeOf(t testing.TB, path string) geometry.Inode {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	return geometry.Inode(st.Sys().(*syscall.Stat_t).Ino)
}

func copyFile(t testing.TB, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	out, err := exec.Command("cp", path, to).CombinedOutput()
	if err != nil {
		t.Fatalf("%s", out)
	}
	return to
}

// makeRoomy makes a directory of one block of 64 KiB, which does not grow by some
// thousand short names.
func makeRoomy(t testing.TB, path string) {
	t.Helper()
	must(t, os.Mkdir(path, 0o755))
	fill(t, path)
}

func fill(t testing.TB, path string) {
	t.Helper()
	for i := range 30 {
		must(t, os.WriteFile(filepath.Join(path, strings.Repeat("x", 100)+name(i)), nil, 0o600))
	}
}

// kernelFiles makes files in a directory, and lists their inodes.
func kernelFiles(t testing.TB, dir string, first, n int) (list []geometry.Inode) {
	t.Helper()
	for i := range n {
		path := filepath.Join(dir, name(first+i))
		if err := os.WriteFile(path, nil, 0o600); errors.Is(err, unix.ENOSPC) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, inodeOf(t, path))
	}
	return list
}

// Inodes are freed, and allocated near a directory in the midst of others, as the kernel
// does it.
func TestKernelReuses(t *testing.T) {
	for seed, args := range [][]string{
		nil, {"-m", "finobt=0"}, {"-m", "finobt=0"}, {"-b", "size=64k"}, {"-i", "sparse=0"},
	} {
		t.Run(fmt.Sprint(seed, args), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(seed)))
			path := livetest.Reference(t, size, append(args, "-n", "size=64k")...)
			var before, behind, freed, again []geometry.Inode
			var dir geometry.Inode
			livetest.Mounted(t, path, func(at string) {
				before = kernelFiles(t, nextDir(t, at, "before"), 0, 900)
				middle := nextDir(t, at, "middle")
				dir = inodeOf(t, middle)
				behind = kernelFiles(t, middle, 0, 900)
			})
			full := copyFile(t, path)
			livetest.Mounted(t, path, func(at string) {
				freed = sift(t, filepath.Join(at, "before"), before, random)
				freed = append(freed, sift(t, filepath.Join(at, "middle"), behind, random)...)
			})
			holes := copyFile(t, path)
			livetest.Mounted(t, path, func(at string) { again = kernelFiles(t, filepath.Join(at, "middle"), 2000, 800) })

			d := livetest.Open(t, full)
			fs := livetest.Load(t, d)
			for _, ino := range freed {
				release(t, fs, ino)
			}
			want := livetest.Open(t, holes)
			sameRecords(t, fs, livetest.Load(t, want))
			must(t, fs.Cache.Flush())
			for _, ino := range freed {
				sameFree(t, fs, ino, d, want)
			}

			fs = livetest.Load(t, livetest.Open(t, holes))
			sameInodes(t, fs, dir, again)
			sameRecords(t, fs, livetest.Load(t, livetest.Open(t, path)))
		})
	}
}

// nextDir makes directories until one is in AG 0, which has the name at last.
func nextDir(t testing.TB, at, dir string) string {
	t.Helper()
	path := filepath.Join(at, dir)
	for i := 0; ; i++ {
		must(t, os.Mkdir(path, 0o755))
		if inodeOf(t, path) < 1<<16 {
			break
		}
		must(t, os.Rename(path, fmt.Sprint(path, i)))
	}
	fill(t, path)
	return path
}

// sift removes files: of some runs of inodes most, of others a few or none.
func sift(t testing.TB, dir string, files []geometry.Inode, random *rand.Rand) (freed []geometry.Inode) {
	t.Helper()
	odds := 0.0
	for i, ino := range files {
		if i%64 == 0 {
			odds = []float64{0, 0, 0, 0, 0.03, 0.5, 0.98}[random.IntN(7)]
		}
		if random.Float64() < odds {
			must(t, os.Remove(filepath.Join(dir, name(i))))
			freed = append(freed, ino)
		}
	}
	return freed
}

// Where there is no room for whole chunks parts of chunks are allocated as the kernel does.
func TestKernelSparse(t *testing.T) {
	for seed, args := range [][]string{nil, {"-b", "size=1024", "-m", "finobt=0"}, {"-i", "size=2048"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			random := rand.New(rand.NewPCG(2, uint64(seed)))
			path := livetest.Reference(t, size, append(args, "-n", "size=64k")...)
			livetest.Mounted(t, path, func(at string) { makeRoomy(t, filepath.Join(at, "d")) })
			d := livetest.Open(t, path)
			fs := livetest.Load(t, d)
			fragment(t, fs, random)
			path = filepath.Join(t.TempDir(), "fragmented")
			save(t, fs, d, path)
			was := copyFile(t, path)
			var dir geometry.Inode
			var want []geometry.Inode
			livetest.Mounted(t, path, func(at string) {
				dir = inodeOf(t, filepath.Join(at, "d"))
				want = kernelFiles(t, filepath.Join(at, "d"), 0, 1800)
			})
			fs = livetest.Load(t, livetest.Open(t, was))
			sameInodes(t, fs, dir, want)
			got := sameRecords(t, fs, livetest.Load(t, livetest.Open(t, path)))
			if !slices.ContainsFunc(got, func(r ondisk.InodeRecord) bool { return r.HoleMask != 0 }) {
				t.Error("no record has holes")
			}
		})
	}
}

// fragment takes all free space, and frees pieces of it, few of which have room for a
// chunk.
func fragment(t *testing.T, fs *live.FS, random *rand.Rand) {
	t.Helper()
	chunk := int64(fs.InodeChunk().Blocks)
	for agno := range fs.G.AGCount {
		for _, e := range takeAll(t, fs, agno) {
			for at := int64(0); at < int64(e.Blocks); {
				hole := 1 + random.Int64N(chunk-1)
				if random.IntN(1000) == 0 {
					hole = 2 * chunk
				}
				n := min(hole, int64(e.Blocks)-at)
				tr := fs.Begin(0)
				must(t, alloc.Free(tr, agno, e.Start+geometry.AGBlock(at), geometry.Blocks(n), nobody, alloc.ReserveNone))
				commit(t, tr)
				at += hole + 1 + random.Int64N(2*chunk)
			}
		}
	}
}

// save writes a filesystem to a file, for the kernel.
func save(t *testing.T, fs *live.FS, d *livetest.Device, path string) {
	t.Helper()
	must(t, fs.Cache.Flush())
	b := make([]byte, fs.G.SectorSize)
	_, _ = d.ReadAt(b, 0)
	ondisk.SetCounters(b, fs.Counts.Inodes, fs.Counts.FreeInodes, uint64(fs.Counts.FreeBlocks))
	if fs.V5 {
		ondisk.Seal(b, ondisk.SuperblockCRC)
	}
	_, _ = d.WriteAt(b, 0)
	d.Save(t, path, size)
}

func read(t testing.TB, tr *live.Trans, ino geometry.Inode) *inode.Inode {
	t.Helper()
	ip, err := inode.Read(tr, ino)
	must(t, err)
	return ip
}

// sameInodes allocates inodes in a directory, and wants these.
func sameInodes(t *testing.T, fs *live.FS, dir geometry.Inode, want []geometry.Inode) {
	t.Helper()
	tr := fs.Begin(0)
	parent := read(t, tr, dir)
	commit(t, tr)
	for i, ino := range want {
		tr := fs.Begin(0)
		ip := create(t, tr, parent, ialloc.New{Mode: ondisk.ModeRegular | 0o600})
		if ip.Ino != ino {
			t.Fatalf("file %d of %d: inode %d, want %d", i, len(want), ip.Ino, ino)
		}
		commit(t, tr)
		ip.Release()
	}
}

// sameRecords compares the records of the inode btrees of all AGs, and returns those of
// the inobts.
func sameRecords(t *testing.T, fs, want *live.FS) (all []ondisk.InodeRecord) {
	t.Helper()
	for agno := range fs.G.AGCount {
		for _, free := range []bool{false, true} {
			if free && !fs.G.Features.Finobt {
				continue
			}
			got, wanted := records(t, fs, agno, free), records(t, want, agno, free)
			if !slices.Equal(got, wanted) {
				t.Errorf("AG %d, finobt %v:\n%+v\nwant\n%+v", agno, free, got, wanted)
			}
			if !free {
				all = append(all, got...)
			}
		}
		tr, trWant := fs.Begin(0), want.Begin(0)
		a, err := tr.AGI(agno)
		must(t, err)
		b, err := trWant.AGI(agno)
		must(t, err)
		if x, y := numbers(a), numbers(b); x != y {
			t.Errorf("AGI %d: %d, want %d", agno, x, y)
		}
		commit(t, tr)
		commit(t, trWant)
	}
	return all
}

// sameFree compares a free inode, but for its times and how often it has changed, with
// the kernel's, unless its chunk is gone.
func sameFree(t *testing.T, fs *live.FS, ino geometry.Inode, d, want *livetest.Device) {
	t.Helper()
	decode := func(d *livetest.Device) ondisk.Inode {
		b := make([]byte, fs.G.InodeSize)
		agno, agino := fs.G.InodeAddress(ino)
		_, _ = d.ReadAt(b, fs.Offset(agno, 0)+int64(agino)*int64(fs.G.InodeSize))
		i, _ := ondisk.DecodeInode(b)
		i.Atime, i.Mtime, i.Ctime, i.ChangeCount, i.LSN, i.CRC = 0, 0, 0, 0, 0, 0
		return i
	}
	got, wanted := decode(d), decode(want)
	if got.Mode == 0 && got != wanted {
		t.Errorf("inode %d: %+v\nwant %+v", ino, got, wanted)
	}
}

// numbers are those of an AGI, but for where its trees are.
func numbers(a live.AGI) [5]uint32 {
	return [5]uint32{a.Count(), a.FreeCount(), a.NewInode(), a.Blocks(), a.FreeBlocks()}
}

// Without a finobt the search for a free inode near the directory ends after some
// records, and the newest chunk will do.
func TestKernelSearchEnds(t *testing.T) {
	path := livetest.Reference(t, size, "-m", "finobt=0", "-n", "size=64k")
	var files [2][]geometry.Inode
	names := [2]string{"before", "middle"}
	var dir geometry.Inode
	livetest.Mounted(t, path, func(at string) {
		files[0] = kernelFiles(t, nextDir(t, at, names[0]), 0, 900)
		middle := nextDir(t, at, names[1])
		dir = inodeOf(t, middle)
		files[1] = kernelFiles(t, middle, 0, 900)
	})
	for _, distance := range []int{-6, -5, -4, 3, 4, 5, 6} {
		copied, side := copyFile(t, path), 0
		if distance > 0 {
			side = 1
		}
		i := slices.IndexFunc(files[side], func(ino geometry.Inode) bool { return int(ino)/64 == int(dir)/64+distance })
		livetest.Mounted(t, copied, func(at string) { must(t, os.Remove(filepath.Join(at, names[side], name(i)))) })
		fs := livetest.Load(t, livetest.Open(t, copyFile(t, copied)))
		var again []geometry.Inode
		livetest.Mounted(t, copied, func(at string) { again = kernelFiles(t, filepath.Join(at, names[1]), 2000, 3) })
		sameInodes(t, fs, dir, again)
	}
}
