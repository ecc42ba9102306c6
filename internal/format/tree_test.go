package format

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/populate"
	"mkfs/internal/tree"
)

// forest is a tree of so many directories with so many files of so many bytes.
type forest struct {
	dirs, files int
	bytes       int64
	at          int
	entry       tree.Entry
}

func (f *forest) Name() string { return "forest" }
func (f *forest) Path() string { return fmt.Sprint("entry ", f.at) }
func (f *forest) Close() error { return nil }

func (f *forest) Open(context.Context) (tree.Source, error) {
	f.at = -1
	return f, nil
}

func (f *forest) Forget() {}

func (f *forest) Survey(ctx context.Context, block int64, _ func(string, error)) (tree.Source, error) {
	return f.Open(ctx)
}

func (f *forest) Next() (*tree.Entry, error) {
	e, at, per := &f.entry, f.at, f.files+1
	*e = tree.Entry{Mode: tree.TypeDirectory | 0o755}
	switch f.at++; {
	case at < 0:
	case at == f.dirs*per:
		return nil, io.EOF
	case at%per == 0:
		e.Depth, e.Name = 1, fmt.Sprint("directory ", at/per)
	default:
		e.Depth, e.Name, e.Mode = 2, fmt.Sprint("file ", at%per), tree.TypeRegular|0o644
		e.Size, e.Data, e.Stored, e.Pieces = f.bytes, filled(f.bytes), (f.bytes+4095)&^4095, 1
	}
	return e, nil
}

// filled is data of so many bytes.
type filled int64

func (n filled) Next(off int64) (start, end int64, err error) {
	if off >= int64(n) {
		return 0, 0, io.EOF
	}
	return off, int64(n), nil
}

func (n filled) ReadAt(p []byte, off int64) error {
	for i := range p {
		p[i] = byte(off + int64(i))
	}
	return nil
}

// What is said of a tree before is what happens: it fits or not, and what is said to be the least
// size that would do does.
func TestTreeFits(t *testing.T) {
	for _, f := range []*forest{
		{dirs: 1, files: 4000, bytes: 5000}, {dirs: 30, files: 100, bytes: 9000}, {dirs: 3, files: 15, bytes: 1 << 20},
		{dirs: 1, files: 1, bytes: 33 << 20}, {dirs: 1, files: 20000},
	} {
		fits := 0
		for size := int64(20 << 20); size < 80<<20; size += 15 << 20 {
			g := testGeometry(t, size, 16<<20, func(s *geometry.Spec) { s.Data.AGSize = geometry.Opt[geometry.Size]{} })
			seen, err := populate.Look(context.Background(), g, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := CheckTree(context.Background(), g, f, seen)
			d := newDisk(size)
			job := testJob(g, d)
			job.Tree = f
			_, err = Run(context.Background(), job)
			if (said == nil) != (err == nil) {
				t.Errorf("%+v on %d MiB: before %v, then %v", f, size>>20, said, err)
			}
			if err == nil {
				fits++
			} else if !errors.Is(said, populate.ErrNoRoom) {
				t.Errorf("%+v on %d MiB: %v", f, size>>20, said)
			}
		}
		if fits == 0 || fits == 4 {
			t.Errorf("%+v fits %d of 4", f, fits)
		}
	}
}

// The size that is said to do does, and little less does not.
func TestLeastSize(t *testing.T) {
	ctx := context.Background()
	for _, f := range []*forest{{dirs: 1, files: 1500, bytes: 15000}, {dirs: 1, files: 1, bytes: 200 << 20}, {dirs: 4, files: 3000}} {
		spec := geometry.Spec{SmallAllowed: true}
		dev := geometry.Device{Size: 20 << 20, LogicalSector: 512, PhysicalSector: 512}
		plan := func(size geometry.Bytes) *geometry.Geometry {
			dev := dev
			dev.Size = size
			g, _, err := geometry.Plan(spec, dev)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := plan(dev.Size)
		seen, err := populate.Look(ctx, g, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		size, ok := leastSize(ctx, spec, dev, dev.Size, f, seen)
		if !ok {
			t.Fatalf("%+v: no size", f)
		}
		t.Logf("%d files of %d bytes: %d MiB", f.dirs*f.files, f.bytes, size>>20)
		if err := CheckTree(ctx, plan(size), f, seen); err != nil {
			t.Errorf("%+v in %d MiB: %v", f, size>>20, err)
		}
		if less := size * 95 / 100; CheckTree(ctx, plan(less), f, seen) == nil {
			t.Errorf("%+v needs not %d MiB, %d MiB would do", f, size>>20, less>>20)
		}
	}
}

// What a run counts is what is there, also of finobts in AGs that only files of the tree are in.
func TestTreeCounts(t *testing.T) {
	g := testGeometry(t, 400<<20, 16<<20)
	f := &forest{dirs: 60, files: 400}
	d := newDisk(400 << 20)
	job := testJob(g, d)
	job.Tree = f
	stats, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	made, n, err := Contents(context.Background(), g, f)
	if err != nil {
		t.Fatal(err)
	}
	if n != stats.Counts || uint64(n.FreeBlocks) != uint64(made.FreeBlocks) || stats.Filled.Entries != 60*401 {
		t.Errorf("%+v, in advance %+v, %+v", stats.Counts, n, stats.Filled)
	}
	m := trialFiles(g)
	w := &writer{Job: Job{Geometry: g, Tree: f}}
	if _, err := w.makeFiles(context.Background(), m, nil); err != nil {
		t.Fatal(err)
	}
	blocks, err := m.FinobtBlocks()
	if err != nil {
		t.Fatal(err)
	}
	for agno := range g.AGCount {
		inodes, _, err := m.InodeCounts(agno)
		if _, counted := blocks[agno]; err != nil || inodes > 0 && !counted {
			t.Errorf("AG %d has %d inodes and is not looked at, %v", agno, inodes, err)
		}
	}
}
