package format

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"mkfs/internal/aio/aiotest"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// formatted is what an undisturbed run makes.
func formatted(t *testing.T, g *geometry.Geometry) *disk {
	t.Helper()
	d := newDisk(int64(g.Bytes(g.Blocks)))
	if _, err := Run(context.Background(), testJob(g, d)); err != nil {
		t.Fatal(err)
	}
	if !d.finished() {
		t.Fatal("a run without an error leaves no filesystem")
	}
	if d.opened != 1 || d.closed != 1 {
		t.Fatalf("opened %d times, closed %d times", d.opened, d.closed)
	}
	return d
}

// Equal inputs give equal bytes, whatever the order of completion, short
// transfers and retries, batch and depth.
func TestSameBytesWhateverTheRing(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	want := formatted(t, g)
	check := func(batch int, seed uint64, f aiotest.Faults) {
		t.Helper()
		d := newDisk(testSize)
		d.seed, d.faults = seed, f
		job := testJob(g, d)
		job.Batch = batch
		stats, err := Run(context.Background(), job)
		if err == nil {
			err = d.same(want)
		}
		if err != nil {
			t.Fatalf("batch %d, seed %d, %+v: %v", batch, seed, f, err)
		}
		if stats.AGs != int64(g.AGCount) || stats.Engine != "fake" || stats.Ring.Writes != stats.Lists.Requests {
			t.Errorf("batch %d: %+v", batch, stats)
		}
	}
	for _, batch := range []int{0, 1, 2, 3, 7, 256} {
		for _, depth := range []int{1, 2, 100} {
			check(batch, 1, aiotest.Faults{Depth: depth})
			check(batch, 2, aiotest.Faults{Depth: depth, Short: 50, Retry: 50, Busy: 50, Now: 50})
		}
	}
	seeds := 150
	if testing.Short() {
		seeds = 10
	}
	for seed := range uint64(seeds) {
		f := aiotest.Faults{Depth: 1 + int(seed%9), Short: int(seed*7) % 90, Retry: int(seed*11) % 60, Busy: int(seed*13) % 70, Now: int(seed*17) % 100}
		check(1+int(seed%5), seed, f)
	}
	for n := 1; n <= 21; n++ {
		check(2, uint64(n), aiotest.Faults{NoDirect: n, Short: 20})
	}
}

// Whatever was on the device, what the filesystem needs to be zero is zero,
// and the rest is as on a device of zeros.
func TestOverRubbish(t *testing.T) {
	for _, ask := range []func(*geometry.Spec){
		func(*geometry.Spec) {},
		func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](1024) },
		func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](65536) },
		func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) },
		func(s *geometry.Spec) {
			s.SectorSize, s.Log.SectorSize = geometry.Given[int64](4096), geometry.Given[int64](4096)
		},
	} {
		g := testGeometry(t, testSize, 100<<20, ask)
		clean := formatted(t, g)
		d := newDisk(testSize)
		d.junk = 0x5a
		if _, err := Run(context.Background(), testJob(g, d)); err != nil {
			t.Fatal(err)
		}
		check := func(what string, off, n geometry.Bytes) {
			t.Helper()
			a, b := make([]byte, n), make([]byte, n)
			d.ReadAt(a, int64(off))
			clean.ReadAt(b, int64(off))
			if bytes.Equal(a, b) {
				return
			}
			for i := range a {
				if a[i] != b[i] {
					t.Errorf("blocks of %d: %s, byte %d is %#x, want %#x", g.BlockSize, what, i, a[i], b[i])
					return
				}
			}
		}
		for agno := range g.AGCount {
			at := g.Offset(agno, 0)
			check("sectors", at, 4*g.SectorSize)
			roots := g.Offset(agno, g.Roots().Bno)
			check("roots", roots, g.Bytes(g.HeaderBlocks())-(roots-at))
		}
		check("log", g.Offset(g.Log.AG, g.Log.Start), g.Bytes(g.Log.Blocks))
		check("inodes", g.Offset(0, g.Root.Start), g.Bytes(g.Root.Blocks))
		check("end", testSize-64<<10, 64<<10)
	}
}

