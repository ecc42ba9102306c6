package refcount_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/alloc"
	"mkfs/internal/bmap"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/refcount"
)

// length is how long files are, in blocks: they have no more extents than fit an inode.
const length = 20

// file is a file that the kernel and we change alike.
type file struct {
	f  *os.File
	ip *inode.Inode
}

// both is a filesystem in the kernel, and as it was before on a device of ours.
type both struct {
	t     *testing.T
	fs    *live.FS
	dev   *livetest.Device
	dir   *os.File
	files []*file
	data  []byte // of whole files, for direct IO
}

// begin makes files on an image, takes that for ours, and mounts it again.
func begin(t *testing.T, image string, files int) (*both, func()) {
	t.Helper()
	b := &both{t: t}
	g := livetest.Load(t, livetest.Open(t, image)).G
	var err error
	if b.data, err = unix.Mmap(-1, 0, int(g.Bytes(length)), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b.data) })
	livetest.Mounted(t, image, func(dir string) {
		for i := range files {
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(name, b.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := livetest.Run(t, "xfs_io", "-c", fmt.Sprint("cowextsize ", g.BlockSize), name); err != nil {
				t.Fatal(err, out)
			}
		}
	})
	before := filepath.Join(t.TempDir(), "before")
	if out, err := exec.Command("cp", "--sparse=always", image, before).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.dev = livetest.Open(t, before)
	b.fs = livetest.Load(t, b.dev)
	if err := alloc.SetAside(b.fs); err != nil {
		t.Fatal(err)
	}
	dir, unmount := livetest.Mount(t, image)
	b.open(dir, files)
	return b, func() {
		for _, f := range b.files {
			f.f.Close()
		}
		b.dir.Close()
		unmount()
	}
}

// open opens the files, in the kernel and with us.
func (b *both) open(dir string, files int) {
	b.t.Helper()
	open := func(path string, flag int) *os.File {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { f.Close() })
		return f
	}
	b.dir = open(dir, os.O_RDONLY)
	tr := b.fs.Begin(0)
	for i := range files {
		f := &file{f: open(filepath.Join(dir, fmt.Sprint(i)), os.O_RDWR|unix.O_DIRECT)}
		var s unix.Stat_t
		err := unix.Fstat(int(f.f.Fd()), &s)
		if err == nil {
			f.ip, err = inode.Read(tr, geometry.Inode(s.Ino))
		}
		if err != nil {
			b.t.Fatal(err)
		}
		b.files = append(b.files, f)
	}
	b.commit(tr)
}

// trans begins a transaction that reserves as much of the log as a write.
func (b *both) trans() *live.Trans {
	tr := b.fs.Begin(20)
	tr.LogSpace = b.fs.G.LogSpace().Write
	return tr
}

func (b *both) commit(tr *live.Trans) {
	b.t.Helper()
	if err := tr.Commit(); err != nil {
		b.t.Fatal(err)
	}
}

// places are where the kernel has the blocks of a file, 0 for holes, and ours where we have them.
func (b *both) places(f *file) []geometry.FSBlock {
	list := make([]geometry.FSBlock, length)
	for _, e := range livetest.FileExtents(b.t, b.fs.G, f.f) {
		for i := range e.Blocks {
			list[e.Offset+uint64(i)] = e.Start + geometry.FSBlock(i)
		}
	}
	return list
}

func ours(f *file) []geometry.FSBlock {
	list := make([]geometry.FSBlock, length)
	for _, e := range f.ip.Data.Extents {
		for i := range e.Blocks {
			list[e.Offset+uint64(i)] = e.Start + geometry.FSBlock(i)
		}
	}
	return list
}

// settle waits until the kernel may use again what it has freed, and compares where a file is.
func (b *both) settle(f *file, what string) {
	b.t.Helper()
	if err := unix.Syncfs(int(b.dir.Fd())); err != nil {
		b.t.Fatal(err)
	}
	if got, want := ours(f), b.places(f); !slices.Equal(got, want) {
		b.t.Fatalf("%s: inode %d is at %v, and the kernel's at %v", what, f.ip.Ino, got, want)
	}
}

