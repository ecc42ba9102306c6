package da

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// fataler is a test, or a rapid one.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a filesystem with one file that has a tree, whose blocks come from
// a Space in memory.
type world struct {
	fs    *live.FS
	dev   *livetest.Device
	tr    *Tree
	ip    *inode.Inode
	space *space
	s     State
}

// shape is what a world is like.
type shape struct {
	v4        bool
	block     int // of the filesystem
	bytes     int // of a block of the tree
	fork      bmap.ForkID
	nodes     int // entries of a node, 0 for as many as there is room for
	leaves    int // entries of a leaf
	scattered bool
	stubborn  bool
}

const rootAt = 64 // where the tree begins, in filesystem blocks

func newWorld(t testing.TB, sh shape) *world {
	g := livetest.Plan(t, 256<<20, func(s *geometry.Spec) {
		s.Features.CRC = geometry.Given(!sh.v4)
		s.BlockSize = geometry.Given(int64(sh.block))
	})
	w := &world{}
	w.fs, w.dev = livetest.New(t, g)
	w.begin(sh)
	return w
}

// begin makes the tree, of one empty leaf.
func (w *world) begin(sh shape) {
	w.space = &space{next: 100, scattered: sh.scattered, stubborn: sh.stubborn, fail: -1}
	w.ip = inode.New(0x1234)
	l := &leaves{most: sh.leaves}
	w.tr = New(w.fs, Config{
		Name: "test", Fork: sh.fork, Bytes: sh.bytes, Root: rootAt, Leaves: l, Leaf: l.check, Space: w.space,
	})
	l.Tree = w.tr
	if sh.nodes > 0 {
		w.tr.NodeEntries = sh.nodes
	}
	if sh.leaves == 0 {
		l.most = w.tr.NodeEntries
	}
	t := w.fs.Begin(0)
	total := geometry.Blocks(0)
	at, ok, err := w.tr.Grow(t, w.ip, rootAt, &total)
	if at != rootAt || !ok || err != nil {
		panic(fmt.Sprint(at, ok, err))
	}
	if _, err := l.make(t, w.ip, at); err != nil {
		panic(err)
	}
	if sh.fork == bmap.Attr { // whose leaves are never the root when they split
		l.toNode(t, w.ip)
	}
	if err := t.Commit(); err != nil {
		panic(err)
	}
}

// reopen flushes, and forgets what is in memory.
func (w *world) reopen(t fataler) {
	t.Helper()
	if err := w.fs.Cache.Flush(); err != nil {
		t.Fatalf("%v", err)
	}
	if err := w.fs.Cache.Release(); err != nil {
		t.Fatalf("%v", err)
	}
	w.fs.Cache = buffer.New(w.dev, buffer.Config{Device: "test"})
}

// insert enters a record; not if it is there.
func (w *world) insert(r record, twice bool) (ok bool, err error) {
	t := w.fs.Begin(0)
	o := &operation{record: r, twice: twice}
	w.s.Begin(w.tr, t, w.ip, o, r.hash, 0)
	found, err := w.s.Lookup()
	if found || err != nil {
		return false, errors.Join(err, t.Commit())
	}
	last := w.s.Path.Last()
	l := w.tr.Leaves.(*leaves)
	if l.fits(last.Buf, 1) && !twice {
		l.enter(&w.s, last)
		w.s.FixHashes(&w.s.Path)
	} else if fit, err := w.s.Split(); fit != Fits || err != nil {
		return false, err
	}
	return true, t.Commit()
}

