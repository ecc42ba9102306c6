package format

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Zeroing and discarding a device that takes 1 MiB a second moves on, and ends
// when it is to end, within about a second.
func TestSlowDevice(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	for _, c := range []struct {
		phase   Phase
		discard bool
		dense   bool
	}{{PhaseLog, false, false}, {PhaseLog, false, true}, {PhaseDiscard, true, false}} {
		synctest.Test(t, func(t *testing.T) {
			const stop = 5500 * time.Millisecond
			ctx, cancel := context.WithTimeout(context.Background(), stop)
			defer cancel()
			d := newDisk(testSize)
			d.rate = 1 << 20
			job := testJob(g, d)
			job.Discard, job.Dense = c.discard, c.dense
			told := map[Phase]int{}
			job.Progress = steps(func(p Phase, done, total int64) {
				told[p]++
				if done > total || total < 1<<20 {
					t.Errorf("%s: %d of %d", p, done, total)
				}
			})
			started := time.Now()
			_, err := Run(ctx, job)
			if took := time.Since(started); !errors.Is(err, context.DeadlineExceeded) || took > stop+time.Second {
				t.Errorf("%s: %v after %v", c.phase, err, took)
			}
			if told[c.phase] < 5 {
				t.Errorf("%s: progress was told of %d times", c.phase, told[c.phase])
			}
			if d.finished() {
				t.Errorf("%s: what was stopped looks finished", c.phase)
			}
		})
	}
}

// A fast device is given few and long pieces, in units that it can discard.
func TestFastDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where it takes no time at all
		const unit = 3 << 20
		g := testGeometry(t, testSize, testAGSize)
		d := newDisk(testSize)
		d.unit = unit
		job := testJob(g, d)
		job.Discard = true
		logs := 0
		job.Progress = steps(func(p Phase, done, total int64) {
			if p == PhaseLog {
				logs++
			}
		})
		if _, err := Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		for _, e := range d.events {
			if e.what == "discard" && (e.off%unit != 0 || e.n%unit != 0 && e.off+e.n < testSize) {
				t.Errorf("discarded %d bytes at %d", e.n, e.off)
			}
		}
		if n := d.count("discard"); n > 4 || logs > 4 {
			t.Errorf("%d pieces were discarded, %d of the log zeroed, of %d bytes", n, logs, g.Bytes(g.Log.Blocks))
		}
	})
}

// Wiping what an older filesystem has all over the device can be followed.
func TestWipeProgress(t *testing.T) {
	old := testGeometry(t, testSize, 17<<20)
	d := formatted(t, old)
	job := testJob(testGeometry(t, testSize, testAGSize), d)
	told := int64(0)
	job.Progress = steps(func(p Phase, done, total int64) {
		if p == PhaseWipe && (done <= told || done > total) {
			t.Errorf("%d of %d after %d", done, total, told)
		}
		if p == PhaseWipe {
			told = done
		}
	})
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if told != int64(old.AGCount) {
		t.Errorf("%d AGs were wiped, want %d", told, old.AGCount)
	}
}
