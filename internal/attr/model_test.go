package attr

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// desk is a file in memory whose attributes are worked on, and whose blocks come from
// a space of its own: each is as far from a place as it is from the start of the fork.
type desk struct {
	t    testing.TB
	fs   *live.FS
	dev  *livetest.Device
	f    *FS
	ino  geometry.Inode
	real bool // blocks are those of the filesystem
	full bool // no more blocks
}

func newDesk(t testing.TB, ask func(*geometry.Spec)) *desk {
	g := livetest.Plan(t, imageSize, ask)
	d := &desk{t: t, ino: g.RootInode()}
	d.fs, d.dev = livetest.New(t, g)
	core := ondisk.Inode{Version: 2, UUID: livetest.UUID, NextUnlinked: geometry.NullAGInode}
	if d.fs.V5 {
		core.Version = 3
	}
	chunk := make([]byte, int(g.InodeSize)*g.ChunkInodes())
	for i := range g.ChunkInodes() {
		b := chunk[i*int(g.InodeSize):][:g.InodeSize]
		core.Mode, core.Nlink = ondisk.ModeRegular, 1
		core.Format, core.AttrFormat = ondisk.FormatExtents, ondisk.FormatExtents
		core.Number = uint64(d.ino) + uint64(i)
		core.Put(b)
		if d.fs.V5 {
			ondisk.Seal(b, ondisk.InodeCRC)
		}
	}
	_, _ = d.dev.WriteAt(chunk, int64(g.Offset(0, g.Root.Start)))
	d.remount()
	return d
}

// remount forgets all that is in memory.
func (d *desk) remount() {
	g := d.fs.G
	cache := buffer.New(d.dev, buffer.Config{
		Device: "test", Limit: 64 << 20, Place: func(off int64) int64 { return off / int64(g.Bytes(g.AGBlocks)) },
	})
	d.fs = &live.FS{G: g, V5: d.fs.V5, UUID: d.fs.UUID, Cache: cache, Counts: d.fs.Counts, Now: d.fs.Now}
	d.f = New(d.fs, nil)
	if !d.real {
		d.f.tree.Space, d.f.space = deskSpace{d}, deskValues{d}
	}
}

type deskSpace struct{ *desk }

func (s deskSpace) Map(t *live.Trans, ip *inode.Inode, _ bmap.ForkID, off uint64, n geometry.Blocks, _ bool,
	_ geometry.Blocks) (geometry.Blocks, error) {
	if s.full {
		return 0, nil
	}
	start := s.fs.G.FSBlock(1, geometry.AGBlock(s.fs.G.AGLength(1)/4))
	for i := range uint64(n) {
		enterBlock(ip, inode.Extent{Offset: off + i, Start: start + geometry.FSBlock(off+i), Blocks: 1})
	}
	ip.Core.Blocks += uint64(n)
	ip.Log(t)
	return n, nil
}

func (s deskSpace) Unmap(t *live.Trans, ip *inode.Inode, _ bmap.ForkID, off uint64, n geometry.Blocks) (bool, error) {
	for i := range uint64(n) {
		if err := removeBlock(ip, off+i); err != nil {
			return false, err
		}
	}
	ip.Core.Blocks -= uint64(n)
	ip.Log(t)
	return true, nil
}

// enterBlock enters an extent of a block into the attribute fork.
func enterBlock(ip *inode.Inode, e inode.Extent) {
	f := &ip.Attr
	i := f.Search(e.Offset)
	f.Insert(i, e)
	for _, k := range []int{i + 1, i} {
		if k > 0 && k < len(f.Extents) && f.Extents[k-1].End() == f.Extents[k].Offset &&
			f.Extents[k-1].Start+geometry.FSBlock(f.Extents[k-1].Blocks) == f.Extents[k].Start {
			f.Extents[k-1].Blocks += f.Extents[k].Blocks
			f.Remove(k, 1)
		}
	}
}

