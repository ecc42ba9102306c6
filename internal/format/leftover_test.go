package format

import (
	"context"
	"strings"
	"testing"

	"mkfs/internal/aginit"
	"mkfs/internal/geometry"
	"mkfs/internal/target"
)

// text is something at an offset.
type text struct {
	off  int64
	text string
}

// foreignTo is what a prober finds where formatting writes nothing.
func foreignTo(size int64) []text {
	return []text{
		{1 << 20, "\x0d\xd0\x01\xc0"},                         // a volume of VMFS,
		{2 << 20, "\x5e\xf1\xab\x2f"},                         // and what is in it
		{256<<10 + 1372, "\x19\x01\x54\x19"},                  // UFS
		{(size/512 - 399) * 512, "Promise Technology, Inc."},  // RAID, in several places
		{(size/512 - 3087) * 512, "Promise Technology, Inc."}, // that hide each other
		{4 << 20, "SKUL\xba\xbe\x00\x02" + strings.Repeat("\x00", 248) + "\x00\x00\x00\x00\x00\x40\x00\x00"}, // LUKS, the second header
	}
}

// foreign puts it on a disk.
func foreign(d *disk) *disk {
	for _, p := range foreignTo(d.size) {
		if _, err := d.put([]byte(p.text), p.off); err != nil {
			panic(err)
		}
	}
	return d
}

// names are what a prober finds on a disk.
func names(t *testing.T, d *disk) (list []string) {
	t.Helper()
	found, err := target.Signatures(d, d.size)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		list = append(list, s.Name)
	}
	return list
}

// What probers find on any of the devices is gone afterwards, and all else is as it
// is without it.
func TestLeftovers(t *testing.T) {
	for name, ask := range map[string]func(*geometry.Spec){
		"plain":        func(*geometry.Spec) {},
		"V4":           func(s *geometry.Spec) { s.Features.CRC = geometry.Given(false) },
		"external log": func(s *geometry.Spec) { s.Log.External = true },
		"realtime":     realtimeSpec,
		"metadir":      func(s *geometry.Spec) { realtimeSpec(s); s.Features.Metadir = geometry.Given(true) },
	} {
		g := testGeometry(t, testSize, testAGSize, ask)
		job := func(put func(*disk) *disk) (j Job, all []*disk) {
			all = []*disk{put(newDisk(testSize + 512)), put(newDisk(64 << 20)), put(newDisk(testRealtime))}
			j = testJob(g, all[0])
			if g.Log.Start == 0 {
				all[1].name, j.Log = "/dev/log", all[1]
			}
			if g.RT.Blocks > 0 {
				all[2].name, j.Realtime = "/dev/rt", all[2]
			}
			return j, all
		}
		plain, want := job(func(d *disk) *disk { return d })
		over, got := job(foreign)
		for _, j := range []Job{plain, over} {
			if _, err := Run(context.Background(), j); err != nil {
				t.Fatal(err)
			}
		}
		for i, d := range got {
			if i == 1 && over.Log == nil || i == 2 && over.Realtime == nil {
				continue
			}
			if err := d.same(want[i]); err != nil {
				t.Errorf("%s, %s: %v", name, d.name, err)
			}
			if found := names(t, d); len(found) > 1 {
				t.Errorf("%s, %s: found %v", name, d.name, found)
			}
			if next := afterWipe(d); next != "sync" {
				t.Errorf("%s, %s: %q follows what is wiped", name, d.name, next)
			}
		}
	}
}

// afterWipe is what comes after the last leftover, which takes a block.
func afterWipe(d *disk) (next string) {
	for i, e := range d.events[:len(d.events)-1] {
		for _, p := range foreignTo(d.size) {
			if e.what == "zero" && e.n == 4096 && e.off == p.off&^4095 {
				next = d.events[i+1].what
			}
		}
	}
	return next
}

// Nothing is zeroed for what goes anyhow: at both ends, in the log, or where the
// new superblock makes something else of what follows it.
func TestLeftoversAreFew(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	for _, c := range []struct {
		disk *disk
		want int
	}{
		{newDisk(testSize), 0},
		{olderFilesystem(t), 0},
		{foreign(newDisk(testSize)), 6},
	} {
		c.disk.put([]byte("LUKS\xba\xbe\x00\x01"), 0)
		c.disk.put([]byte("$XIDE$"), testSize-512)
		log := make([]byte, 512) // an external log, which is none behind a superblock
		copy(log, "\xfe\xed\xba\xbe\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x02\x00")
		log[303] = 1
		c.disk.put(log, 200<<10)
		job := testJob(g, c.disk)
		w := &writer{Job: job, build: aginit.New(g, job.Identity)}
		if left := w.leftovers(); len(left) != c.want {
			t.Errorf("%d are left, not %d: %v", len(left), c.want, left)
		}
	}
}

// Each failure to wipe ends the run, and names what it was about.
func TestLeftoverFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize)
	d := foreign(newDisk(testSize))
	d.failZero = 3 // the start and the end come first
	_, err := Run(context.Background(), testJob(g, d))
	if err == nil || d.finished() {
		t.Fatalf("%v", err)
	}
	if want := "/dev/fake: zeroing what is left of "; len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Error(err)
	}
}
