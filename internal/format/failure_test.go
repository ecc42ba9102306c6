package format

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mkfs/internal/aio/aiotest"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// Where a test fails the n-th of something, the run is over an older, finished
// filesystem: whatever goes wrong, there is nothing that mounts afterwards.
func olderFilesystem(t *testing.T) *disk {
	d := formatted(t, testGeometry(t, testSize, 17<<20))
	d.events, d.zeros, d.opened, d.closed = nil, 0, 0, 0
	return d
}

// requestsOf is how many requests an undisturbed run makes.
func requestsOf(t *testing.T, g *geometry.Geometry, batch int) int {
	t.Helper()
	d := newDisk(testSize)
	job := testJob(g, d)
	job.Batch = batch
	stats, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return int(stats.Ring.Writes)
}

// Every write that fails ends the run, with an error that names it.
func TestEachWriteFails(t *testing.T) {
	for _, batch := range []int{1, 2, 256} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) { eachWriteFails(t, batch) })
	}
}

func eachWriteFails(t *testing.T, batch int) {
	g := testGeometry(t, testSize, testAGSize)
	older := olderFilesystem(t)
	n := requestsOf(t, g, batch)
	if n < int(g.AGCount) {
		t.Fatalf("batch %d: only %d requests", batch, n)
	}
	for fail := 1; fail <= n; fail++ {
		for seed := range uint64(4) {
			what := fmt.Sprintf("batch %d, write %d of %d, seed %d", batch, fail, n, seed)
			d := older.copyOf()
			d.seed = seed
			d.faults = aiotest.Faults{FailWrite: fail, Errno: unix.ENOSPC, Depth: 1 + 33*int(seed), Short: 10 * int(seed)}
			job := testJob(g, d)
			job.Batch = batch
			stats, err := Run(context.Background(), job)
			switch {
			case err == nil || !strings.Contains(err.Error(), d.name):
				t.Errorf("%s: %v", what, err)
			default:
				checkWriteError(t, what, d, err, unix.ENOSPC)
			}
			// The write that completes the superblock may have done so
			// before it failed; all others are durable then.
			if d.finished() && fail < n {
				t.Errorf("%s: there is a finished filesystem", what)
			}
			if d.finished() && d.count("sync") == 0 {
				t.Errorf("%s: the superblock is complete without a flush", what)
			}
			if d.opened != 1 || d.closed != 1 {
				t.Errorf("%s: opened %d times, closed %d times", what, d.opened, d.closed)
			}
			if stats.Engine != "fake" {
				t.Errorf("%s: stats %+v", what, stats)
			}
		}
	}
}

// checkWriteError wants an error of a write that names device, place and offset.
func checkWriteError(t *testing.T, what string, d *disk, err error, cause error) {
	t.Helper()
	var e *delwri.WriteError
	switch {
	case err == nil:
		t.Errorf("%s: no error", what)
	case !errors.As(err, &e):
		t.Errorf("%s: %v is no write error", what, err)
	case !errors.Is(err, cause):
		t.Errorf("%s: %v does not tell of %v", what, err, cause)
	case e.Device != d.name || !strings.Contains(err.Error(), d.name):
		t.Errorf("%s: %v does not name the device", what, err)
	case e.Place.Name == "" || !strings.Contains(err.Error(), e.Place.Name):
		t.Errorf("%s: %v does not name the place", what, err)
	case e.Off < 0 || e.Off >= d.size || !strings.Contains(err.Error(), fmt.Sprintf("at byte %d", e.Off)):
		t.Errorf("%s: %v does not name the offset", what, err)
	}
}

// A bad spot is named by what lies there, though requests are merged.
func TestBadSpotIsNamed(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	ag := func(agno geometry.AGNumber, b geometry.AGBlock) int64 { return int64(g.Offset(agno, b)) }
	roots := g.Roots()
	for _, c := range []struct {
		off  int64
		want string
	}{
		{0, "AG 0 superblock"},
		{512, "AG 0 AGF"},
		{ag(3, 0) + 1024, "AG 3 AGI"},
		{ag(3, 0) + 1536, "AG 3 AGFL"},
		{ag(5, roots.Cnt), "AG 5 cntbt root"},
		{ag(17, roots.Refcount) + 4095, "AG 17 refcountbt root"},
		{ag(0, g.Root.Start), "AG 0 inodes"},
		{ag(g.Log.AG, g.Log.Start), "log record"},
	} {
		for _, batch := range []int{1, 4, 256} {
			d := newDisk(testSize)
			d.faults = aiotest.Faults{BadFrom: c.off, BadTo: c.off + 1}
			job := testJob(g, d)
			job.Batch = batch
			_, err := Run(context.Background(), job)
			what := fmt.Sprintf("batch %d, byte %d", batch, c.off)
			checkWriteError(t, what, d, err, unix.EIO)
			if text := fmt.Sprintf("%s at byte %d:", c.want, c.off); err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %s", what, err, text)
			}
			if d.finished() {
				t.Errorf("%s: there is a finished filesystem", what)
			}
		}
	}
}

func TestEachSyncFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	older := olderFilesystem(t)
	for n := 1; n <= 2; n++ {
		d := older.copyOf()
		d.faults.FailSync = n
		_, err := Run(context.Background(), testJob(g, d))
		if !errors.Is(err, unix.EIO) || !strings.Contains(err.Error(), d.name) || !strings.Contains(err.Error(), "flush") {
			t.Errorf("flush %d fails: %v", n, err)
		}
		// The last flush follows the complete superblock.
		if d.finished() && n == 1 {
			t.Errorf("flush %d fails: there is a finished filesystem", n)
		}
	}
	d := older.copyOf()
	d.faults.FailSync = 3
	if _, err := Run(context.Background(), testJob(g, d)); err != nil {
		t.Errorf("there is a third flush: %v", err)
	}
}

func TestEachZeroFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	older := olderFilesystem(t)
	whole := older.copyOf()
	if _, err := Run(context.Background(), testJob(g, whole)); err != nil {
		t.Fatal(err)
	}
	if whole.zeros < 4 { // start, old superblocks, end, log
		t.Fatalf("only %d ranges are zeroed", whole.zeros)
	}
	for n := 1; n <= whole.zeros; n++ {
		d := older.copyOf()
		d.failZero = n
		_, err := Run(context.Background(), testJob(g, d))
		if !errors.Is(err, errZero) || !strings.Contains(err.Error(), d.name) || !strings.Contains(err.Error(), "at byte") {
			t.Errorf("zeroing %d fails: %v", n, err)
		}
		if n == 1 { // then nothing has been touched
			if err := d.same(older); err != nil {
				t.Errorf("the first zeroing fails, and yet %v", err)
			}
		} else if d.finished() {
			t.Errorf("zeroing %d fails: there is a finished filesystem", n)
		}
		if d.opened != d.closed {
			t.Errorf("zeroing %d fails: opened %d times, closed %d times", n, d.opened, d.closed)
		}
	}
}

// A ring that cannot be opened, as the engine that was asked for is not there,
// is found out before anything is touched.
func TestOpenFails(t *testing.T) {
	older := olderFilesystem(t)
	for _, which := range []string{"data", "log", "realtime"} {
		g := testGeometry(t, testSize, testAGSize, func(s *geometry.Spec) {
			if s.Log.External = which == "log"; which == "realtime" {
				withGroups(s)
			}
		})
		d, other := older.copyOf(), newDisk(testRealtime)
		other.name = "/dev/" + which
		job, bad := testJob(g, d), d
		switch which {
		case "log":
			job.Log, bad = other, other
		case "realtime":
			job.Realtime, bad = other, other
		}
		bad.failOpen = true
		_, err := Run(context.Background(), job)
		if !errors.Is(err, errOpen) || !strings.Contains(err.Error(), bad.name) {
			t.Errorf("%s: %v", which, err)
		}
		if err := d.same(older); err != nil || len(d.events)+len(other.events) > 0 {
			t.Errorf("%s: something was done: %v %v %v", which, err, d.events, other.events)
		}
		if which != "data" && d.closed != 1 {
			t.Errorf("the data device was closed %d times", d.closed)
		}
	}
}

// An error that only closing reports is one all the same.
func TestCloseFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	d := newDisk(testSize)
	d.failClose = true
	if _, err := Run(context.Background(), testJob(g, d)); !errors.Is(err, errClose) || !strings.Contains(err.Error(), d.name) {
		t.Errorf("%v", err)
	}
}

func TestExternalLogFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize, func(s *geometry.Spec) { s.Log.External = true })
	for name, broken := range map[string]func(*disk){
		"zero":  func(d *disk) { d.failZero = 1 },
		"write": func(d *disk) { d.faults.FailWrite = 1 },
		"sync":  func(d *disk) { d.faults.FailSync = 1 },
	} {
		d, log := olderFilesystem(t), newDisk(16<<20)
		log.name = "/dev/log"
		broken(log)
		job := testJob(g, d)
		job.Log = log
		_, err := Run(context.Background(), job)
		if err == nil || !strings.Contains(err.Error(), "/dev/log") {
			t.Errorf("%s: %v", name, err)
		}
		if d.finished() {
			t.Errorf("%s: there is a finished filesystem", name)
		}
		if d.opened != d.closed || log.opened != log.closed {
			t.Errorf("%s: opened %d and %d times, closed %d and %d", name, d.opened, log.opened, d.closed, log.closed)
		}
	}
}

// Whenever it is cancelled, a run ends in ctx's error and without a
// filesystem, until there is nothing left but to complete it.
func TestCancel(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	older := olderFilesystem(t)
	want := older.copyOf()
	if _, err := Run(context.Background(), testJob(g, want)); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("interrupted")
	for _, batch := range []int{1, 4, 256} {
		calls, cancelled := 0, false
		for at := 0; ; at++ {
			ctx, cancel := context.WithCancelCause(context.Background())
			d := older.copyOf()
			job := testJob(g, d)
			job.Batch, job.Discard = batch, true
			last, end := Phase(""), false
			calls = 0
			job.Progress = steps(func(p Phase, done, total int64) {
				if calls == at {
					cancel(cause)
					last, end = p, done == total
				}
				calls++
			})
			_, err := Run(ctx, job)
			cancel(nil)
			what := fmt.Sprintf("batch %d, cancelled at call %d (%s)", batch, at, last)
			switch {
			case last == "" && err != nil:
				t.Errorf("%s: never, and yet %v", what, err)
			case last == "":
				if calls < 4 || !cancelled && batch == 1 {
					t.Errorf("batch %d: %d calls of Progress, none of which ended the run", batch, calls)
				}
			case last == PhaseComplete || last == PhaseHeaders && end:
				// Too late, or not: but a finished one is whole.
				if err == nil {
					err = d.same(want)
				} else if errors.Is(err, context.Canceled) && !d.finished() {
					err = nil
				}
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			case !errors.Is(err, context.Canceled):
				t.Errorf("%s: %v", what, err)
			case d.finished():
				t.Errorf("%s: there is a finished filesystem", what)
			default:
				cancelled = true
			}
			if d.opened != d.closed {
				t.Errorf("%s: opened %d times, closed %d times", what, d.opened, d.closed)
			}
			if last == "" {
				break
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d := older.copyOf()
	if _, err := Run(ctx, testJob(g, d)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	if d.finished() {
		t.Error("cancelled before it began: there is a finished filesystem")
	}
}
