package alloc

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// tb is what tests and property tests have in common.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// piece is an extent that was allocated.
type piece struct {
	at     geometry.FSBlock
	blocks geometry.Blocks
	owner  rmap.Owner
}

// model is a filesystem with what was allocated of it.
type model struct {
	t      tb
	fs     *live.FS
	rand   *rand.Rand
	pieces []piece
	used   []map[geometry.AGBlock]bool // by AG
	free   geometry.Blocks
	next   uint64 // owner
}

func newModel(t tb, fs *live.FS, seed int64) *model {
	m := &model{t: t, fs: fs, rand: rand.New(rand.NewSource(seed)), free: fs.Counts.FreeBlocks, next: 1 << 20}
	for range fs.G.AGCount {
		m.used = append(m.used, map[geometry.AGBlock]bool{})
	}
	return m
}

// randBlocks is from 1 to most, small ones more often.
func (m *model) randBlocks(most int) geometry.Blocks {
	return geometry.Blocks(1 + m.rand.Intn(1+m.rand.Intn(most)))
}

// allocate asks for something, and checks what it gets.
func (m *model) allocate() {
	g := m.fs.G
	m.next++
	r := Request{
		Max: m.randBlocks(64), Align: geometry.Blocks(max(1, m.rand.Intn(20)-12)), UserData: m.rand.Intn(2) == 0,
		MinLeft: geometry.Blocks(m.rand.Intn(3)),
		Owner:   rmap.Owner{Owner: m.next, Offset: uint64(m.rand.Intn(1000)), Unwritten: m.rand.Intn(2) == 0},
	}
	r.Min = 1 + geometry.Blocks(m.rand.Intn(int(r.Max)))
	if m.rand.Intn(4) == 0 {
		r.Prod = m.randBlocks(8)
		r.Mod = geometry.Blocks(m.rand.Intn(int(r.Prod)))
	}
	at := g.FSBlock(geometry.AGNumber(m.rand.Intn(int(g.AGCount))), geometry.AGBlock(m.rand.Intn(int(g.AGBlocks))))
	agno, agbno := g.BlockAddress(at)
	ways := []func(tr *live.Trans) (geometry.FSBlock, geometry.Blocks, bool, error){
		func(tr *live.Trans) (geometry.FSBlock, geometry.Blocks, bool, error) { return Near(tr, at, r) },
		func(tr *live.Trans) (geometry.FSBlock, geometry.Blocks, bool, error) {
			r.From = geometry.AGBlock(m.rand.Intn(int(g.AGBlocks)))
			r.To = r.From + geometry.AGBlock(m.rand.Intn(int(g.AGBlocks)-int(r.From)))
			r.To = max(r.To/geometry.AGBlock(r.Align)*geometry.AGBlock(r.Align), r.From)
			return Near(tr, at, r)
		},
		func(tr *live.Trans) (geometry.FSBlock, geometry.Blocks, bool, error) {
			r.Align = 1
			return Exact(tr, at, r)
		},
		func(tr *live.Trans) (geometry.FSBlock, geometry.Blocks, bool, error) { return ThisAG(tr, agno, r) },
		func(tr *live.Trans) (geometry.FSBlock, geometry.Blocks, bool, error) { return StartAG(tr, at, r) },
	}
	way := m.rand.Intn(len(ways))
	tr := m.fs.Begin(0)
	got, n, ok, err := ways[way](tr)
	if err != nil {
		m.t.Fatalf("%+v at %d of AG %d, way %d: %v", r, agbno, agno, way, err)
	}
	m.commit(tr)
	if !ok {
		return
	}
	gotAG, gotBlock := g.BlockAddress(got)
	switch {
	case n < r.Min || n > r.Max:
		m.t.Errorf("%+v gives %d blocks", r, n)
	case geometry.Blocks(gotBlock)%r.Align != 0:
		m.t.Errorf("%+v gives blocks at %d", r, gotBlock)
	case way < 4 && gotAG != agno || way == 2 && got != at:
		m.t.Errorf("way %d gives %d of AG %d, and not %d of %d", way, gotBlock, gotAG, agbno, agno)
	case way == 1 && (gotBlock < r.From || gotBlock > r.To && r.To != r.From):
		m.t.Errorf("%d is not from %d to %d", gotBlock, r.From, r.To)
	}
	for b := gotBlock; b < gotBlock+geometry.AGBlock(n); b++ {
		if m.used[gotAG][b] {
			m.t.Fatalf("%+v at %d of AG %d gives block %d again", r, agbno, agno, b)
		}
		m.used[gotAG][b] = true
	}
	m.free -= n
	m.pieces = append(m.pieces, piece{got, n, r.Owner})
}

