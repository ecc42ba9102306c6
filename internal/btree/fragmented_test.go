package btree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// fragmented is an image on which the kernel has made many small files and removed half of
// them, in all AGs.
func fragmented(t *testing.T, args ...string) string {
	t.Helper()
	const perDir = 450
	path := livetest.Reference(t, 300<<20, append(args, "-b", "size=1024")...)
	livetest.Mounted(t, path, func(dir string) {
		data := make([]byte, 8000)
		rng := rand.New(rand.NewPCG(3, 4))
		for d := range 8 {
			sub := filepath.Join(dir, fmt.Sprint(d))
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			for f := range perDir {
				if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(f)), data[:rng.IntN(len(data))], 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		syncAll(t, dir) // until then nothing has a place
		for d := range 8 {
			for f := range perDir {
				if rng.IntN(2) == 0 {
					_ = os.Remove(filepath.Join(dir, fmt.Sprint(d), fmt.Sprint(f)))
				}
			}
		}
	})
	return path
}

// trees are those of an AG of an image.
type trees struct {
	agf ondisk.AGF
	agi ondisk.AGI
	of  map[*Kind]*Tree
}

// treesOf reads the headers of an AG.
func treesOf(t *testing.T, fs *live.FS, trans *live.Trans, d *livetest.Device, agno geometry.AGNumber) trees {
	t.Helper()
	sector := make([]byte, fs.G.SectorSize)
	_, _ = d.ReadAt(sector, fs.Offset(agno, 0)+int64(fs.G.SectorSize))
	agf, ok := ondisk.DecodeAGF(sector)
	if !ok {
		t.Fatalf("AG %d has no AGF", agno)
	}
	_, _ = d.ReadAt(sector, fs.Offset(agno, 0)+2*int64(fs.G.SectorSize))
	agi, ok := ondisk.DecodeAGI(sector)
	if !ok {
		t.Fatalf("AG %d has no AGI", agno)
	}
	x := trees{agf: agf, agi: agi, of: map[*Kind]*Tree{}}
	for _, r := range []struct {
		kind        *Kind
		root, level uint32
	}{
		{Bnobt, agf.BnoRoot, agf.BnoLevel},
		{Cntbt, agf.CntRoot, agf.CntLevel},
		{Rmapbt, agf.RmapRoot, agf.RmapLevel},
		{Refcountbt, agf.RefcountRoot, agf.RefcountLevel},
		{Inobt, agi.Root, agi.Level},
		{Finobt, agi.FreeRoot, agi.FreeLevel},
	} {
		if r.level == 0 {
			continue
		}
		tr := &Tree{Kind: r.kind, AG: agno, Root: &pool{ptr: uint64(r.root), levels: int(r.level)}}
		tr.Root.(*pool).used = all(t, tr, trans)
		x.of[r.kind] = tr
	}
	return x
}

// records are all of a tree, which is sound.
func (x *trees) records(t *testing.T, trans *live.Trans, k *Kind) [][]byte {
	t.Helper()
	tr := x.of[k]
	if tr == nil {
		return nil
	}
	if n, err := tr.Blocks(trans); err != nil || int(n) != len(tr.Root.(*pool).used) {
		t.Errorf("%s: %d blocks, %v, want %d", tr.name(), n, err, len(tr.Root.(*pool).used))
	}
	return sound(t, tr, trans)
}

// extents decodes records of free space, in order of place.
func extents(list [][]byte) (free []ondisk.AllocRecord) {
	for _, r := range list {
		free = append(free, ondisk.DecodeAllocRecord(r))
	}
	slices.SortFunc(free, func(a, b ondisk.AllocRecord) int { return int(a.Start) - int(b.Start) })
	return free
}

// Trees that the kernel has grown and shrunk are sound, and agree with each other and with
// the headers.
func TestTreesOfKernel(t *testing.T) {
	d := livetest.Open(t, fragmented(t))
	fs := livetest.Load(t, d)
	trans := fs.Begin(0)
	high := map[*Kind]int{}
	for agno := range fs.G.AGCount {
		x := treesOf(t, fs, trans, d, agno)
		free := extents(x.records(t, trans, Bnobt))
		if !slices.Equal(free, extents(x.records(t, trans, Cntbt))) {
			t.Errorf("AG %d: bnobt and cntbt are of other extents", agno)
		}
		blocks, longest := uint32(0), uint32(0)
		for _, e := range free {
			blocks += e.Blocks
			longest = max(longest, e.Blocks)
		}
		if blocks != x.agf.FreeBlocks || longest != x.agf.Longest {
			t.Errorf("AG %d: %d blocks are free, %d in one piece, the AGF has %d and %d",
				agno, blocks, longest, x.agf.FreeBlocks, x.agf.Longest)
		}
		for _, r := range x.records(t, trans, Rmapbt) {
			blocks += ondisk.DecodeRmapRecord(r).Blocks
		}
		if blocks != x.agf.Length {
			t.Errorf("AG %d: %d blocks are free or owned, of %d", agno, blocks, x.agf.Length)
		}
		inodes, unused := uint32(0), uint32(0)
		for _, r := range x.records(t, trans, Inobt) {
			chunk := ondisk.DecodeInodeRecord(r, true)
			inodes += uint32(chunk.Count)
			unused += chunk.FreeCount
		}
		fino := uint32(0)
		for _, r := range x.records(t, trans, Finobt) {
			fino += ondisk.DecodeInodeRecord(r, true).FreeCount
		}
		if inodes != x.agi.Count || unused != x.agi.FreeCount || fino != unused {
			t.Errorf("AG %d: %d inodes, %d and %d free, the AGI has %d and %d",
				agno, inodes, unused, fino, x.agi.Count, x.agi.FreeCount)
		}
		x.records(t, trans, Refcountbt)
		for k, tr := range x.of {
			high[k] = max(high[k], tr.Root.(*pool).levels)
		}
	}
	if high[Bnobt] < 2 || high[Cntbt] < 2 || high[Rmapbt] < 3 {
		t.Errorf("the trees are not high: %v", high)
	}
}

// space is free space in a bnobt and a cntbt, which have their blocks from what was free.
type space struct {
	t        *testing.T
	bno, cnt Cursor
	free     []ondisk.AllocRecord // in order of place
	held     []ondisk.AllocRecord
	stash    []uint64 // blocks for the trees
}

// Alloc and Free are of Root, of both trees.
func (s *space) alloc() (uint64, bool, error) {
	n := len(s.stash) - 1
	ptr := s.stash[n]
	s.stash = s.stash[:n]
	return ptr, true, nil
}

// pair is a root that has its blocks from the stash.
type pair struct {
	*pool
	*space
}

func (p pair) Alloc(*live.Trans, uint64) (uint64, bool, error) {
	ptr, ok, err := p.alloc()
	p.used[ptr] = true
	return ptr, ok, err
}

func (p pair) Free(_ *live.Trans, ptr uint64) error {
	delete(p.used, ptr)
	p.stash = append(p.stash, ptr)
	return nil
}

// enter and remove change an extent in both trees.
func (s *space) enter(e ondisk.AllocRecord) {
	var r [ondisk.AllocRecordSize]byte
	e.Put(r[:])
	insert(s.t, &s.cnt, r[:])
	insert(s.t, &s.bno, r[:])
	i, _ := s.find(e.Start)
	s.free = slices.Insert(s.free, i, e)
}

func (s *space) remove(i int) ondisk.AllocRecord {
	e := s.free[i]
	var r [ondisk.AllocRecordSize]byte
	e.Put(r[:])
	for _, c := range []*Cursor{&s.bno, &s.cnt} {
		if ok, err := c.Lookup(EQ, r[:]); !ok || err != nil {
			s.t.Fatal(ok, err)
		}
		if err := c.Delete(); err != nil {
			s.t.Fatal(err)
		}
	}
	s.free = slices.Delete(s.free, i, i+1)
	return e
}

func (s *space) find(start uint32) (int, bool) {
	return slices.BinarySearchFunc(s.free, start, func(e ondisk.AllocRecord, at uint32) int {
		return int(e.Start) - int(at)
	})
}

// take takes n blocks out of an extent, from the k-th on.
func (s *space) take(i int, k, n uint32) {
	e := s.remove(i)
	if k > 0 {
		s.enter(ondisk.AllocRecord{Start: e.Start, Blocks: k})
	}
	if end := k + n; end < e.Blocks {
		s.enter(ondisk.AllocRecord{Start: e.Start + end, Blocks: e.Blocks - end})
	}
	s.held = append(s.held, ondisk.AllocRecord{Start: e.Start + k, Blocks: n})
}

// give makes blocks free, and one with their neighbours.
func (s *space) give(e ondisk.AllocRecord) {
	i, _ := s.find(e.Start)
	if i < len(s.free) && e.Start+e.Blocks == s.free[i].Start {
		e.Blocks += s.remove(i).Blocks
	}
	if i > 0 && s.free[i-1].Start+s.free[i-1].Blocks == e.Start {
		left := s.remove(i - 1)
		e.Start, e.Blocks = left.Start, left.Blocks+e.Blocks
	}
	s.enter(e)
}

// Free space of the kernel's trees is taken and given back at random; xfs_repair finds
// nothing wrong in the midst of it, and at the end.
func TestFreeSpaceRepaired(t *testing.T) {
	path := fragmented(t, "-m", "rmapbt=0,reflink=0")
	d := livetest.Open(t, path)
	fs := livetest.Load(t, d)
	trans := fs.Begin(0)
	const agno = 1
	x := treesOf(t, fs, trans, d, agno)
	s := &space{t: t, free: extents(x.records(t, trans, Bnobt))}
	for k, c := range map[*Kind]*Cursor{Bnobt: &s.bno, Cntbt: &s.cnt} {
		tr := x.of[k]
		tr.Root = pair{tr.Root.(*pool), s}
		c.Init(tr, trans)
	}
	before := uint32(len(x.of[Bnobt].Root.(pair).used) + len(x.of[Cntbt].Root.(pair).used))
	for i, e := range s.free { // a stash for the trees; nothing is needed for this
		if e.Blocks > 300 {
			s.take(i, e.Blocks-300, 300)
			break
		}
	}
	for e := s.held[0]; e.Blocks > 0; e.Blocks-- {
		s.stash = append(s.stash, uint64(e.Start+e.Blocks-1))
	}
	s.held = nil
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 3 {
		for range 4000 {
			if rng.IntN(10) < []int{9, 4, 1}[round] {
				i := rng.IntN(len(s.free))
				k := uint32(rng.IntN(int(s.free[i].Blocks)))
				s.take(i, k, min(1+uint32(rng.IntN(20)), s.free[i].Blocks-k))
			} else if n := len(s.held); n > 0 {
				i := rng.IntN(n)
				e := s.held[i]
				s.held = slices.Delete(s.held, i, i+1)
				s.give(e)
			}
		}
		for _, k := range []*Kind{Bnobt, Cntbt} {
			tr := *x.of[k]
			tr.Root = tr.Root.(pair).pool
			if got := extents(sound(t, &tr, trans)); !slices.Equal(got, s.free) {
				t.Fatalf("the %s has other extents than it should", k.Name)
			}
		}
		s.judge(t, fs, d, x, agno, before)
	}
}

// judge lets xfs_repair look at the filesystem, once its headers tell of what has changed.
func (s *space) judge(t *testing.T, fs *live.FS, d *livetest.Device, x trees, agno geometry.AGNumber, before uint32) {
	t.Helper()
	if err := fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	agf := x.agf
	bno, cnt := x.of[Bnobt].Root.(pair), x.of[Cntbt].Root.(pair)
	agf.BnoRoot, agf.BnoLevel = uint32(bno.ptr), uint32(bno.levels)
	agf.CntRoot, agf.CntLevel = uint32(cnt.ptr), uint32(cnt.levels)
	agf.BtreeBlocks += uint32(len(bno.used)+len(cnt.used)) - before
	agf.FreeBlocks, agf.Longest = 0, 0
	for _, e := range s.free {
		agf.FreeBlocks += e.Blocks
		agf.Longest = max(agf.Longest, e.Blocks)
	}
	sector := make([]byte, fs.G.SectorSize)
	agf.Put(sector)
	ondisk.Seal(sector, ondisk.AGFCRC)
	_, _ = d.WriteAt(sector, fs.Offset(agno, 0)+int64(fs.G.SectorSize))
	image := filepath.Join(t.TempDir(), "judged")
	d.Save(t, image, 300<<20)
	out, err := livetest.Run(t, "xfs_repair", "-n", image)
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		begins := func(s string) bool { return strings.HasPrefix(line, s) }
		if line != "" && !slices.ContainsFunc(expected, begins) {
			t.Fatalf("%v: %s\n%s", err, line, out)
		}
	}
	if !strings.Contains(out, "Phase 7") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// expected is how lines begin that xfs_repair prints when all is well, but that blocks are held by
// nobody, which the superblock still counts as free.
var expected = []string{
	"Phase", "-", "No modify", "sb_fdblocks", "Cannot get host", "Repair may fail", "the image and the host",
}

// syncAll has a mounted filesystem give all data its place.
func syncAll(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := unix.Syscall(unix.SYS_SYNCFS, f.Fd(), 0, 0); err != 0 {
		t.Fatal(err)
	}
}