// remove removes a record, if it is there.
func (w *world) remove(r record) (ok bool, err error) {
	t := w.fs.Begin(0)
	w.s.Begin(w.tr, t, w.ip, &operation{record: r}, r.hash, 0)
	found, err := w.s.Lookup()
	if !found || err != nil {
		return false, errors.Join(err, t.Commit())
	}
	last := w.s.Path.Last()
	d := w.tr.view(last.Buf)
	d.Entries().Move(last.Index, last.Index+1, d.Count()-last.Index-1)
	d.SetCount(d.Count() - 1)
	w.s.Touch(last.Buf)
	w.s.FixHashes(&w.s.Path)
	if w.s.Path.Depth > 1 {
		if err := w.s.Join(); err != nil {
			return false, err
		}
	}
	return true, t.Commit()
}

// lookup tells whether a record is there.
func (w *world) lookup(r record) (bool, error) {
	t := w.fs.Begin(0)
	w.s.Begin(w.tr, t, w.ip, &operation{record: r}, r.hash, 0)
	found, err := w.s.Lookup()
	return found, errors.Join(err, t.Commit())
}

// record is what leaves of the tests have; operation is one that is looked for.
type record struct{ hash, value uint32 }

type operation struct {
	record
	twice bool // a leaf is too full when it has been split once
}

// leaves are like those of a directory, without stale entries.
type leaves struct {
	*Tree
	most int
}

const testMagic = 0x3df0

func (l *leaves) check(b []byte, off int64) error {
	d := ondisk.DABlock{B: b, V5: l.FS.V5}
	if err := CheckHeader(l.FS, d, off, testMagic); err != nil {
		return err
	}
	if d.Count() > l.most || d.Level() != 0 {
		return fmt.Errorf("%d entries, level %d", d.Count(), d.Level())
	}
	return nil
}

func (l *leaves) make(t *live.Trans, ip *inode.Inode, at Block) (*buffer.Buf, error) {
	b, err := l.Fresh(t, ip, at, l.Index)
	if err == nil {
		l.InitHeader(b, uint64(ip.Ino), testMagic, ondisk.DAHeaderSize(l.FS.V5))
	}
	return b, err
}

// toNode puts a node above the only leaf, as attributes do.
func (l *leaves) toNode(t *live.Trans, ip *inode.Inode) {
	total := geometry.Blocks(0)
	at, ok, err := l.Grow(t, ip, rootAt, &total)
	if !ok || err != nil {
		panic(err)
	}
	if _, err := l.make(t, ip, at); err != nil {
		panic(err)
	}
	root, err := l.Read(t, ip, rootAt)
	if err != nil {
		panic(err)
	}
	l.MakeNode(t, root, uint64(ip.Ino), 1)
	d := l.view(root)
	d.Entries().Put(0, 0, uint32(at))
	d.SetCount(1)
}

func (l *leaves) fits(b *buffer.Buf, n int) bool { return l.view(b).Count()+n <= l.most }

// enter enters the operation's record.
func (l *leaves) enter(s *State, leaf *Step) {
	d, r := l.view(leaf.Buf), s.Op.(*operation).record
	d.Entries().Move(leaf.Index+1, leaf.Index, d.Count()-leaf.Index)
	d.Entries().Put(leaf.Index, r.hash, r.value)
	d.SetCount(d.Count() + 1)
	leaf.Hash = d.Entries().Hash(d.Count() - 1)
	s.Touch(leaf.Buf)
}

func (l *leaves) LastHash(b *buffer.Buf) (hash uint32, any bool) { return nodes{l.Tree}.LastHash(b) }

func (l *leaves) Search(s *State, leaf *Step) (found bool, err error) {
	r := s.Op.(*operation).record
	d := l.view(leaf.Buf)
	i, n := d.Entries().Search(d.Count(), r.hash), d.Count()
	for ; i < n && d.Entries().Hash(i) == r.hash && !found; i++ {
		if found = d.Entries().Value(i) == r.value; found {
			break
		}
	}
	leaf.Index = i
	return found, nil
}