// The order of work: nothing is there any more before anything new is, and the
// primary superblock is complete only when all else is durable.
func TestOrder(t *testing.T) {
	for _, batch := range []int{1, 5, 256} {
		g := testGeometry(t, testSize, testAGSize)
		d := formatted(t, testGeometry(t, testSize, 17<<20))
		d.events = nil
		d.seed, d.faults = 7, aiotest.Faults{Short: 40, Retry: 20}
		job := testJob(g, d)
		job.Batch, job.Discard = batch, true
		if _, err := Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		if err := checkOrder(d.events); err != nil {
			t.Errorf("batch %d: %v", batch, err)
		}
	}
}

func checkOrder(events []event) error {
	if e := events[0]; e.what != "zero" || e.off != 0 || e.n < 512 {
		return fmt.Errorf("the first that happens is %s of %d bytes at %d", e.what, e.n, e.off)
	}
	completed, durable, writing := -1, false, false
	for i, e := range events {
		switch e.what {
		case "zero", "discard":
			if writing {
				return fmt.Errorf("event %d: %s at %d after the first write", i, e.what, e.off)
			}
		case "write":
			writing = true
			// A short transfer may end anywhere in the sector; what follows
			// the flag is then no concern.
			if e.off == 0 && len(e.data) > ondisk.InProgressField && e.data[ondisk.InProgressField] == 0 ||
				e.off > 0 && e.off < 512 && completed >= 0 || e.off == 0 && durable {
				if !durable {
					return fmt.Errorf("event %d: the superblock is completed before a flush", i)
				}
				completed = i
				continue
			}
			if completed >= 0 {
				return fmt.Errorf("event %d: write at %d after the superblock is complete", i, e.off)
			}
			durable = false
		case "sync":
			durable = writing // before, it is what was wiped
		}
	}
	last := events[len(events)-1]
	switch {
	case completed < 0:
		return fmt.Errorf("the superblock is never completed")
	case last.what != "sync":
		return fmt.Errorf("the last that happens is %s at %d", last.what, last.off)
	}
	return nil
}

