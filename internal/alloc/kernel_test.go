package alloc

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/rmap"
)

// file is a file whose blocks are allocated by the kernel and by us.
type file struct {
	f       *os.File
	ip      inode.Inode
	extents []livetest.Mapped // ours
}

// both does the same with a filesystem in the kernel and with ours.
type both struct {
	t     *testing.T
	fs    *live.FS
	dir   *os.File
	files []*file

	longest geometry.Blocks // that the last allocation has found
}

// begin makes empty files on an image, takes that for ours, and mounts it again.
func begin(t *testing.T, image string, files int) (*both, func()) {
	t.Helper()
	dir, unmount := livetest.Mount(t, image)
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unmount()
	before := filepath.Join(t.TempDir(), "before")
	data, err := os.ReadFile(image)
	if err == nil {
		err = os.WriteFile(before, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &both{t: t, fs: livetest.Load(t, livetest.Open(t, before))}
	if err := SetAside(b.fs); err != nil {
		t.Fatal(err)
	}
	dir, unmount = livetest.Mount(t, image)
	open := func(path string, flag int) *os.File {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	b.dir = open(dir, os.O_RDONLY)
	for i := range files {
		f := &file{f: open(filepath.Join(dir, fmt.Sprint(i)), os.O_RDWR)}
		var s unix.Stat_t
		if err := unix.Fstat(int(f.f.Fd()), &s); err != nil {
			t.Fatal(err)
		}
		f.ip.Ino = geometry.Inode(s.Ino)
		b.files = append(b.files, f)
	}
	return b, func() {
		for _, f := range b.files {
			f.f.Close()
		}
		b.dir.Close()
		unmount()
	}
}

// commit ends our transaction, and waits until the kernel may use again what it has freed.
func (b *both) commit(tr *live.Trans) {
	b.t.Helper()
	if err := tr.Commit(); err != nil {
		b.t.Fatal(err)
	}
	if err := unix.Syncfs(int(b.dir.Fd())); err != nil {
		b.t.Fatal(err)
	}
}

// compare compares the extents of a file.
func (b *both) compare(f *file) {
	b.t.Helper()
	if got, want := f.extents, livetest.FileExtents(b.t, b.fs.G, f.f); !slices.Equal(got, want) {
		b.t.Fatalf("inode %d has %v, and the kernel's %v", f.ip.Ino, got, want)
	}
}

// add adds an extent to our list of those of a file.
func (f *file) add(e livetest.Mapped) {
	if n := len(f.extents); n > 0 {
		last := &f.extents[n-1]
		if last.Offset+uint64(last.Blocks) == e.Offset && last.Start+geometry.FSBlock(last.Blocks) == e.Start &&
			last.Unwritten == e.Unwritten {
			last.Blocks += e.Blocks
			return
		}
	}
	f.extents = append(f.extents, e)
}

// fallocate gives an empty file blocks.
func (b *both) fallocate(f *file, n geometry.Blocks) {
	g := b.fs.G
	if err := unix.Fallocate(int(f.f.Fd()), 0, 0, int64(g.Bytes(n))); err != nil {
		b.t.Fatal(err)
	}
	agno, agino := g.InodeAddress(f.ip.Ino)
	home := g.FSBlock(agno, geometry.AGBlock(agino>>g.InodeBlockLog()))
	near := home
	for offset := geometry.Blocks(0); offset < n; {
		tr := b.fs.Begin(0)
		at, blocks := b.allocate(tr, near, offset, n-offset)
		e := livetest.Mapped{Offset: uint64(offset), Start: at, Blocks: blocks, Unwritten: true}
		MapLater(tr, &f.ip, false, inode.Extent(e))
		b.commit(tr)
		f.add(e)
		offset += blocks
		near = at + geometry.FSBlock(blocks)
		if _, agbno := g.BlockAddress(near); geometry.Blocks(agbno) >= g.AGBlocks {
			near = home
		}
	}
	b.compare(f)
}

// allocate asks for blocks as xfs_bmap_btalloc does: as many as are in one piece in the
// first AG that has all, else the most that any has; else fewer.
func (b *both) allocate(tr *live.Trans, near geometry.FSBlock, offset, n geometry.Blocks) (
	geometry.FSBlock, geometry.Blocks) {
	g := b.fs.G
	r := Request{Max: n, MinLeft: 1, UserData: true}
	if page := geometry.Blocks(4096 / g.BlockSize); page > 1 {
		r.Prod = page
		r.Mod = (page - offset%page) % page
	}
	b.longest = 0
	first, _ := g.BlockAddress(near)
	for i := range g.AGCount {
		long, err := Longest(tr, (first+i)%g.AGCount, ReserveNone)
		if err != nil {
			b.t.Fatal(err)
		}
		if b.longest = max(b.longest, long); b.longest >= n {
			break
		}
	}
	r.Min = max(1, min(n, b.longest))
	if unit := g.StripeUnit; unit > 0 && n >= unit {
		if at, blocks, ok := b.aligned(tr, near, &r, offset > 0); ok {
			return at, blocks
		}
	}
	at, blocks, ok, err := StartAG(tr, near, r)
	if err == nil && !ok && r.Min > 1 {
		r.Min = 1
		at, blocks, ok, err = StartAG(tr, near, r)
	}
	if err != nil || !ok {
		b.t.Fatalf("%+v near %#x: %v, %v", r, near, ok, err)
	}
	return at, blocks
}

// aligned asks for blocks at the end of a file on a striped device: right behind those
// before, else at a stripe unit (xfs_bmap_btalloc_at_eof). The request keeps the length.
func (b *both) aligned(tr *live.Trans, near geometry.FSBlock, r *Request, more bool) (
	geometry.FSBlock, geometry.Blocks, bool) {
	long, unit := b.longest, b.fs.G.StripeUnit
	if more {
		next := r.Min
		if long > unit && long <= r.Max {
			next = long - unit
		}
		exact := *r
		if next+unit > r.Min+1 {
			exact.AlignSlop = next + unit - r.Min - 1
		}
		at, blocks, ok, err := Exact(tr, near, exact)
		if err != nil {
			b.t.Fatal(err)
		}
		if ok {
			return at, blocks, true
		}
		r.Min = next
	} else if long > unit && long <= r.Max+unit {
		r.Min = long - unit
	}
	r.Align = unit
	at, blocks, ok, err := StartAG(tr, near, *r)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Align = 1
	return at, blocks, ok
}

// truncate takes all blocks of a file, from the end, up to two extents at a time.
func (b *both) truncate(f *file) {
	if err := f.f.Truncate(0); err != nil {
		b.t.Fatal(err)
	}
	for len(f.extents) > 0 {
		tr := b.fs.Begin(0)
		for i := 0; i < 2 && len(f.extents) > 0; i++ {
			last := len(f.extents) - 1
			b.unmap(tr, f, f.extents[last])
			f.extents = f.extents[:last]
		}
		b.commit(tr)
	}
}

func (b *both) unmap(tr *live.Trans, f *file, e livetest.Mapped) {
	UnmapLater(tr, &f.ip, false, inode.Extent(e))
	FreeLater(tr, e.Start, e.Blocks, rmap.Owner{}, ReserveNone)
}

// punch takes blocks out of an extent of a file.
func (b *both) punch(f *file, i int, from, to geometry.Blocks) {
	g, e := b.fs.G, f.extents[i]
	const mode = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE
	off := int64(g.Bytes(geometry.Blocks(e.Offset) + from))
	if err := unix.Fallocate(int(f.f.Fd()), mode, off, int64(g.Bytes(to-from))); err != nil {
		b.t.Fatal(err)
	}
	tr := b.fs.Begin(0)
	b.unmap(tr, f, cut(e, from, to))
	b.commit(tr)
	f.replace(i, cut(e, 0, from), cut(e, to, e.Blocks))
	b.compare(f)
}

// cut is a part of an extent.
func cut(e livetest.Mapped, from, to geometry.Blocks) livetest.Mapped {
	e.Offset, e.Start, e.Blocks = e.Offset+uint64(from), e.Start+geometry.FSBlock(from), to-from
	return e
}

// replace puts parts in the place of an extent.
func (f *file) replace(i int, parts ...livetest.Mapped) {
	list := slices.Replace(slices.Clone(f.extents), i, i+1, parts...)
	f.extents = nil
	for _, e := range list {
		if e.Blocks > 0 {
			f.add(e)
		}
	}
}

// write writes blocks of an unwritten extent of a file, which is converted with that.
func (b *both) write(f *file, i int, from, to geometry.Blocks) {
	g, e := b.fs.G, f.extents[i]
	off := int64(g.Bytes(geometry.Blocks(e.Offset) + from))
	if _, err := f.f.WriteAt(make([]byte, g.Bytes(to-from)), off); err != nil {
		b.t.Fatal(err)
	}
	if err := f.f.Sync(); err != nil {
		b.t.Fatal(err)
	}
	done := cut(e, from, to)
	done.Unwritten = false
	tr := b.fs.Begin(0)
	ConvertLater(tr, &f.ip, false, inode.Extent(done))
	b.commit(tr)
	f.replace(i, cut(e, 0, from), done, cut(e, to, e.Blocks))
	b.compare(f)
}

// operate does something with a file: gives it blocks, or takes all or some of those it has.
func (b *both) operate(r *rand.Rand, most int) {
	f := b.files[r.Intn(len(b.files))]
	switch {
	case len(f.extents) == 0:
		if r.Intn(20) == 0 {
			most *= 8
		}
		n := geometry.Blocks(1 + r.Intn(1+r.Intn(most)))
		b.fallocate(f, min(n, 3*max(b.longest, 1))) // not more extents than an inode holds
	case len(f.extents) > 5 || r.Intn(3) == 0:
		b.truncate(f)
	default:
		i := r.Intn(len(f.extents))
		n := int(f.extents[i].Blocks)
		from := r.Intn(n)
		change := b.punch
		if f.extents[i].Unwritten && r.Intn(2) == 0 {
			change = b.write
		}
		if r.Intn(4) == 0 {
			change(f, i, 0, geometry.Blocks(n)) // all of it
			return
		}
		change(f, i, geometry.Blocks(from), geometry.Blocks(from+1+r.Intn(n-from)))
	}
}

// What the kernel does with files, we do on the blocks of the image before: the same blocks
// are taken, and the trees end with the same bytes.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		name, options string
		files, most   int
	}{
		{"owners", "", 300, 100},
		{"small blocks", "-b size=1024", 500, 500},
		{"small blocks, no owners", "-b size=1024 -m rmapbt=0,reflink=0,finobt=0", 500, 650},
		{"striped", "-d sunit=64,swidth=256", 300, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, env := range []string{"TEST_DIR", "TEST_DEV", "QA_CHECK_FS"} { // a small filesystem
				t.Setenv(env, "1")
			}
			args := append(strings.Fields(c.options), "-d", "agcount=2")
			image := livetest.Reference(t, 80<<20, args...)
			b, unmount := begin(t, image, c.files)
			r := rand.New(rand.NewSource(7))
			for range 5 * c.files {
				b.operate(r, c.most)
			}
			unmount()
			if err := b.fs.Cache.Flush(); err != nil {
				t.Fatal(err)
			}
			kernel := livetest.Load(t, livetest.Open(t, image))
			for agno := range b.fs.G.AGCount {
				s := check(t, b.fs, agno)
				t.Logf("AG %d: %d free extents, %d records of owners", agno, len(s.free), len(s.owners))
				sameTrees(t, b.fs, kernel, agno)
			}
			if got, want := b.fs.Counts.FreeBlocks, kernel.Counts.FreeBlocks; got != want {
				t.Errorf("%d free blocks, the kernel says %d", got, want)
			}
		})
	}
}
