package dir_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mkfs/internal/bmap"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
)

// scarce is a Space that gives nothing the n-th time, or from then on.
type scarce struct {
	da.Space
	n     int
	after bool
}

func (s *scarce) Map(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks, whole bool,
	total geometry.Blocks) (geometry.Blocks, error) {
	if s.n--; s.n == 0 || s.after && s.n < 0 {
		return 0, nil
	}
	return s.Space.Map(t, ip, f, off, n, whole, total)
}

// needs tells whether an operation needs blocks, by trying it without any: then nothing may change.
func (m *made) needs(t *testing.T, do func(m *made, tr *live.Trans, total geometry.Blocks) (bool, error)) bool {
	t.Helper()
	data := m.root.Data
	data.Local, data.Extents = slices.Clone(data.Local), slices.Clone(data.Extents)
	core, changes := m.root.Core, m.fs.Cache.Stats().Changes
	tr := m.fs.Begin(0)
	ok, err := do(m, tr, 0)
	must(t, err)
	must(t, tr.Commit())
	if !ok && (m.root.Core != core || m.fs.Cache.Stats().Changes != changes || m.root.Data.Format != data.Format ||
		!bytes.Equal(m.root.Data.Local, data.Local) || !slices.Equal(m.root.Data.Extents, data.Extents)) {
		t.Fatalf("there is no room, and the directory has changed")
	}
	return !ok
}

// starve does an operation that needs blocks, and fails each time that it asks for some. There is no room then, and
// nothing is written.
func (m *made) starve(t *testing.T, do func(m *made, tr *live.Trans, total geometry.Blocks) (bool, error)) (times int) {
	t.Helper()
	const most = 100
	must(t, m.fs.Cache.Flush())
	for n := 2; ; n++ {
		c, s := m.again(t), &scarce{n: n / 2, after: n%2 > 0}
		c.dirs.SetSpace(func(d da.Space) da.Space { s.Space = d; return s })
		ok, err := do(c, c.fs.Begin(most), most)
		must(t, err)
		if s.n > 0 {
			if !ok {
				t.Fatalf("no room, after %d times", n/2)
			}
			return n/2 - 1
		}
		// A block may be had in pieces where it is not to be had whole.
		if pieces := m.fs.G.DirBlockSize > m.fs.G.BlockSize && !s.after; ok != pieces {
			t.Fatalf("room %v, though there was none at time %d", ok, n/2)
		}
		if c.fs.Cache.Stats().Writes > 0 {
			t.Fatalf("time %d: something is written", n)
		}
	}
}

// Where there is no room for an entry, at whichever of the blocks that it needs, that is told, in all conversions of one
// form to another. With no blocks allowed nothing is changed with that.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	for _, c := range filesystems {
		t.Run(c.name, func(t *testing.T) {
			m := newRoot(t, livetest.Plan(t, size, c.ask))
			m.dirs.SetSpace(func(s da.Space) da.Space { return &scarce{Space: s, n: math.MaxInt} })
			times := map[int]int{}
			for i, name := range names(max(3000, int(m.fs.G.DirBlockSize)/6), 4) {
				add := func(m *made, tr *live.Trans, total geometry.Blocks) (bool, error) {
					return m.dirs.Add(tr, m.root, name, geometry.Inode(1000+i), 1, total)
				}
				if !m.needs(t, add) {
					continue
				}
				if n := m.starve(t, add); n > 0 {
					times[n]++
				} else {
					t.Error("it needs no blocks, and does not go without")
				}
				tr := m.fs.Begin(100)
				ok, err := add(m, tr, 100)
				must(t, err)
				if !ok {
					t.Fatal("no room")
				}
				must(t, tr.Commit())
			}
			if len(times) < 2 {
				t.Errorf("%v operations take so many blocks", times)
			}
		})
	}
}

// stubborn is a Space that now and then does not take blocks back out of the midst of an extent.
type stubborn struct {
	da.Space
	random  *rand.Rand
	refused int
}

func (s *stubborn) Unmap(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks) (bool, error) {
	if i, has := ip.Data.Lookup(off); has {
		e := ip.Data.Extents[i]
		if off > e.Offset && off+uint64(n) < e.End() && s.random.IntN(2) == 0 {
			s.refused++
			return false, nil
		}
	}
	return s.Space.Unmap(t, ip, f, off, n)
}