// release frees a part of what was allocated, or all if whole.
func (m *model) release(whole bool) {
	if len(m.pieces) == 0 {
		return
	}
	i := m.rand.Intn(len(m.pieces))
	p := m.pieces[i]
	m.pieces = slices.Delete(m.pieces, i, i+1)
	from, to := geometry.Blocks(0), p.blocks
	if !whole && m.rand.Intn(2) == 0 {
		from = geometry.Blocks(m.rand.Intn(int(p.blocks)))
		to = from + 1 + geometry.Blocks(m.rand.Intn(int(p.blocks-from)))
	}
	part := func(from, to geometry.Blocks) piece {
		q := piece{p.at + geometry.FSBlock(from), to - from, p.owner}
		q.owner.Offset += uint64(from)
		return q
	}
	for _, rest := range []piece{part(0, from), part(to, p.blocks)} {
		if rest.blocks > 0 {
			m.pieces = append(m.pieces, rest)
		}
	}
	gone := part(from, to)
	agno, agbno := m.fs.G.BlockAddress(gone.at)
	tr := m.fs.Begin(0)
	if err := Free(tr, agno, agbno, gone.blocks, gone.owner, ReserveNone); err != nil {
		m.t.Fatal(err)
	}
	m.commit(tr)
	for b := agbno; b < agbno+geometry.AGBlock(gone.blocks); b++ {
		delete(m.used[agno], b)
	}
	m.free += gone.blocks
}

// convert makes a part of what was allocated written, or unwritten. It is a piece of its own
// then, which others do not go on in.
func (m *model) convert() {
	if len(m.pieces) == 0 {
		return
	}
	i := m.rand.Intn(len(m.pieces))
	p := m.pieces[i]
	from := geometry.Blocks(m.rand.Intn(int(p.blocks)))
	to := from + 1 + geometry.Blocks(m.rand.Intn(int(p.blocks-from)))
	o := p.owner
	o.Offset += uint64(from)
	o.Unwritten = !o.Unwritten
	agno, agbno := m.fs.G.BlockAddress(p.at + geometry.FSBlock(from))
	tr := m.fs.Begin(0)
	if err := FixFreeList(tr, agno); err != nil {
		m.t.Fatal(err)
	}
	if err := rmap.Convert(tr, agno, agbno, to-from, o); err != nil {
		m.t.Fatal(err)
	}
	m.commit(tr)
	m.pieces = slices.Delete(m.pieces, i, i+1)
	for _, q := range []struct {
		from, to  geometry.Blocks
		unwritten bool
	}{{0, from, p.owner.Unwritten}, {from, to, o.Unwritten}, {to, p.blocks, p.owner.Unwritten}} {
		if q.to > q.from {
			part := piece{p.at + geometry.FSBlock(q.from), q.to - q.from, p.owner}
			part.owner.Offset += uint64(q.from)
			part.owner.Unwritten = q.unwritten
			m.pieces = append(m.pieces, part)
		}
	}
}

func (m *model) commit(tr *live.Trans) {
	m.t.Helper()
	if err := tr.Commit(); err != nil {
		m.t.Fatal(err)
	}
}