// Split is as that of directories: the upper half moves, and an entry for the place
// between both goes to the lower.
func (l *leaves) Split(s *State, old, added *Step) (Fit, error) {
	at, ok, err := s.GrowIndex()
	if !ok || err != nil {
		return NoRoom, err
	}
	b, err := l.make(s.T, s.IP, at)
	if err != nil {
		return NoRoom, err
	}
	d, upper := l.view(old.Buf), l.view(b)
	n := d.Count()
	upper.Entries().CopyFrom(0, d.Entries(), n-n/2, n/2)
	upper.SetCount(n / 2)
	d.SetCount(n - n/2)
	*added = Step{Buf: b, At: at, Leaf: true}
	if err := s.Link(old, added); err != nil {
		return NoRoom, err
	}
	to := old
	if s.InOld = old.Index <= d.Count(); !s.InOld {
		to = added
		to.Index = old.Index - d.Count()
	}
	o := s.Op.(*operation)
	if !o.twice {
		l.enter(s, to)
	}
	old.Hash, _ = l.LastHash(old.Buf)
	added.Hash, _ = l.LastHash(added.Buf)
	if o.twice {
		o.twice = false
		return TooFull, nil
	}
	return Fits, nil
}

func (l *leaves) Fill(b *buffer.Buf) Fill {
	switch n := l.view(b).Count(); {
	case n == 0:
		return Empty
	case n > l.most/2:
		return Large
	}
	return Small
}

func (l *leaves) Room(a, b *buffer.Buf) bool {
	return l.view(a).Count()+l.view(b).Count() <= l.most-l.most/4
}

func (l *leaves) Unbalance(s *State, drop, keep *Step) error {
	return nodes{l.Tree}.Unbalance(s, drop, keep)
}

// space gives blocks of the first AG in order, or not all together.
type space struct {
	next      geometry.AGBlock
	scattered bool // no two blocks lie together
	stubborn  bool // blocks in the midst of an extent stay
	fail      int  // how many times there is room yet; -1 for always
}

func (sp *space) Map(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks, whole bool,
	_ geometry.Blocks) (geometry.Blocks, error) {
	if sp.fail == 0 || whole && sp.scattered && n > 1 {
		return 0, nil
	}
	if sp.fail > 0 {
		sp.fail--
	}
	if sp.scattered {
		n = max(1, n/2)
		sp.next++
	}
	e := inode.Extent{Offset: off, Start: t.G.FSBlock(0, sp.next), Blocks: n}
	sp.next += geometry.AGBlock(n)
	fork := ip.Fork(f == bmap.Attr)
	i := fork.Search(off)
	if i > 0 && !sp.scattered && fork.Extents[i-1].End() == off &&
		fork.Extents[i-1].Start+geometry.FSBlock(fork.Extents[i-1].Blocks) == e.Start {
		fork.Extents[i-1].Blocks += n
	} else {
		fork.Insert(i, e)
	}
	ip.Core.Blocks += uint64(n)
	return n, nil
}

func (sp *space) Unmap(_ *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks) (bool, error) {
	fork := ip.Fork(f == bmap.Attr)
	for at, left := off, n; left > 0; {
		i, has := fork.Lookup(at)
		if !has {
			return false, fmt.Errorf("block %d is not mapped", at)
		}
		e := fork.Extents[i]
		m := min(left, geometry.Blocks(e.End()-at))
		var rest []inode.Extent
		if before := at - e.Offset; before > 0 {
			rest = append(rest, inode.Extent{Offset: e.Offset, Start: e.Start, Blocks: geometry.Blocks(before)})
		}
		if end := at + uint64(m); end < e.End() {
			rest = append(rest, inode.Extent{
				Offset: end, Start: e.Start + geometry.FSBlock(end-e.Offset), Blocks: geometry.Blocks(e.End() - end),
			})
		}
		if sp.stubborn && len(rest) == 2 {
			return false, nil
		}
		fork.Extents = slices.Replace(fork.Extents, i, i+1, rest...)
		at, left = at+uint64(m), left-m
	}
	ip.Core.Blocks -= uint64(n)
	return true, nil
}
