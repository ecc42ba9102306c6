package ialloc_test

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// crowd fills a filesystem with a file, and punches holes into it, most of which are
// too small for a chunk of inodes.
func crowd(t testing.TB, fs *live.FS, ip *inode.Inode, random *rand.Rand) {
	t.Helper()
	end := uint64(0)
	for step := geometry.Blocks(8192); step > 0; {
		tr := fs.Begin(8)
		got, err := bmap.Write(tr, ip, bmap.Data, end, step, 0, 1)
		must(t, err)
		commit(t, tr)
		if len(got) == 0 {
			step /= 2
			continue
		}
		end = got[0].End()
	}
	chunk := uint64(fs.InodeChunk().Blocks)
	for at := uint64(0); at < end; {
		n := 1 + random.Uint64N(chunk-1)
		if random.IntN(500) == 0 {
			n = 2 * chunk
		}
		tr := fs.Begin(8)
		_, err := bmap.Unmap(tr, ip, bmap.Data, at, geometry.Blocks(n), 0, 2)
		must(t, err)
		commit(t, tr)
		at += n + 1 + random.Uint64N(8*chunk)
	}
	ip.Core.Size = end << fs.G.BlockLog
	tr := fs.Begin(0)
	ip.Log(tr)
	commit(t, tr)
}

// After any sequence of allocating and freeing inodes, where there is hardly room for
// chunks, the records are those of the inodes in use and the filesystem is sound; when all
// are freed the space is back.
func TestRandomly(t *testing.T) {
	dir := t.TempDir()
	for seed, c := range []struct {
		args  []string
		roomy bool // there is room for chunks, and the trees have two levels
	}{
		{nil, false},
		{[]string{"-m", "finobt=0"}, false},
		{[]string{"-b", "size=1024"}, false},
		{[]string{"-i", "size=2048"}, false},
		{[]string{"-m", "crc=0", "-b", "size=512"}, true},
		{[]string{"-b", "size=1024"}, true},
	} {
		t.Run(fmt.Sprint(c.args, c.roomy), func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, uint64(seed)))
			path := livetest.Reference(t, size, append(c.args, "-n", "parent=0", "-p", proto(t, dir, 1))...)
			d := livetest.Open(t, path)
			fs := livetest.Load(t, d)
			tr := fs.Begin(0)
			root, file := read(t, tr, fs.G.RootInode()), read(t, tr, fs.G.RootInode()+3)
			commit(t, tr)
			if !c.roomy {
				crowd(t, fs, file, random)
			}
			before := fs.Counts
			used := map[geometry.Inode]bool{}
			for range 12 {
				churn(t, fs, root, used, c.roomy, random)
				checkRecords(t, fs, used)
			}
			switch {
			case c.roomy && levels(t, fs) < 2:
				t.Error("the inobt has one level")
			case !c.roomy && fs.G.Features.Sparse && !anyHoles(t, fs):
				t.Error("no record has holes")
			}
			judge(t, fs, d, len(used))
			for _, ino := range slices.Sorted(maps.Keys(used)) {
				release(t, fs, ino)
			}
			checkRecords(t, fs, nil)
			if fs.Counts != before {
				t.Errorf("%+v, were %+v", fs.Counts, before)
			}
		})
	}
}

func anyHoles(t *testing.T, fs *live.FS) bool {
	t.Helper()
	for agno := range fs.G.AGCount {
		if slices.ContainsFunc(records(t, fs, agno, false), func(r ondisk.InodeRecord) bool { return r.HoleMask != 0 }) {
			return true
		}
	}
	return false
}

func levels(t *testing.T, fs *live.FS) uint32 {
	t.Helper()
	tr := fs.Begin(0)
	agi, err := tr.AGI(0)
	must(t, err)
	_, n := agi.Root()
	commit(t, tr)
	return n
}