// remap is an extent that is put in a fork, or taken out, as work of its own, as the kernel does where
// something else has the blocks. (xfs_bmap_map_extent and xfs_bmap_unmap_extent.)
type remap struct {
	ip *inode.Inode
	e  inode.Extent
}

var unmapLater = live.Deferral{Most: 1, Finish: func(t *live.Trans, i *live.Item, _ bool) (bool, error) {
	r := i.More.(*remap)
	return bmap.Unmap(t, r.ip, bmap.Data, r.e.Offset, r.e.Blocks, bmap.Keep, 0)
}}

var mapLater = live.Deferral{Most: 1, Finish: func(t *live.Trans, i *live.Item, _ bool) (bool, error) {
	r := i.More.(*remap)
	return true, bmap.Map(t, r.ip, bmap.Data, r.e)
}}

func deferRemap(t *live.Trans, k *live.Deferral, ip *inode.Inode, e inode.Extent) {
	t.Defer(k, live.Item{Start: e.Start, Blocks: e.Blocks, More: &remap{ip, e}})
}

// at is the part of a file's extent from a block on, at most n blocks; it has no place in a hole.
func at(ip *inode.Inode, off, n uint64) inode.Extent {
	e, ok := bmap.Lookup(ip, bmap.Data, off)
	switch {
	case !ok || e.Offset >= off+n:
		return inode.Extent{Offset: off, Blocks: geometry.Blocks(n)}
	case e.Offset > off:
		return inode.Extent{Offset: off, Blocks: geometry.Blocks(e.Offset - off)}
	}
	skip := off - e.Offset
	return inode.Extent{
		Offset: off, Start: e.Start + geometry.FSBlock(skip), Blocks: min(e.Blocks-geometry.Blocks(skip), geometry.Blocks(n)),
	}
}

// reflink makes blocks of one file those of another, extent by extent. (xfs_reflink_remap_extent.)
func (b *both) reflink(src, dst *file, from, to, n uint64) {
	for n > 0 {
		e := at(src.ip, from, n)
		held := at(dst.ip, to, uint64(e.Blocks))
		e.Blocks = held.Blocks
		b.remap(src, dst, e, held)
		from, to, n = from+uint64(e.Blocks), to+uint64(e.Blocks), n-uint64(e.Blocks)
	}
}

// remap makes blocks of one file those of another, which has others there, or none.
func (b *both) remap(src, dst *file, e, held inode.Extent) {
	size := uint64(b.fs.G.BlockSize)
	if err := unix.IoctlFileCloneRange(int(dst.f.Fd()), &unix.FileCloneRange{
		Src_fd: int64(src.f.Fd()), Src_offset: e.Offset * size, Src_length: uint64(e.Blocks) * size,
		Dest_offset: held.Offset * size,
	}); err != nil {
		b.t.Fatal(err)
	}
	src.ip.Core.Flags2 |= ondisk.Flag2Reflink
	dst.ip.Core.Flags2 |= ondisk.Flag2Reflink
	e.Offset = held.Offset
	tr := b.trans()
	if held.Start != e.Start {
		if held.Start != 0 {
			deferRemap(tr, &unmapLater, dst.ip, held)
			refcount.DecreaseLater(tr, held.Start, held.Blocks)
		}
		if e.Start != 0 {
			refcount.IncreaseLater(tr, e.Start, e.Blocks)
			deferRemap(tr, &mapLater, dst.ip, e)
		}
	}
	b.commit(tr)
	b.settle(dst, "reflink")
}

// write overwrites blocks, all of which are there, in parts that are shared, or are not.
func (b *both) write(f *file, off, n uint64) {
	for end := off + n; off < end; {
		e, shared := b.trim(f, at(f.ip, off, end-off))
		off = e.End()
		size := int64(b.fs.G.BlockSize)
		if _, err := f.f.WriteAt(b.data[:int64(e.Blocks)*size], int64(e.Offset)*size); err != nil {
			b.t.Fatal(err)
		}
		if shared {
			b.copied(f, e)
		}
		b.settle(f, "write")
	}
}

