package rmap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// inUse is the AG that tests work on, and base and span the blocks in it.
const (
	inUse = 1
	base  = 500
	span  = 60
)

// small is a filesystem with small blocks, so that trees are high.
func small(t testing.TB) *live.FS {
	fs, _ := livetest.New(t, livetest.Plan(t, 300<<20, func(s *geometry.Spec) { s.BlockSize = geometry.Given(int64(1024)) }))
	return fs
}

// key is a block of a file: the owner, and the offset with its flags but for whether it is written.
type key struct {
	at            geometry.AGBlock
	owner, offset uint64
}

// model has the blocks of files, and whether they are unwritten.
type model map[key]bool

// set is what mapping and converting do, and drop what unmapping does.
func (m model) set(r record) {
	for i := range uint64(r.blocks) {
		m[key{r.start + geometry.AGBlock(i), r.owner, r.block() + i}] = r.unwritten() != 0
	}
}

func (m model) drop(r record) {
	for i := range uint64(r.blocks) {
		delete(m, key{r.start + geometry.AGBlock(i), r.owner, r.block() + i})
	}
}

// records are those that there are to be: what goes on is one.
func (m model) records() (list []record) {
	open := map[record]int{} // the block that would go on from a record, and which that is
	keys := slices.SortedFunc(maps.Keys(m), func(a, b key) int {
		return strings.Compare(fmt.Sprintf("%9d %9d %9d", a.at, a.owner, a.offset), fmt.Sprintf("%9d %9d %9d", b.at, b.owner, b.offset))
	})
	for _, k := range keys {
		r := record{start: k.at, blocks: 1, owner: k.owner, offset: k.offset}
		if m[k] {
			r.offset |= ondisk.RmapUnwritten
		}
		i, ok := open[r]
		if ok {
			list[i].blocks++
		} else {
			i = len(list)
			list = append(list, r)
		}
		r.start, r.offset = r.start+1, r.offset+1
		open[r] = i
	}
	return list
}

// stored are the records of files that there are.
func stored(t *rapid.T, fs *live.FS) (list []record) {
	tr := fs.Begin(0)
	c, err := open(tr, inUse)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range c.tree.Records(tr) {
		if err != nil {
			t.Fatal(err)
		}
		if r := decode(b); r.owner>>63 == 0 {
			list = append(list, r)
		}
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	return list
}

// Files that share blocks have the records of a model, whatever is mapped, unmapped and converted: runs that go on in a file
// are one record.
func TestShared(t *testing.T) {
	tt := t
	rapid.Check(t, func(t *rapid.T) {
		fs, m := small(tt), model{}
		for range rapid.IntRange(1, 200).Draw(t, "operations") {
			// A file has a block of the AG at one offset, so that none is at two.
			owner := rapid.Uint64Range(100, 105).Draw(t, "owner")
			start := rapid.IntRange(0, span-1).Draw(t, "start")
			n := rapid.IntRange(1, min(span-start, 12)).Draw(t, "blocks")
			o := Owner{Owner: owner, Offset: uint64(start) + owner, Unwritten: rapid.Bool().Draw(t, "unwritten")}
			step(t, fs, m, o.record(base+geometry.AGBlock(start), geometry.Blocks(n)), o)
		}
		if got, want := stored(t, fs), m.records(); !slices.Equal(got, want) {
			t.Fatalf("records %v, want %v", got, want)
		}
	})
}

// step maps blocks if none is mapped for the owner; if all are, and in the same state, it unmaps or converts them.
func step(t *rapid.T, fs *live.FS, m model, r record, o Owner) {
	have, unwritten := 0, 0
	for i := range uint64(r.blocks) {
		if u, ok := m[key{r.start + geometry.AGBlock(i), r.owner, r.block() + i}]; ok {
			have++
			if u {
				unwritten++
			}
		}
	}
	do := MapShared
	switch {
	case have == 0:
		m.set(r)
	case have < int(r.blocks) || unwritten != 0 && unwritten != have:
		return
	case o.Unwritten == (unwritten != 0):
		do = UnmapShared
		m.drop(r)
	default:
		do = ConvertShared
		m.set(r)
	}
	tr := fs.Begin(0)
	if err := do(tr, inUse, r.start, r.blocks, o); err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be is told.
func TestRefuses(t *testing.T) {
	fs := small(t)
	o := Owner{Owner: 200, Offset: 10}
	tr := fs.Begin(0)
	if err := MapShared(tr, inUse, base, 8, o); err != nil {
		t.Fatal(err)
	}
	other := func(owner, offset uint64, unwritten bool) Owner {
		return Owner{Owner: owner, Offset: offset, Unwritten: unwritten}
	}
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{"mapped already", "already", MapShared(tr, inUse, base, 8, o)},
		{"unmap another's", "have no record", UnmapShared(tr, inUse, base, 8, other(201, 10, false))},
		{"unmap another offset", "have no record", UnmapShared(tr, inUse, base, 8, other(200, 11, false))},
		{"unmap more", "have no record", UnmapShared(tr, inUse, base, 9, o)},
		{"unmap unwritten", "have no record", UnmapShared(tr, inUse, base, 8, other(200, 10, true))},
		{"convert what is so", "have no record", ConvertShared(tr, inUse, base, 8, o)},
		{"outside", "in an AG of", MapShared(tr, inUse, base, 1<<40, o)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
}

// Nothing is made anew for a change.
func TestAllocates(t *testing.T) {
	fs := small(t)
	o := Owner{Owner: 200, Offset: 10}
	tr := fs.Begin(0)
	for _, c := range []struct {
		name    string
		do, not func(*live.Trans, geometry.AGNumber, geometry.AGBlock, geometry.Blocks, Owner) error
	}{{"plain", Map, Unmap}, {"shared", MapShared, UnmapShared}} {
		n := testing.AllocsPerRun(100, func() {
			if c.do(tr, inUse, base, 8, o) != nil || c.not(tr, inUse, base+2, 4, Owner{Owner: 200, Offset: 12}) != nil ||
				c.not(tr, inUse, base, 2, o) != nil || c.not(tr, inUse, base+6, 2, Owner{Owner: 200, Offset: 16}) != nil {
				t.Error("failed")
			}
		})
		if n > 1 { // the list of blocks that the transaction holds grows at times
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