// checkOrder has to notice what it is for.
func TestCheckOrder(t *testing.T) {
	begun, complete := make([]byte, 512), make([]byte, 512)
	begun[ondisk.InProgressField] = 1
	zero, sync := event{what: "zero", n: 512}, event{what: "sync"}
	header := event{"write", 1 << 20, 4096, make([]byte, 512)}
	first, last := event{"write", 0, 512, begun}, event{"write", 0, 512, complete}
	for _, c := range []struct {
		name   string
		events []event
		ok     bool
	}{
		{"good", []event{zero, first, header, sync, last, sync}, true},
		{"no flush before", []event{zero, first, header, last, sync}, false},
		{"write after that flush", []event{zero, first, sync, header, last, sync}, false},
		{"no flush after", []event{zero, first, header, sync, last}, false},
		{"write after completion", []event{zero, first, sync, last, header, sync}, false},
		{"never complete", []event{zero, first, header, sync}, false},
		{"nothing wiped", []event{first, header, sync, last, sync}, false},
		{"wiped late", []event{zero, first, zero, header, sync, last, sync}, false},
	} {
		if err := checkOrder(c.events); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The header blocks of a plain AG are neighbours, so they are one request.
func TestPlainAGIsOneRequest(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	d := newDisk(testSize)
	job := testJob(g, d)
	stats, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int64]int64{}
	for _, e := range d.events {
		if e.what == "request" && e.off != 0 {
			found[e.off] += e.n
		}
	}
	for agno := geometry.AGNumber(1); agno < g.AGCount; agno++ {
		want := int64(7 * 4096)
		if g.HasLog(agno) { // the log's record follows at once
			want += 1024
		}
		if got := found[int64(g.Offset(agno, 0))]; got != want {
			t.Errorf("AG %d: the request at its start has %d bytes, want %d", agno, got, want)
		}
	}
	// Each AG, the blocks of AG 0 that inodes change (AGF to AGFL, bnobt to finobt, rmapbt, inodes), and the complete
	// superblock.
	if n := d.count("request"); n > int(g.AGCount)+5 || int64(n) != stats.Ring.Writes {
		t.Errorf("%d requests for %d AGs; the ring counts %d", n, g.AGCount, stats.Ring.Writes)
	}
	// In memory they are neighbours too: only what changes in AG 0 and the log's record lie elsewhere.
	if extra := stats.Lists.Pieces - stats.Lists.Requests; extra > 8 {
		t.Errorf("%d requests have %d pieces", stats.Lists.Requests, stats.Lists.Pieces)
	}
}

// Discarding is told of, and only done where it is asked for.
func TestDiscard(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	for _, on := range []bool{false, true} {
		d := newDisk(testSize)
		job := testJob(g, d)
		job.Discard = on
		told := int64(0)
		job.Progress = steps(func(p Phase, done, total int64) {
			if p == PhaseDiscard {
				told = done
			}
		})
		if _, err := Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		if n := d.count("discard"); (n > 0) != on || on && told != testSize {
			t.Errorf("discard %v: %d calls, %d bytes told of", on, n, told)
		}
	}
}

// What a limit of time leaves is told of, and the device formatted all the same.
func TestDiscardLimit(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	d := newDisk(testSize)
	job := testJob(g, d)
	job.Discard, job.DiscardLimit = true, 1
	stats, err := Run(context.Background(), job)
	if err != nil || !d.finished() || d.count("discard") != 1 || stats.Undiscarded != testSize-1<<20 {
		t.Errorf("%v; finished %v, %d calls, %d bytes left", err, d.finished(), d.count("discard"), stats.Undiscarded)
	}
	d = newDisk(testSize)
	job = testJob(g, d)
	job.Discard, job.DiscardLimit = true, time.Hour
	if stats, err = Run(context.Background(), job); err != nil || d.count("discard") == 0 || stats.Undiscarded != 0 {
		t.Errorf("%v; %d calls, %d bytes left", err, d.count("discard"), stats.Undiscarded)
	}
}

// A device that cannot discard, or fails to, is formatted all the same.
func TestDiscardFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	d := newDisk(testSize)
	d.failDiscard = true
	job := testJob(g, d)
	job.Discard = true
	job.Progress = steps(func(p Phase, done, _ int64) {
		if p == PhaseDiscard {
			t.Errorf("told of %d bytes that were discarded", done)
		}
	})
	if _, err := Run(context.Background(), job); err != nil || !d.finished() {
		t.Errorf("finished %v, %v", d.finished(), err)
	}
}

// An external log is written, flushed and closed, and the data section has none.
func TestExternalLog(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize, func(s *geometry.Spec) { s.Log.External = true })
	d, log := newDisk(testSize), newDisk(16<<20)
	log.junk, log.name = 0x77, "/dev/log"
	job := testJob(g, d)
	job.Log = log
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if !d.finished() || log.opened != 1 || log.closed != 1 {
		t.Fatalf("finished %v; log opened %d times, closed %d times", d.finished(), log.opened, log.closed)
	}
	if last := log.events[len(log.events)-1]; last.what != "sync" {
		t.Errorf("the last that happens to the log is %s", last.what)
	}
	content := make([]byte, g.Bytes(g.Log.Blocks))
	log.ReadAt(content, 0)
	if r, ok := ondisk.DecodeLogRecord(content); !ok || r.UUID != job.Identity.UUID {
		t.Errorf("log record %+v (%v)", r, ok)
	}
	if rest := content[1024:]; !bytes.Equal(rest, make([]byte, len(rest))) {
		t.Error("the log is not zero behind its record")
	}
}

// steps is a Job.Progress of what a phase is and how far.
func steps(tell func(p Phase, done, total int64)) func(Step) {
	return func(s Step) { tell(s.Phase, s.Done, s.Total) }
}