// copied does what a write of blocks that are shared does: copies of them are staging extents first, and then the
// file's. (xfs_reflink_allocate_cow, and xfs_reflink_end_cow.)
func (b *both) copied(f *file, held inode.Extent) {
	for _, e := range b.stage(nil, held, b.places(f)) {
		held.Start, held.Offset, held.Blocks = held.Start+geometry.FSBlock(e.Offset-held.Offset), e.Offset, e.Blocks
		tr := b.trans()
		deferRemap(tr, &unmapLater, f.ip, held)
		refcount.DecreaseLater(tr, held.Start, held.Blocks)
		refcount.UnstageLater(tr, e.Start, e.Blocks)
		deferRemap(tr, &mapLater, f.ip, e)
		b.commit(tr)
	}
}

// trim cuts an extent to what is shared at its beginning, or else to what is not.
func (b *both) trim(f *file, e inode.Extent) (_ inode.Extent, shared bool) {
	if f.ip.Core.Flags2&ondisk.Flag2Reflink == 0 {
		return e, false
	}
	tr := b.fs.Begin(0)
	agno, agbno := b.fs.G.BlockAddress(e.Start)
	found, err := refcount.Shared(tr, agno, agbno, e.Blocks, true)
	if err != nil {
		b.t.Fatal(err)
	}
	b.commit(tr)
	switch {
	case found.Blocks == 0:
	case found.Start == agbno:
		e.Blocks, shared = found.Blocks, true
	default:
		e.Blocks = geometry.Blocks(found.Start - agbno)
	}
	return e, shared
}

// stage allocates staging extents for a part of a file where the kernel has taken them.
func (b *both) stage(list []inode.Extent, e inode.Extent, places []geometry.FSBlock) []inode.Extent {
	for e.Blocks > 0 {
		part := inode.Extent{Offset: e.Offset, Start: places[e.Offset], Blocks: 1}
		for part.Blocks < e.Blocks && places[part.End()] == part.Start+geometry.FSBlock(part.Blocks) {
			part.Blocks++
		}
		tr := b.trans()
		at, n, ok, err := alloc.Exact(tr, part.Start, alloc.Request{Min: part.Blocks, Max: part.Blocks})
		if err != nil || !ok || n != part.Blocks || at != part.Start {
			b.t.Fatal(part, at, n, ok, err)
		}
		refcount.StageLater(tr, at, n)
		b.commit(tr)
		e.Offset, e.Blocks = part.End(), e.Blocks-part.Blocks
		if k := len(list) - 1; k >= 0 && list[k].End() == part.Offset &&
			list[k].Start+geometry.FSBlock(list[k].Blocks) == part.Start {
			list[k].Blocks += part.Blocks
			continue
		}
		list = append(list, part)
	}
	return list
}

// punch takes blocks away, from the end and extent by extent: what is freed can be had again only when the kernel has
// written its log, and we do not wait for that.
func (b *both) punch(f *file, off, n uint64) {
	const mode = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE
	size := int64(b.fs.G.BlockSize)
	list, err := bmap.Read(nil, f.ip, bmap.Data, off, geometry.Blocks(n))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range slices.Backward(list) {
		if err := unix.Fallocate(int(f.f.Fd()), mode, int64(e.Offset)*size, int64(e.Blocks)*size); err != nil {
			b.t.Fatal(err)
		}
		b.unmap(b.trans(), f, e)
		b.settle(f, "punch")
	}
}

// unmap takes an extent away.
func (b *both) unmap(tr *live.Trans, f *file, e inode.Extent) {
	if _, err := bmap.Unmap(tr, f.ip, bmap.Data, e.Offset, e.Blocks, 0, 2); err != nil {
		b.t.Fatal(err)
	}
	b.commit(tr)
}

