package ialloc_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mkfs/internal/alloc"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// space is how the free space of a filesystem is before inodes are made in it.
type space func(t *testing.T, fs *live.FS, random *rand.Rand)

// ends leaves nothing free but the last blocks of each AG.
func ends(n geometry.Blocks) space {
	return func(t *testing.T, fs *live.FS, _ *rand.Rand) {
		for agno := range fs.G.AGCount {
			takeAll(t, fs, agno)
		}
		freeEnds(t, fs, n)
	}
}

func freeEnds(t *testing.T, fs *live.FS, n geometry.Blocks) {
	t.Helper()
	for agno := range fs.G.AGCount {
		tr := fs.Begin(0)
		must(t, alloc.Free(tr, agno, geometry.AGBlock(fs.G.AGLength(agno)-n), n, nobody, alloc.ReserveNone))
		commit(t, tr)
	}
}

// piecesAnd leaves pieces free, and the last blocks of each AG.
func piecesAnd(length, count int, n geometry.Blocks) space {
	return func(t *testing.T, fs *live.FS, random *rand.Rand) {
		pieces(length, count)(t, fs, random)
		freeEnds(t, fs, n)
	}
}

// pieces leaves pieces of one length free, and so many of them in each AG.
func pieces(length, count int) space {
	return func(t *testing.T, fs *live.FS, random *rand.Rand) {
		for agno := range fs.G.AGCount {
			for _, e := range takeAll(t, fs, agno) {
				for at, n := 0, 0; at+length < int(e.Blocks) && n < count; n++ {
					tr := fs.Begin(0)
					must(t, alloc.Free(tr, agno, e.Start+geometry.AGBlock(at), geometry.Blocks(length), nobody, alloc.ReserveNone))
					commit(t, tr)
					at += length + 1 + random.IntN(30)
				}
			}
		}
	}
}

// nobody owns the blocks that tests take.
var nobody = rmap.Owner{Owner: ondisk.OwnFS}

// takeAll takes all free space of an AG.
func takeAll(t *testing.T, fs *live.FS, agno geometry.AGNumber) (taken []geometry.Extent) {
	t.Helper()
	for {
		tr := fs.Begin(0)
		at, n, ok, err := alloc.ThisAG(tr, agno, alloc.Request{Min: 1, Max: fs.G.AGBlocks, Owner: nobody})
		must(t, err)
		commit(t, tr)
		if !ok {
			return taken
		}
		_, agbno := fs.G.BlockAddress(at)
		taken = append(taken, geometry.Extent{Start: agbno, Blocks: n})
	}
}