// churn allocates some hundred inodes, or frees some; where there is room more of them.
func churn(t *testing.T, fs *live.FS, root *inode.Inode, used map[geometry.Inode]bool, roomy bool, random *rand.Rand) {
	t.Helper()
	most := 600
	if roomy {
		most = 3000
	}
	if random.IntN(3) > 0 || len(used) == 0 {
		for range random.IntN(most) {
			tr := fs.Begin(0)
			mode := uint16(ondisk.ModeRegular)
			if random.IntN(5) == 0 {
				mode = ondisk.ModeFIFO
			}
			ino, ok, err := ialloc.Alloc(tr, root, mode)
			must(t, err)
			if ok {
				_, err = ialloc.Create(tr, ino, root, ialloc.New{Mode: mode | 0o600})
				must(t, err)
			}
			commit(t, tr)
			if !ok {
				return
			}
			if used[ino] {
				t.Fatalf("inode %d is allocated twice", ino)
			}
			used[ino] = true
		}
		return
	}
	list := slices.Sorted(maps.Keys(used))
	from, n := random.IntN(len(list)), random.IntN(most)
	for _, ino := range list[from:min(from+n, len(list))] {
		if random.IntN(20) > 0 {
			release(t, fs, ino)
			delete(used, ino)
		}
	}
}

func release(t *testing.T, fs *live.FS, ino geometry.Inode) {
	t.Helper()
	tr := fs.Begin(0)
	ip := read(t, tr, ino)
	ip.Core.Nlink = 0
	must(t, ialloc.Free(tr, ip))
	commit(t, tr)
	ip.Release()
}

// checkRecords compares records of inodes with the inodes that are in use, besides the
// first four, and with each other and the AGI.
func checkRecords(t *testing.T, fs *live.FS, used map[geometry.Inode]bool) {
	t.Helper()
	const first = 4
	n, free, inUse := uint64(0), uint64(0), 0
	for agno := range fs.G.AGCount {
		var withFree []ondisk.InodeRecord
		checkUsed(t, fs, agno)
		for _, r := range records(t, fs, agno, false) {
			if r.FreeCount > 0 {
				withFree = append(withFree, r)
			}
			holes, freeBits := r.Holes()
			n, free = n+uint64(64-holes), free+uint64(freeBits)
			for m := ^r.Free; m != 0; m &= m - 1 {
				ino := fs.G.InodeOf(agno, r.Start+uint32(bits.TrailingZeros64(m)))
				if inUse++; !used[ino] && ino >= fs.G.RootInode()+first {
					t.Errorf("inode %d is in use", ino)
				}
			}
		}
		if fs.G.Features.Finobt {
			if got := records(t, fs, agno, true); !slices.Equal(got, withFree) {
				t.Errorf("AG %d: the finobt has %+v, the inobt %+v", agno, got, withFree)
			}
		}
	}
	if inUse != len(used)+first || n != fs.Counts.Inodes || free != fs.Counts.FreeInodes {
		t.Errorf("%d inodes, %d free, %d in use; want %+v and %d", n, free, inUse, fs.Counts, len(used)+first)
	}
}

// judge asks xfs_repair, which is to find that so many inodes are in no directory, and
// nothing else.
func judge(t *testing.T, fs *live.FS, d *livetest.Device, adrift int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "judged")
	save(t, fs, d, path)
	out, _ := livetest.Run(t, "xfs_repair", "-n", path)
	found := 0
	for line := range strings.Lines(out) {
		switch {
		case strings.HasPrefix(line, "disconnected inode "):
			found++
		case strings.HasPrefix(line, "Phase "), strings.HasPrefix(line, "        - "),
			strings.HasPrefix(line, "No modify flag"), strings.Contains(line, "host filesystem"),
			strings.HasPrefix(line, "Repair may fail"),
			strings.Contains(line, "would move to lost+found"), strings.Contains(line, "would have reset inode"):
		default:
			t.Errorf("xfs_repair: %s", line)
		}
	}
	if found != adrift {
		t.Errorf("xfs_repair finds %d inodes in no directory, want %d", found, adrift)
	}
}