// removeBlock removes a block from the attribute fork.
func removeBlock(ip *inode.Inode, at uint64) error {
	k, ok := ip.Attr.Lookup(at)
	if !ok {
		return fmt.Errorf("block %d is not mapped", at)
	}
	e := ip.Attr.Extents[k]
	ip.Attr.Remove(k, 1)
	if at > e.Offset {
		ip.Attr.Insert(k, inode.Extent{Offset: e.Offset, Start: e.Start, Blocks: geometry.Blocks(at - e.Offset)})
		k++
	}
	if at+1 < e.End() {
		ip.Attr.Insert(k, inode.Extent{Offset: at + 1, Start: e.Start + geometry.FSBlock(at+1-e.Offset),
			Blocks: geometry.Blocks(e.End() - at - 1)})
	}
	return nil
}

type deskValues struct{ *desk }

func (v deskValues) Map(t *live.Trans, ip *inode.Inode, at uint64, n, total geometry.Blocks) (geometry.Blocks, error) {
	return deskSpace(v).Map(t, ip, bmap.Attr, at, n, false, total)
}

func (v deskValues) Unmap(t *live.Trans, ip *inode.Inode, at uint64, n geometry.Blocks) (bool, error) {
	return deskSpace(v).Unmap(t, ip, bmap.Attr, at, n)
}

// makeFork gives the file an attribute fork that begins where that of a new file does.
func (d *desk) makeFork() {
	d.must(func(t *live.Trans, ip *inode.Inode) error {
		ip.ForkOffset = ip.DefaultForkOffset(d.fs)
		ip.Log(t)
		return nil
	})
}

// with does something with the inode in a transaction.
func (d *desk) with(do func(t *live.Trans, ip *inode.Inode) error) error {
	t := d.fs.Begin(0)
	ip, err := inode.Read(t, d.ino)
	if err == nil {
		err = do(t, ip)
	}
	if err == nil {
		err = t.Commit()
	}
	return err
}

// must is with, where nothing may fail.
func (d *desk) must(do func(t *live.Trans, ip *inode.Inode) error) {
	d.t.Helper()
	if err := d.with(do); err != nil {
		d.t.Fatal(err)
	}
}

// all are the attributes, by namespace and name.
func (d *desk) all() map[string]string {
	d.t.Helper()
	all, last := map[string]string{}, uint32(0)
	d.must(func(t *live.Trans, ip *inode.Inode) error {
		return d.f.Each(t, ip, func(a *Attr) error {
			if a.Hash < last {
				return fmt.Errorf("%s: hash %#x is behind %#x", a.Name, a.Hash, last)
			}
			last = a.Hash
			id := fmt.Sprintf("%d:%s", a.Space, a.Name)
			if a.Space == Parent {
				id += fmt.Sprintf(" %x", a.Value)
			}
			if _, twice := all[id]; twice {
				return fmt.Errorf("%s is there twice", id)
			}
			all[id] = string(a.Value)
			return nil
		})
	})
	return all
}

// sound checks all that the fork has: every block is a leaf, a node or one of a value, and in its place.
func (d *desk) sound() {
	d.t.Helper()
	d.must(func(t *live.Trans, ip *inode.Inode) error {
		if isShort(ip) {
			if ip.Core.Blocks != 0 {
				return fmt.Errorf("%d blocks are left", ip.Core.Blocks)
			}
			if ip.ForkOffset != 0 && ip.Attr.Format == ondisk.FormatLocal {
				_, err := list(ip)
				return err
			}
			return nil
		}
		s := survey{d: d, t: t, ip: ip, used: map[uint64]bool{}}
		if err := s.block(0, -1); err != nil {
			return err
		}
		if n := uint64(len(s.used)); n != mappedBlocks(ip) || !d.real && n != ip.Core.Blocks {
			return fmt.Errorf("%d blocks are in use, of %d", n, ip.Core.Blocks)
		}
		return nil
	})
}

// survey goes over all blocks of a fork.
type survey struct {
	d    *desk
	t    *live.Trans
	ip   *inode.Inode
	used map[uint64]bool
	last uint32
}

func (s *survey) use(at uint64) error {
	if s.used[at] {
		return fmt.Errorf("block %d is in use twice", at)
	}
	s.used[at] = true
	return nil
}

