package format

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"mkfs/internal/aio/aiotest"
	"mkfs/internal/geometry"
)

// Whatever a run does to its devices was told before by Trace, which itself
// does nothing.
func TestTrace(t *testing.T) {
	for name, c := range map[string]struct {
		ask      func(*geometry.Spec)
		old      bool // over an older filesystem
		foreign  bool // over what else a prober would find
		discard  bool
		external bool
		realtime bool
	}{
		"empty":        {},
		"older":        {old: true},
		"foreign":      {old: true, foreign: true, external: true, ask: func(s *geometry.Spec) { s.Log.External = true }},
		"discard":      {old: true, discard: true},
		"external log": {old: true, external: true, ask: func(s *geometry.Spec) { s.Log.External = true }},
		"realtime":     {old: true, realtime: true, ask: realtimeSpec},
		"metadir":      {old: true, realtime: true, ask: func(s *geometry.Spec) { realtimeSpec(s); s.Features.Metadir = geometry.Given(true) }},
		"1 KiB":        {old: true, ask: func(s *geometry.Spec) { s.BlockSize = geometry.Given[int64](1024) }},
	} {
		if c.ask == nil {
			c.ask = func(*geometry.Spec) {}
		}
		g := testGeometry(t, testSize, testAGSize, c.ask)
		d, log, rt := newDisk(testSize), newDisk(16<<20), newDisk(testRealtime)
		if c.old {
			d = olderFilesystem(t)
		}
		log.name, rt.name = "/dev/log", "/dev/rt"
		if c.foreign {
			foreign(d)
			foreign(log)
		}
		before := d.copyOf()
		job := testJob(g, d)
		job.Discard = c.discard
		if c.external {
			job.Log = log
		}
		if c.realtime {
			job.Realtime = rt
		}
		told := map[string][][2]int64{}
		primary, err := Trace(context.Background(), job, func(dev Device, off, n int64) error {
			told[dev.Name()] = append(told[dev.Name()], [2]int64{off, off + n})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.events)+len(log.events)+len(rt.events)+d.opened+log.opened+rt.opened > 0 || d.same(before) != nil {
			t.Errorf("%s: the trace did something: %+v %+v", name, d.events, log.events)
		}
		d.seed, d.faults = 3, aiotest.Faults{Short: 30, Retry: 30}
		if _, err := Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		for _, dev := range []*disk{d, log, rt} {
			for _, e := range dev.events {
				if e.what != "sync" && !within(told[dev.name], e.off, e.off+e.n) {
					t.Errorf("%s: %s of %d bytes at %d of %s was not told of", name, e.what, e.n, e.off, dev.name)
				}
			}
		}
		sector := make([]byte, len(primary))
		d.ReadAt(sector, 0)
		if !bytes.Equal(sector, primary) {
			t.Errorf("%s: the primary superblock is another", name)
		}
	}
}

// realtimeSpec asks for a realtime section on a device of its own.
func realtimeSpec(s *geometry.Spec) { s.RT.Device = true }

// within tells whether one of the ranges holds all of [from, to).
func within(list [][2]int64, from, to int64) bool {
	for _, r := range list {
		if r[0] <= from && to <= r[1] {
			return true
		}
	}
	return false
}

// An error of who is told ends a trace, whenever it comes.
func TestTraceFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	fails := errors.New("full")
	for at := 0; ; at++ {
		calls := 0
		_, err := Trace(context.Background(), testJob(g, olderFilesystem(t)), func(Device, int64, int64) error {
			if calls++; calls > at {
				return fails
			}
			return nil
		})
		if err == nil {
			if at < 4 {
				t.Errorf("only %d ranges", at)
			}
			return
		}
		if !errors.Is(err, fails) {
			t.Errorf("range %d: %v", at, err)
		}
	}
}
