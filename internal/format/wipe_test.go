package format

import (
	"context"
	"errors"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// eventsOf formats a disk and tells what was done to it.
func eventsOf(t *testing.T, d *disk, g *geometry.Geometry, discard bool) []event {
	t.Helper()
	d.events = nil
	job := testJob(g, d)
	job.Identity.UUID, job.Discard = ondisk.UUID{9, 9, 9}, discard
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	return d.events
}

// The superblocks of an older filesystem that lie elsewhere are gone, also those
// that would be in the right place if the new filesystem were larger.
func TestOldSuperblocksAreGone(t *testing.T) {
	for _, c := range []struct{ oldAG, newSize, newAG int64 }{
		{17 << 20, testSize, testAGSize},
		{testAGSize, 200 << 20, testAGSize},
		{testAGSize, 192 << 20, 2 * testAGSize},
	} {
		old, g := testGeometry(t, testSize, c.oldAG), testGeometry(t, c.newSize, c.newAG)
		d := formatted(t, old)
		d.size = max(d.size, int64(g.Bytes(g.Blocks)))
		eventsOf(t, d, g, false)
		for agno := range old.AGCount {
			sector := make([]byte, 512)
			d.ReadAt(sector, int64(old.Offset(agno, 0)))
			if s, ok := ondisk.DecodeSuperblock(sector); ok && s.UUID != (ondisk.UUID{9, 9, 9}) {
				t.Errorf("%+v: AG %d of the old filesystem still has its superblock", c, agno)
			}
		}
	}
}

// A superblock whose numbers do not fit together says nothing about where others are.
func TestNonsenseSuperblock(t *testing.T) {
	old, g := testGeometry(t, testSize, 17<<20), testGeometry(t, 17*17<<20, testAGSize)
	start := make([]byte, 512)
	whole := formatted(t, old)
	whole.ReadAt(start, 0)
	good, ok := ondisk.DecodeSuperblock(start)
	if !ok {
		t.Fatal("there is no superblock")
	}
	for name, change := range map[string]func(s *ondisk.Superblock){
		"right":                     func(*ondisk.Superblock) {},
		"block size":                func(s *ondisk.Superblock) { s.BlockSize *= 2 },
		"block size of 256 bytes":   func(s *ondisk.Superblock) { s.BlockSize, s.BlockLog = 256, 8 },
		"block size of 128 KiB":     func(s *ondisk.Superblock) { s.BlockSize, s.BlockLog = 128<<10, 17 },
		"no AG":                     func(s *ondisk.Superblock) { s.AGCount = 0 },
		"tiny AGs":                  func(s *ondisk.Superblock) { s.AGBlocks = 63 },
		"more blocks than AGs have": func(s *ondisk.Superblock) { s.DataBlocks = uint64(s.AGCount)*uint64(s.AGBlocks) + 1 },
		"AGs without blocks":        func(s *ondisk.Superblock) { s.DataBlocks = uint64(s.AGCount-1) * uint64(s.AGBlocks) },
	} {
		s := good
		change(&s)
		s.Put(start)
		d := whole.copyOf()
		d.put(start, 0)
		wiped := 0 // of the places that the right one leads to
		for _, e := range eventsOf(t, d, g, false) {
			if e.what == "zero" && e.n == 512 && e.off%int64(old.Bytes(old.AGBlocks)) == 0 {
				wiped++
			}
		}
		if want := name == "right"; (wiped > 0) != want {
			t.Errorf("%s: %d superblocks are zeroed", name, wiped)
		}
	}
}

// Whatever there is to wipe at the start is gone durably at once; if there is
// nothing that costs no flush.
func TestWipeIsDurable(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	for _, at := range []int64{-1, 0, 511, 1024, 64 << 10, wipeBytes - 1} {
		d := newDisk(testSize)
		if at >= 0 {
			d.put([]byte{1}, at)
		}
		events := eventsOf(t, d, g, false)
		if flushed := events[1].what == "sync"; flushed != (at >= 0) {
			t.Errorf("something at byte %d: after the start was zeroed comes %q", at, events[1].what)
		}
	}
}

// A realtime section behind the data section of one device is not discarded, nor
// wiped: it has a write pointer of its own, and no metadata.
func TestInternalRealtimeIsLeftAlone(t *testing.T) {
	g := testGeometry(t, 4<<30, 128<<20, func(s *geometry.Spec) {
		s.RT.Zoned = geometry.Given(true)
		s.RT.Start = geometry.Given(geometry.Size{Count: 1 << 30, Limits: geometry.Limits{Max: 1 << 62}})
		s.RT.GroupSize = geometry.Given(geometry.Size{Count: 64 << 20, Limits: geometry.Limits{Max: 1 << 62}})
	})
	start := int64(g.Bytes(g.RT.Start))
	if start == 0 || start >= 4<<30 {
		t.Fatalf("the realtime section begins at byte %d", start)
	}
	wiped, discarded := false, int64(0)
	for _, e := range eventsOf(t, newDisk(4<<30), g, true) {
		if e.what != "sync" && e.off+e.n > start {
			t.Errorf("%s of %d bytes at %d, the realtime section begins at %d", e.what, e.n, e.off, start)
		}
		wiped = wiped || e.what == "zero" && e.off+e.n == start
		if e.what == "discard" {
			discarded += e.n
		}
	}
	if !wiped || discarded != start {
		t.Errorf("the end of the data section is wiped: %v; %d bytes are discarded of %d", wiped, discarded, start)
	}
}

// The blocks of metadata files can be interrupted too.
func TestCancelFiles(t *testing.T) {
	spec := geometry.Spec{SmallAllowed: true}
	spec.RT.Device = true
	dev := geometry.Device{Size: testSize, LogicalSector: 512, PhysicalSector: 512}
	dev.RT.Size = 128 << 30 // has a bitmap of 4 MiB
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	d := newDisk(testSize)
	job, rt := realtimeJob(g, d)
	rt.size, rt.junk = 128<<30, 0
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	after := 0
	job.Progress = steps(func(p Phase, done, total int64) {
		if p == PhaseFiles {
			after++
			cancel()
		}
	})
	if _, err := Run(ctx, job); !errors.Is(err, context.Canceled) || after != 1 || d.finished() {
		t.Errorf("%v; told of files %d times; finished %v", err, after, d.finished())
	}
}

// A window holds as many AGs as keep the ring full while one batch is built.
func TestWindow(t *testing.T) {
	g := testGeometry(t, 64<<30, testAGSize)
	for _, c := range []struct{ depth, batch, least, most int }{
		{1, 0, 2, DefaultBatch}, {100, 0, 200, DefaultBatch}, {500, 0, 1000, 1100}, {100, 8, 2, 8}, {100, 1, 1, 1},
	} {
		w := &writer{Job: Job{Geometry: g, Batch: c.batch}}
		d := newDisk(64 << 30)
		d.faults.Depth = c.depth
		ring, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		w.ring = ring
		frames, count := w.window(28 << 10)
		// A slab has 16 MiB, which are 585 headers.
		if n := frames * count; n < min(c.least, slabBytes/(28<<10)-batchAGs) || n > c.most {
			t.Errorf("depth %d, batch %d: %d batches of %d AGs", c.depth, c.batch, count, frames)
		}
		ring.Close()
	}
}