func (s *survey) block(at da.Block, level int) error {
	if err := s.use(uint64(at)); err != nil {
		return err
	}
	f := s.d.f
	e, _ := bmap.Lookup(s.ip, bmap.Attr, uint64(at))
	agno, agbno := f.fs.G.BlockAddress(e.Start + geometry.FSBlock(uint64(at)-e.Offset))
	raw := make([]byte, f.tree.Bytes)
	_, _ = s.d.dev.ReadAt(raw, int64(f.fs.G.Offset(agno, agbno)))
	v := ondisk.DABlock{B: raw, V5: f.fs.V5}
	if m := v.Magic(); m == ondisk.DirNodeMagic || m == ondisk.DANodeMagicV4 {
		if level >= 0 && v.Level() != level {
			return fmt.Errorf("block %d is of level %d, not %d", at, v.Level(), level)
		}
		list := v.Entries()
		for i := range v.Count() {
			if err := s.block(da.Block(list.Value(i)), v.Level()-1); err != nil {
				return err
			}
			if s.last != list.Hash(i) {
				return fmt.Errorf("block %d has hash %#x for a block that ends at %#x", at, list.Hash(i), s.last)
			}
		}
		return nil
	}
	l := leaf(raw)
	if level > 0 {
		return fmt.Errorf("block %d is a leaf, not of level %d", at, level)
	}
	l.sound(s.d.t)
	if l.count() == 0 {
		return fmt.Errorf("leaf %d is empty", at)
	}
	for i := range l.count() {
		e := l.entry(i)
		if e.hash() < s.last || e.incomplete() {
			return fmt.Errorf("leaf %d has %#x behind %#x, incomplete: %t", at, e.hash(), s.last, e.incomplete())
		}
		s.last = e.hash()
		if e.local() {
			continue
		}
		for n := range f.blocksOf(l.remote(e).length) {
			if err := s.use(uint64(l.remote(e).at) + uint64(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Whatever is set and removed, the file has that and all its blocks are in order; without the last attribute
// it has no block.
func TestModel(t *testing.T) {
	for seed, c := range []struct {
		block int64
		v5    bool
	}{{1024, true}, {4096, true}, {65536, true}, {1024, false}, {4096, false}} {
		t.Run(fmt.Sprintf("%d,%t", c.block, c.v5), func(t *testing.T) {
			d := newDesk(t, func(s *geometry.Spec) {
				s.BlockSize = geometry.Given(c.block)
				s.Inode.Size = geometry.Given(min(c.block/2, 2048))
				s.Features.CRC = geometry.Given(c.v5)
			})
			r := rand.New(rand.NewSource(int64(seed)))
			model := map[string]string{}
			mixes := []mix{
				{names: 5, sizes: []int{0, 20, 40, 100}}, {names: 300, sizes: []int{0, 20, 100, -60, -200}},
				{names: 100, sizes: []int{0, 10, -20}},
			}
			for i := range 600 {
				d.step(r, mixes[i/100%3], model)
			}
			for id, value := range model {
				d.remove(id)
				delete(model, id)
				_ = value
			}
			d.sound()
			if all := d.all(); len(all) > 0 {
				t.Errorf("%d attributes are left", len(all))
			}
		})
	}
}

func (d *desk) step(r *rand.Rand, m mix, model map[string]string) {
	d.t.Helper()
	there := map[string]bool{}
	for id := range model {
		var c change
		_, _ = fmt.Sscanf(id, "%d:%s", &c.space, &c.name)
		there[fmt.Sprint(c.space, c.name)] = true
	}
	c := m.change(r, d.f.tree.Bytes, there)
	id := fmt.Sprintf("%d:%s", c.space, c.name)
	_, had := model[id]
	want := Done
	switch {
	case c.remove && !had, !c.remove && c.how == Replace && !had:
		want = Missing
	case !c.remove && c.how == Create && had:
		want = Exists
	case c.remove:
		delete(model, id)
	default:
		model[id] = string(c.value)
	}
	var got Result
	d.must(func(_ *live.Trans, ip *inode.Inode) (err error) {
		if c.remove {
			got, err = d.f.Remove(ip, c.space, []byte(c.name))
		} else {
			got, err = d.f.Set(ip, c.space, []byte(c.name), c.value, c.how)
		}
		return err
	})
	if got != want {
		d.t.Fatalf("%v: %d, want %d", c, got, want)
	}
	if err := d.fs.Cache.Flush(); err != nil {
		d.t.Fatal(err)
	}
	d.sound()
	if r.Intn(20) > 0 {
		return
	}
	if r.Intn(2) == 0 {
		d.remount()
	}
	all := d.all()
	for id, value := range model {
		if all[id] != value {
			d.t.Fatalf("%v: %s has another value", c, id)
		}
	}
	if len(all) != len(model) {
		d.t.Fatalf("%v: %d attributes, want %d", c, len(all), len(model))
	}
}

func (d *desk) remove(id string) {
	d.t.Helper()
	var c change
	_, _ = fmt.Sscanf(id, "%d:%s", &c.space, &c.name)
	d.must(func(_ *live.Trans, ip *inode.Inode) error {
		r, err := d.f.Remove(ip, c.space, []byte(c.name))
		if r != Done {
			return fmt.Errorf("%s is not there", id)
		}
		return err
	})
	if err := d.fs.Cache.Flush(); err != nil {
		d.t.Fatal(err)
	}
}

// Without room nothing is changed, and where room that was promised is not there the operation fails.
func TestNoRoom(t *testing.T) {
	d := newDesk(t, nil)
	set := func(name string, size int) (r Result, err error) {
		err = d.with(func(_ *live.Trans, ip *inode.Inode) (err error) {
			r, err = d.f.Set(ip, User, []byte(name), make([]byte, size), Upsert)
			return err
		})
		return r, err
	}
	if d.fs.Attrs {
		t.Error("there are attributes before the first")
	}
	if r, err := set("small", 10); r != Done || err != nil || !d.fs.Attrs {
		t.Fatalf("%d, %v, attributes: %t", r, err, d.fs.Attrs)
	}
	if err := d.fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	free := d.fs.Counts.FreeBlocks
	d.fs.Counts.FreeBlocks = 3
	if r, err := set("other", 20000); r != NoRoom || err != nil {
		t.Errorf("of 3 blocks: %d, %v", r, err)
	}
	d.must(func(_ *live.Trans, ip *inode.Inode) error {
		r, err := d.f.Remove(ip, User, []byte("small"))
		if r != NoRoom {
			t.Errorf("removed with 3 blocks: %d", r)
		}
		return err
	})
	d.fs.Counts.FreeBlocks, d.full = free, true
	for _, size := range []int{200, 2000, 20000} {
		d.remount()
		if r, err := set("large", size); err == nil && size > 200 {
			t.Errorf("%d bytes on a full device: %d", size, r)
		}
	}
	d.full = false
	d.remount()
	if all := d.all(); all["0:small"] != string(make([]byte, 10)) {
		t.Errorf("left are %q", all)
	}
}

// Names and values have limits.
func TestSetErrors(t *testing.T) {
	d := newDesk(t, nil)
	for _, c := range []struct {
		name string
		size int
		bad  bool
	}{
		{"", 1, true}, {"a\x00b", 1, true}, {strings.Repeat("n", 255), 1, false}, {strings.Repeat("n", 256), 1, true},
		{"n", 64 << 10, false}, {"n", 64<<10 + 1, true},
	} {
		err := d.with(func(_ *live.Trans, ip *inode.Inode) error {
			_, err := d.f.Set(ip, User, []byte(c.name), make([]byte, c.size), Upsert)
			return err
		})
		if (err != nil) != c.bad {
			t.Errorf("a name of %d and %d bytes: %v", len(c.name), c.size, err)
		}
	}
}

// A list has 255 attributes at most, whose names and values have 254 bytes at most, however large the inode is.
func TestListLimits(t *testing.T) {
	d := newDesk(t, func(s *geometry.Spec) { s.Inode.Size = geometry.Given[int64](2048) })
	form := func(space Space, name string, size int) (short bool) {
		d.must(func(t *live.Trans, ip *inode.Inode) error {
			_, err := d.f.Set(ip, space, []byte(name), make([]byte, size), Create)
			short = isShort(ip)
			return err
		})
		return short
	}
	for _, c := range []struct {
		name, value int
		short       bool
	}{{1, 254, true}, {1, 255, false}, {254, 0, true}, {255, 0, false}} {
		name := strings.Repeat("n", c.name)
		if got := form(User, name, c.value); got != c.short {
			t.Errorf("a name of %d and a value of %d bytes: in a list: %t", c.name, c.value, got)
		}
		d.remove("0:" + name)
	}
	for i := range 260 {
		if got := form([]Space{User, Root, Secure}[i%3], string(rune('!'+i/3)), 0); got != (i < 255) {
			t.Fatalf("%d attributes: in a list: %t", i+1, got)
		}
	}
	if n := len(d.all()); n != 260 {
		t.Errorf("%d attributes", n)
	}
}

// Beside the btree of a file's data an empty list stays.
func TestLastBesideBtree(t *testing.T) {
	d := newDesk(t, func(s *geometry.Spec) { s.Features.Parent = geometry.Given(false) })
	for format, stays := range map[ondisk.Format]bool{ondisk.FormatExtents: false, ondisk.FormatBtree: true} {
		ip := inode.New(d.ino)
		ip.Data.Format, ip.ForkOffset = format, ip.DefaultForkOffset(d.fs)
		makeList(ip)
		o := d.f.op(ip, User, []byte("name"), nil)
		o.appendItem(ip.ForkOffset, User, []byte("name"), nil)
		o.t = d.fs.Begin(0)
		if _, err := removeShort(o); err != nil {
			t.Fatal(err)
		}
		if got := ip.ForkOffset != 0; got != stays {
			t.Errorf("form %d: the fork stays: %t", format, got)
		}
	}
}

// What an operation reserves: for each level of the index a block and those of a new mapping, twice where a leaf may
// split twice, and the blocks of the value.
func TestReserve(t *testing.T) {
	d := newDesk(t, nil)
	levels := geometry.Blocks(bmap.MaxLevels(d.fs, bmap.Attr) - 1)
	for _, c := range []struct {
		value int
		want  geometry.Blocks
		local bool
	}{
		{100, 5 + 5*levels, true}, {2037, 5 + 5*levels, true}, {2041, 2 * (5 + 5*levels), true},
		{3061, 5 + 5*levels + 1 + levels, false}, {MaxValue, 5 + 5*levels + 17 + levels, false},
	} {
		if n, local := d.f.reserve(8, c.value); n != c.want || local != c.local {
			t.Errorf("%d bytes: %d, %t, want %d", c.value, n, local, c.want)
		}
	}
	if n := d.f.removeReserve(); n != 5*levels {
		t.Errorf("to remove: %d, want %d", n, 5*levels)
	}
}

// A block of a value that is not the right part of it is found.
func TestDamagedValue(t *testing.T) {
	d := newDesk(t, nil)
	value := make([]byte, 9000)
	d.must(func(_ *live.Trans, ip *inode.Inode) error {
		_, err := d.f.Set(ip, User, []byte("name"), value, Upsert)
		return err
	})
	if err := d.fs.Cache.Flush(); err != nil {
		t.Fatal(err)
	}
	place := int64(d.fs.G.Offset(1, geometry.AGBlock(d.fs.G.AGLength(1)/4+2))) // the second block of the value
	good := d.dev
	for name, change := range map[string]func(b []byte){
		"as it was":      func([]byte) {},
		"offset":         func(b []byte) { b[7] ^= 4 },
		"length":         func(b []byte) { b[11] ^= 4 },
		"magic number":   func(b []byte) { b[0]++ },
		"owner":          func(b []byte) { b[39]++ },
		"place":          func(b []byte) { b[47]++ },
		"filesystem":     func(b []byte) { b[20]++ },
		"beyond the end": func(b []byte) { b[4] = 1 },
		"beyond a block": func(b []byte) { b[8] = 1 },
	} {
		d.dev = good.Clone()
		b := make([]byte, d.fs.G.BlockSize)
		_, _ = d.dev.ReadAt(b, place)
		change(b)
		ondisk.Seal(b, ondisk.AttrBlockCRC)
		_, _ = d.dev.WriteAt(b, place)
		d.remount()
		err := d.with(func(t *live.Trans, ip *inode.Inode) error {
			_, found, err := d.f.Get(t, ip, User, []byte("name"), nil)
			if !found && err == nil {
				err = fmt.Errorf("not found")
			}
			return err
		})
		if (err == nil) != (name == "as it was") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