// truncate takes all blocks away, and the file shares none then.
func (b *both) truncate(f *file) {
	list := f.ip.Data.Extents
	if len(list) == 0 {
		return
	}
	first := list[0]
	b.punch(f, first.End(), length)
	for _, n := range []int64{0, length * int64(b.fs.G.BlockSize)} {
		if err := f.f.Truncate(n); err != nil {
			b.t.Fatal(err)
		}
	}
	b.unmap(b.fs.Begin(20), f, first)
	f.ip.Core.Flags2 &^= ondisk.Flag2Reflink
	b.settle(f, "truncate")
}

// operate does something.
func (b *both) operate(r *rand.Rand) {
	f := b.files[r.Intn(len(b.files))]
	n := 1 + uint64(r.Intn(1+r.Intn(length)))
	off := uint64(r.Intn(int(length - n + 1)))
	switch r.Intn(10) {
	case 0:
		b.punch(f, off, n)
	case 1:
		if r.Intn(4) == 0 {
			b.truncate(f)
		}
	case 2, 3, 4, 5:
		have := at(f.ip, off, n) // one extent, or more
		for have.Start != 0 && have.End() < off+n {
			more := at(f.ip, have.End(), off+n-have.End())
			if more.Start == 0 {
				break
			}
			have.Blocks += more.Blocks
		}
		if have.Start != 0 {
			b.write(f, off, uint64(have.Blocks))
		}
	default:
		src := b.files[r.Intn(len(b.files))]
		from := uint64(r.Intn(int(length - n + 1)))
		if src != f || from+n <= off || off+n <= from {
			b.reflink(src, f, from, off, n)
		}
	}
}

// What the kernel does with files that share blocks, we do on the blocks of the image before: all trees of the AGs
// end with the same bytes. No file gets a btree of extents, whose block the kernel would take elsewhere than we
// do if one has been freed in the same operation.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		name, options string
		files, count  int
	}{
		{"owners", "-n parent=0", 40, 400},
		{"small blocks", "-b size=1k -n parent=0", 100, 400},
		{"no owners", "-b size=1k -m rmapbt=0 -i exchange=0 -n parent=0", 100, 900},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			image := livetest.Reference(t, 300<<20, strings.Fields(c.options)...)
			b, unmount := begin(t, image, c.files)
			r := rand.New(rand.NewSource(7))
			for range c.count {
				b.operate(r)
			}
			unmount()
			if err := b.fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			wantDev := livetest.Open(t, image)
			kernel := livetest.Load(t, wantDev)
			for agno := range b.fs.G.AGCount {
				sameAG(t, b.fs, kernel, agno)
			}
			if got, want := b.fs.Counts.FreeBlocks, kernel.Counts.FreeBlocks; got != want {
				t.Errorf("%d free blocks, the kernel says %d", got, want)
			}
		})
	}
}

// sameAG compares the AGF, the free list and the trees of an AG, but for which change was the last.
func sameAG(t *testing.T, a, b *live.FS, agno geometry.AGNumber) {
	t.Helper()
	x, y := readAG(t, a, agno), readAG(t, b, agno)
	for f := ondisk.Field32(0); f < 96; f += 4 {
		if v, w := x.agf.Get(f), y.agf.Get(f); v != w {
			t.Errorf("AGF of AG %d: %d at byte %d, want %d", agno, v, f, w)
		}
	}
	if !slices.Equal(x.listed, y.listed) {
		t.Errorf("AGFL of AG %d: %v, want %v", agno, x.listed, y.listed)
	}
	for name, got := range x.trees {
		want := y.trees[name]
		t.Logf("AG %d: %d blocks of the %s", agno, len(got), name)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i].ptr != want[i].ptr || !bytes.Equal(got[i].data, want[i].data) {
				t.Errorf("%s of AG %d: block %d of %d is another, want one of %d", name, agno, i, len(got), len(want))
				break
			}
		}
	}
}
