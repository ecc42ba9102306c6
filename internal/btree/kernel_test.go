package btree

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// punched is a file of which single blocks are punched out, in the kernel.
type punched struct {
	path string // of the image
	name string
	ino  uint64
	size int64 // of a block
	room int   // for the fork
}

// punch makes holes of one block.
func (p *punched) punch(t *testing.T, blocks []int) {
	t.Helper()
	livetest.Mounted(t, p.path, func(dir string) {
		f, err := os.OpenFile(filepath.Join(dir, p.name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, b := range blocks {
			const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
			if err := unix.Fallocate(int(f.Fd()), mode, int64(b)*p.size, p.size); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// create makes the file, of one extent.
func (p *punched) create(t *testing.T, blocks int) {
	t.Helper()
	livetest.Mounted(t, p.path, func(dir string) {
		f, err := os.Create(filepath.Join(dir, p.name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Fallocate(int(f.Fd()), 0, 0, int64(blocks)*p.size); err != nil {
			t.Fatal(err)
		}
		s, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		p.ino = s.Sys().(*syscall.Stat_t).Ino
	})
}

// open reads the tree of the file's extents, or tells the only extent if there is no tree.
func (p *punched) open(t *testing.T) (*Tree, *live.Trans, [][]byte) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "--sparse=always", p.path, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d := livetest.Open(t, copied)
	fs := livetest.Load(t, d)
	g := fs.G
	agbno := p.ino >> g.InodeBlockLog()
	off := fs.Offset(geometry.AGNumber(agbno>>g.AGBlockLog), geometry.AGBlock(agbno&(1<<g.AGBlockLog-1)))
	off += int64(p.ino&(1<<g.InodeBlockLog()-1)) << g.InodeLog
	inode := make([]byte, g.InodeSize)
	_, _ = d.ReadAt(inode, off)
	core, ok := ondisk.DecodeInode(inode)
	if !ok || core.Number != p.ino {
		t.Fatalf("inode %d: %+v", p.ino, core)
	}
	fork := inode[ondisk.InodeCore:]
	if core.ForkOffset > 0 {
		fork = fork[:8*int(core.ForkOffset)] // the parent pointer follows
	}
	p.room = len(fork)
	if core.Format == ondisk.FormatExtents {
		var list [][]byte
		for i := range int(core.BigExtents) {
			list = append(list, fork[i*ondisk.FileExtentSize:][:ondisk.FileExtentSize])
		}
		return nil, nil, list
	}
	tr := &Tree{Kind: Bmbt, Owner: p.ino, Root: &pool{levels: 0}, Fork: new(Fork)}
	if err := tr.Fork.Load(Bmbt, fork); err != nil {
		t.Fatal(err)
	}
	tr.bind(fs)
	return tr, fs.Begin(0), nil
}

// numbering is which of the kernel's blocks each of ours is.
type numbering map[uint64]uint64

// same compares trees block by block, wherever these are if moved. Nodes that split have left
// pointers behind, which are to be of the same blocks, too.
func same(t *testing.T, got, want *Tree, gt, wt *live.Trans, moved bool) {
	t.Helper()
	number := numbering{0: 0, ondisk.NullPointer: ondisk.NullPointer}
	type pair struct{ got, want block }
	var blocks []pair
	var visit func(a, b block, level int)
	visit = func(a, b block, level int) {
		t.Helper()
		if a.live() != b.live() {
			t.Fatalf("a block of level %d has %d entries, want %d", level, a.live(), b.live())
		}
		if level == 0 {
			return
		}
		for i := range a.live() {
			x, err := got.read(gt, a.below(i), level-1)
			if err != nil {
				t.Fatal(err)
			}
			y, err := want.read(wt, b.below(i), level-1)
			if err != nil {
				t.Fatal(err)
			}
			number[x.ptr] = y.ptr
			blocks = append(blocks, pair{x, y})
			visit(x, y, level-1)
		}
	}
	if got.Fork.Level() != want.Fork.Level() {
		t.Fatalf("the root has level %d, want %d", got.Fork.Level(), want.Fork.Level())
	}
	visit(got.Fork.block(), want.Fork.block(), got.Fork.Level())
	for _, p := range blocks {
		a, b := bytes.Clone(p.got.data), bytes.Clone(p.want.data)
		x := block{data: a, lay: p.got.lay}
		if moved {
			x.renumber(t, number)
		}
		form := x.lay.form
		copy(a[24:32], b[24:32])             // its own address
		copy(a[32:40], b[32:40])             // the sequence number, of the log
		copy(a[form.CRC:][:4], b[form.CRC:]) // and the checksum
		copy(a[56:64], b[56:64])             // the owner, if it is another inode
		if !bytes.Equal(a, b) {
			t.Fatalf("block %d of level %d\n got %x\nwant %x", p.want.ptr, ondisk.BtreeLevel(b), a, b)
		}
	}
}

// renumber changes all pointers, those that were left behind too.
func (b *block) renumber(t *testing.T, number numbering) {
	t.Helper()
	to := func(ptr uint64) uint64 {
		other, ok := number[ptr]
		if !ok {
			t.Fatalf("a pointer leads to %d, which is no block of the tree", ptr)
		}
		return other
	}
	form := b.lay.form
	form.SetLeft(b.data, to(b.left()))
	form.SetRight(b.data, to(b.right()))
	if b.lay.ptr > 0 {
		for i := range b.lay.max {
			b.setBelow(i, to(b.below(i)))
		}
	}
}

// holes replays what the kernel does to the list of extents when a block of one is punched out.
// (xfs_bmap_del_extent_real in libxfs.)
type holes struct {
	tr    *Tree
	trans *live.Trans
	list  [][]byte // while they fit the inode
	room  int
	p     *pool
}

func (h *holes) punch(t *testing.T, b int) {
	t.Helper()
	key := make([]byte, ondisk.FileExtentSize)
	ondisk.FileExtent{Offset: uint64(b)}.Put(key)
	if h.tr == nil {
		h.punchList(t, uint64(b))
		return
	}
	var c Cursor
	c.Init(h.tr, h.trans)
	if ok, err := c.Lookup(LE, key); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r, _ := c.Record()
	left, right := cut(t, r, uint64(b))
	switch {
	case left == nil && right == nil:
		if err := c.Delete(); err != nil {
			t.Fatal(err)
		}
	case left == nil || right == nil:
		for _, r := range [][]byte{left, right} {
			if r == nil {
				continue
			}
			if err := c.Update(r); err != nil {
				t.Fatal(err)
			}
		}
	default:
		if err := c.Update(left); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
		if ok, err := c.Insert(right); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
}

// top is the level of the root, and how many entries there are below the only one that it
// has, if they are so few that they will soon be in the root.
func (h *holes) top(t *testing.T) [2]int {
	t.Helper()
	f := h.tr.Fork
	if f.Level() < 2 || f.Live() > 1 {
		return [2]int{f.Level(), 0}
	}
	b, err := h.tr.read(h.trans, f.Below(0), f.Level()-1)
	if err != nil {
		t.Fatal(err)
	}
	return [2]int{f.Level(), min(b.live(), f.lays[node].max+2)}
}

// punchList punches extents that are in the inode, and plants a tree when they are too many.
func (h *holes) punchList(t *testing.T, b uint64) {
	t.Helper()
	for i, r := range h.list {
		e := ondisk.DecodeFileExtent(r)
		if b < e.Offset || b >= e.Offset+uint64(e.Blocks) {
			continue
		}
		list := append([][]byte{}, h.list[:i]...)
		left, right := cut(t, r, b)
		for _, r := range [][]byte{left, right} {
			if r != nil {
				list = append(list, r)
			}
		}
		h.list = append(list, h.list[i+1:]...)
		break
	}
	if len(h.list) <= h.room/ondisk.FileExtentSize {
		return
	}
	h.tr = &Tree{Kind: Bmbt, Owner: inode, Root: h.p, Fork: new(Fork)}
	err := h.tr.Plant(h.trans, h.room, 100, len(h.list), func(i int, r []byte) { copy(r, h.list[i]) })
	if err != nil {
		t.Fatal(err)
	}
}

// cut takes a block out of an extent.
func cut(t *testing.T, r []byte, b uint64) (left, right []byte) {
	t.Helper()
	e := ondisk.DecodeFileExtent(r)
	if b < e.Offset || b >= e.Offset+uint64(e.Blocks) {
		t.Fatalf("block %d is in a hole already", b)
	}
	x, y := e, e
	if x.Blocks = uint32(b - e.Offset); x.Blocks > 0 {
		left = make([]byte, ondisk.FileExtentSize)
		x.Put(left)
	}
	y.Offset, y.Start = b+1, e.Start+(b+1-e.Offset)
	if y.Blocks = e.Blocks - x.Blocks - 1; y.Blocks > 0 {
		right = make([]byte, ondisk.FileExtentSize)
		y.Put(right)
	}
	return left, right
}

// Blocks are punched out of a file, in the kernel and here: first every other one, which
// makes the tree of extents grow, and then some of those that remain, which makes it
// shrink. Each block of the tree ends with the same bytes.
func TestBmbtOfKernel(t *testing.T) {
	for name, order := range map[string]func(rng *rand.Rand, list []int){
		"ascending":  func(*rand.Rand, []int) {},
		"descending": func(_ *rand.Rand, list []int) { reverse(list) },
		"random":     func(rng *rand.Rand, list []int) { shuffle(rng, list) },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			p := &punched{path: livetest.Reference(t, 300<<20, "-b", "size=1024"), name: "f", size: 1024}
			const extents = 2500
			p.create(t, 2*extents)
			_, _, list := p.open(t)
			fs := livetest.Load(t, livetest.Open(t, p.path))
			fs.Cache = buffer.New(livetest.NewDevice(), buffer.Config{
				Device: "test", Limit: 64 << 20, Place: func(int64) int64 { return 0 },
			})
			h := &holes{trans: fs.Begin(0), list: list, room: p.room, p: newPool()}
			var odd []int
			for i := range extents - 1 {
				odd = append(odd, 2*i+1)
			}
			order(rng, odd)
			p.punch(t, odd)
			for _, b := range odd {
				h.punch(t, b)
			}
			want, wt, _ := p.open(t)
			sound(t, h.tr, h.trans)
			same(t, h.tr, want, h.trans, wt, true)

			// From here on the tree is the kernel's own.
			h.tr, h.trans = want, wt
			want.Root = &pool{used: all(t, want, wt)}
			var even []int
			for i := range extents {
				even = append(even, 2*i)
			}
			order(rng, even)
			for len(even) > 60 { // with fewer there is soon no tree
				n, before := 0, h.top(t)
				for most := len(even)*2/3 + 1; n < most && h.top(t) == before; n++ {
					h.punch(t, even[n])
				}
				p.punch(t, even[:n])
				even = even[n:]
				want, wt, _ := p.open(t)
				same(t, h.tr, want, h.trans, wt, false)
			}
		})
	}
}

// all are the blocks of a tree.
func all(t *testing.T, tr *Tree, trans *live.Trans) map[uint64]bool {
	t.Helper()
	used := map[uint64]bool{}
	err := tr.Visit(trans, func(_ int, ptr uint64, _ []byte) error { used[ptr] = true; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func reverse(list []int) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

func shuffle(rng *rand.Rand, list []int) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