// check compares the filesystem with the model.
func (m *model) check() {
	m.t.Helper()
	if m.fs.Counts.FreeBlocks != m.free {
		m.t.Errorf("%d free blocks, want %d", m.fs.Counts.FreeBlocks, m.free)
	}
	var total geometry.Blocks
	for agno := range m.fs.G.AGCount {
		s := check(m.t, m.fs, agno)
		for _, e := range s.free {
			total += e.Blocks
			for b := e.Start; b < e.End(); b++ {
				if m.used[agno][b] {
					m.t.Errorf("block %d of AG %d is in use, and free", b, agno)
				}
			}
		}
		total += geometry.Blocks(len(s.list))
		tr := m.fs.Begin(0)
		g, err := open(tr, agno)
		if err != nil {
			m.t.Fatal(err)
		}
		total += geometry.Blocks(g.Get(ondisk.AGFBtreeBlocks))
		m.commit(tr)
		m.checkOwners(agno, s.owners)
	}
	if total != m.free {
		m.t.Errorf("AGs have %d free blocks, want %d", total, m.free)
	}
}

// checkOwners compares files' records with what was allocated.
func (m *model) checkOwners(agno geometry.AGNumber, owners []ondisk.RmapRecord) {
	m.t.Helper()
	if !m.fs.G.Features.Rmapbt {
		return
	}
	want := map[ondisk.RmapRecord]bool{} // by block
	for _, p := range m.pieces {
		ag, agbno := m.fs.G.BlockAddress(p.at)
		for i := range p.blocks {
			if ag == agno {
				offset := p.owner.Offset + uint64(i)
				if p.owner.Unwritten {
					offset |= ondisk.RmapUnwritten
				}
				want[ondisk.RmapRecord{Start: uint32(agbno) + uint32(i), Blocks: 1, Owner: p.owner.Owner, Offset: offset}] = true
			}
		}
	}
	n := 0
	for _, r := range owners {
		for i := range r.Blocks {
			if r.Owner>>63 != 0 {
				continue
			}
			n++
			one := ondisk.RmapRecord{Start: r.Start + i, Blocks: 1, Owner: r.Owner, Offset: r.Offset + uint64(i)}
			if !want[one] {
				m.t.Errorf("owner %+v of AG %d is not expected", one, agno)
			}
		}
	}
	if n != len(want) {
		m.t.Errorf("%d blocks of files, want %d", n, len(want))
	}
}

// operate does so many operations at random, of which so many in ten free something, and
// checks everything from time to time.
func (m *model) operate(n, frees, every int) {
	for i := range n {
		switch {
		case m.rand.Intn(10) == 0:
			m.convert()
		case m.rand.Intn(10) < frees:
			m.release(false)
		default:
			m.allocate()
		}
		if i%every == every-1 {
			m.check()
		}
	}
	m.check()
}

// empty frees everything.
func (m *model) empty() {
	for len(m.pieces) > 0 {
		m.release(true)
	}
	m.check()
}

func small(t testing.TB, name string, ask func(*geometry.Spec)) *live.FS {
	size := geometry.Bytes(40 << 20)
	if name == "large blocks" {
		size = 320 << 20
	}
	g := livetest.Plan(t, size, func(s *geometry.Spec) {
		s.Data.AGCount = geometry.Given[int64](2)
		if ask != nil {
			ask(s)
		}
	})
	fs, _ := livetest.New(t, g)
	return fs
}

// What is allocated is free before, and within what was asked for; all structures agree
// at any time; and when all is freed all is as free as before.
func TestModel(t *testing.T) {
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				m := newModel(rt, small(t, c.name, c.ask), rapid.Int64().Draw(rt, "seed"))
				m.operate(rapid.IntRange(1, 400).Draw(rt, "operations"), rapid.IntRange(1, 6).Draw(rt, "frees in 10"), 100)
				m.empty()
			})
		})
	}
}

// Trees of several levels grow and shrink, and AGs are full at times.
func TestFull(t *testing.T) {
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			m := newModel(t, small(t, c.name, c.ask), 1)
			for range 3 {
				m.operate(2500, 1, 1000)
				m.operate(2500, 6, 1000)
			}
			for agno := range m.fs.G.AGCount {
				s := check(t, m.fs, agno)
				t.Logf("AG %d: %d free extents, %d records of owners", agno, len(s.free), len(s.owners))
			}
			m.empty()
		})
	}
}
