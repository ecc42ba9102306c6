package live

import (
	"fmt"
	"slices"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
)

// deferTest is a filesystem of AGs of 16 blocks whose transactions note what is done.
type deferTest struct {
	fs   *FS
	done []string
}

func newDeferTest() *deferTest {
	g := &geometry.Geometry{AGBlockLog: 4, AGBlocks: 16, AGCount: 8, BlockSize: 4096, BlockLog: 12}
	return &deferTest{fs: &FS{G: g, Cache: buffer.New(nil, buffer.Config{})}}
}

// note makes a kind of work that notes what it does, and where it is first; more puts
// off further work.
func (d *deferTest) note(name string, most int, more func(t *Trans, i *Item) bool) *Deferral {
	return &Deferral{Name: name, Most: most, Finish: func(t *Trans, i *Item, first bool) (bool, error) {
		mark := ""
		if first {
			mark = "*"
		}
		d.done = append(d.done, fmt.Sprintf("%s%d%s", name, i.Start, mark))
		return more == nil || more(t, i), nil
	}}
}

func (d *deferTest) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.done, want) {
		t.Errorf("done %v, want %v", d.done, want)
	}
	d.done = nil
}

func TestDeferOrder(t *testing.T) {
	d := newDeferTest()
	a, b := d.note("a", 0, nil), d.note("b", 2, nil)
	put := func(tr *Trans, k *Deferral, list ...geometry.FSBlock) {
		for _, at := range list {
			tr.Defer(k, Item{Start: at})
		}
	}
	tr := d.fs.Begin(0)
	put(tr, a, 40, 3, 33, 2) // in order of AG, and within it as they came
	put(tr, b, 50, 1, 5)     // no more than 2 a piece
	put(tr, a, 4)            // another piece
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	d.want(t, "a3*", "a2", "a40*", "a33", "b1*", "b50*", "b5*", "a4*")

	// What is put off meanwhile comes first, and what is unfinished goes on after it.
	times := 0
	c := d.note("c", 0, func(t *Trans, i *Item) bool {
		put(t, a, 7)
		times++
		return i.Start != 1 || times > 1
	})
	tr = d.fs.Begin(0)
	put(tr, c, 1, 2)
	put(tr, b, 3)
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	d.want(t, "c1*", "a7*", "c1*", "c2", "a7*", "a7", "b3*")
}

// All pieces but the first are done in transactions of their own.
func TestDeferRolls(t *testing.T) {
	d := newDeferTest()
	var highest []bool
	k := d.note("k", 1, func(t *Trans, _ *Item) bool {
		highest = append(highest, t.Allocated)
		t.Allocated = true
		return true
	})
	tr := d.fs.Begin(0)
	tr.Allocated = true
	tr.Defer(k, Item{})
	tr.Defer(k, Item{})
	if err := tr.Commit(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(highest, []bool{true, false}) {
		t.Errorf("allocated: %v", highest)
	}
}