// In whatever space there is xfs_db makes the same unlinked inodes, to the byte, and as
// many of them.
func TestUnlinkedInodes(t *testing.T) {
	for seed, c := range []struct {
		args  []string
		space space
		files int
	}{
		{nil, nil, 300},
		{[]string{"-m", "crc=0"}, nil, 300},
		{[]string{"-m", "crc=0", "-b", "size=512"}, nil, 5000}, // the inobt has two levels
		{[]string{"-b", "size=1024"}, nil, 9000},
		{[]string{"-m", "crc=0", "-b", "size=512"}, fragment, 600},
		{[]string{"-m", "finobt=0"}, fragment, 400},
		{nil, fragment, 600},
		{[]string{"-b", "size=1024"}, fragment, 600},
		{[]string{"-b", "size=64k"}, nil, 400},
		{[]string{"-d", "su=64k,sw=2,agcount=2"}, nil, 400},
		{[]string{"-d", "su=64k,sw=2,agcount=2"}, fragment, 400},
		{nil, ends(8), 1000},
		{nil, ends(13), 1000},
		{nil, ends(30), 1000},
		{nil, piecesAnd(3, 30, 7), 1000},
		{nil, pieces(4, 30), 3000},
		{nil, pieces(7, 20), 3000},
		{nil, pieces(12, 20), 3000},
		{[]string{"-i", "sparse=0"}, pieces(12, 20), 3000},
		{[]string{"-i", "sparse=0", "-m", "finobt=0,rmapbt=0,reflink=0"}, pieces(13, 10), 3000},
		{[]string{"-i", "size=2048,maxpct=1"}, nil, 2000},
		{[]string{"-i", "size=2048"}, pieces(20, 40), 3000},
		{[]string{"-b", "size=64k", "-i", "size=2048"}, fragment, 400},
		{[]string{"-b", "size=16k"}, fragment, 400},
		{[]string{"-b", "size=16k", "-i", "size=2048"}, fragment, 400},
		{[]string{"-b", "size=2048", "-i", "size=1024"}, fragment, 400},
		{[]string{"-s", "size=4096"}, fragment, 400},
		{[]string{"-m", "crc=0", "-b", "size=64k", "-i", "size=256"}, nil, 600},
		{[]string{"-m", "crc=0", "-b", "size=4096", "-i", "size=2048"}, fragment, 400},
	} {
		t.Run(fmt.Sprint(seed, c.args), func(t *testing.T) {
			d := livetest.Open(t, livetest.Reference(t, size, c.args...))
			fs := livetest.Load(t, d)
			if c.space != nil {
				c.space(t, fs, rand.New(rand.NewPCG(6, uint64(seed))))
			}
			path := filepath.Join(t.TempDir(), "reference")
			save(t, fs, d, path)
			t.Setenv("DETERMINISTIC_SEED", "1")
			t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(livetest.Seconds))
			out, _ := livetest.Run(t, "xfs_db", "-x", "-c", fmt.Sprintf("iunlink -n %d", c.files), path)
			made := strings.Count(out, "Created unlinked inode")
			t.Logf("xfs_db makes %d inodes", made)
			for i := range c.files {
				if !makeUnlinked(t, fs) {
					if i != made {
						t.Fatalf("%d inodes, want %d", i, made)
					}
					break
				}
				if i == made {
					t.Fatalf("there is inode %d, want %d: %s", i, made, out[strings.LastIndexByte(out[:len(out)-1], '\n'):])
				}
			}
			must(t, fs.Cache.Flush())
			want := livetest.Open(t, path)
			for agno := range fs.G.AGCount {
				compareAG(t, fs, d, want, agno)
			}
			if loaded := livetest.Load(t, want); fs.Counts != loaded.Counts {
				t.Errorf("%+v, want %+v", fs.Counts, loaded.Counts)
			}
		})
	}
}

// makeUnlinked makes a file that is in no directory, and tells whether there was an inode for it.
func makeUnlinked(t *testing.T, fs *live.FS) bool {
	t.Helper()
	tr := fs.Begin(0)
	ino, ok, err := ialloc.Alloc(tr, nil, ondisk.ModeRegular)
	must(t, err)
	if !ok {
		commit(t, tr)
		return false
	}
	ip, err := ialloc.Create(tr, ino, nil, ialloc.New{Mode: ondisk.ModeRegular | 0o600, Unlinkable: true})
	must(t, err)
	ip.Core.Nlink = 0
	must(t, ialloc.Unlink(tr, ip))
	commit(t, tr)
	ip.Release()
	return true
}

// Unlinked inodes are listed, and taken off their lists wherever they are on them, as
// xfs_db sees it.
func TestUnlist(t *testing.T) {
	d := livetest.Open(t, livetest.Reference(t, size))
	fs := livetest.Load(t, d)
	for range 200 {
		makeUnlinked(t, fs)
	}
	list := unlinked(t, fs, 0)
	if len(list) != 200 {
		t.Fatalf("%d inodes are unlinked", len(list))
	}
	random := rand.New(rand.NewPCG(7, 7))
	random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	for n, ino := range list {
		release(t, fs, ino)
		left := unlinked(t, fs, 0)
		if len(left) != len(list)-n-1 || slices.Contains(left, ino) {
			t.Fatalf("%d inodes are left, with %v", len(left), slices.Contains(left, ino))
		}
		if n == 100 {
			path := filepath.Join(t.TempDir(), "unlinked")
			save(t, fs, d, path)
			out, _ := livetest.Run(t, "xfs_db", "-c", "dump_iunlinked -a 0", path)
			for _, ino := range left {
				if !strings.Contains(out, fmt.Sprintf(" %d", ino)) {
					t.Errorf("xfs_db does not list inode %d: %s", ino, out)
					break
				}
			}
		}
	}
}

func unlinked(t *testing.T, fs *live.FS, agno geometry.AGNumber) []geometry.Inode {
	t.Helper()
	tr := fs.Begin(0)
	list, err := ialloc.Unlinked(tr, agno)
	must(t, err)
	commit(t, tr)
	return list
}
