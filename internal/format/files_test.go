package format

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"mkfs/internal/aio/aiotest"
	"mkfs/internal/geometry"
)

// withGroups asks for a realtime device of groups, of which there are so many
// that their folder is a block.
func withGroups(s *geometry.Spec) {
	s.RT.Device = true
	s.RT.GroupCount = geometry.Given[int64](16)
	s.Features.Metadir = geometry.Given(true)
}

func withBitmap(s *geometry.Spec) { s.RT.Device = true }

// realtimeJob formats a disk with a realtime device, which held something.
func realtimeJob(g *geometry.Geometry, d *disk) (Job, *disk) {
	rt := newDisk(testRealtime)
	rt.name, rt.junk = "/dev/rt", 0x77
	job := testJob(g, d)
	job.Realtime = rt
	return job, rt
}

func TestRealtimeDevice(t *testing.T) {
	for name, ask := range map[string]func(*geometry.Spec){"groups": withGroups, "bitmap": withBitmap} {
		g := testGeometry(t, testSize, testAGSize, ask)
		d := newDisk(testSize)
		job, rt := realtimeJob(g, d)
		var told, of int64
		job.Progress = steps(func(p Phase, done, total int64) {
			if p == PhaseFiles {
				told, of = done, total
			}
		})
		if _, err := Run(context.Background(), job); err != nil || !d.finished() {
			t.Fatalf("%s: finished %v, %v", name, d.finished(), err)
		}
		if told == 0 || told != of {
			t.Errorf("%s: told of %d of %d files", name, told, of)
		}
		if err := checkOrder(d.events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		first, last := make([]byte, 4), make([]byte, g.BlockSize)
		rt.ReadAt(first, 0)
		rt.ReadAt(last, int64(g.Bytes(g.RT.Blocks-1)))
		if want := name == "groups"; bytes.Equal(first, []byte("Frog")) != want || rt.opened > 0 != want {
			t.Errorf("%s: starts with %q; opened %d times", name, first, rt.opened)
		}
		if !bytes.Equal(last, make([]byte, len(last))) {
			t.Errorf("%s: the last block is not zero", name)
		}
		if e := rt.events[len(rt.events)-1]; e.what != "sync" {
			t.Errorf("%s: the last that happens to the device is %s", name, e.what)
		}
		if rt.opened != rt.closed {
			t.Errorf("%s: opened %d times, closed %d times", name, rt.opened, rt.closed)
		}
	}
}

// The data device does not become complete before the realtime device is.
func TestRealtimeFails(t *testing.T) {
	for name, broken := range map[string]func(*disk){
		"groups: zero":  func(d *disk) { d.failZero = 1 },
		"groups: write": func(d *disk) { d.faults.FailWrite = 1 },
		"groups: sync":  func(d *disk) { d.faults.FailSync = 1 },
		"bitmap: zero":  func(d *disk) { d.failZero = 1 },
		"bitmap: sync":  func(d *disk) { d.failSync = true },
	} {
		ask := withGroups
		if strings.HasPrefix(name, "bitmap") {
			ask = withBitmap
		}
		g := testGeometry(t, testSize, testAGSize, ask)
		d := olderFilesystem(t)
		job, rt := realtimeJob(g, d)
		broken(rt)
		_, err := Run(context.Background(), job)
		if err == nil || !strings.Contains(err.Error(), rt.name) {
			t.Errorf("%s: %v", name, err)
		}
		if d.finished() {
			t.Errorf("%s: there is a finished filesystem", name)
		}
		if d.opened != d.closed || rt.opened != rt.closed {
			t.Errorf("%s: opened %d and %d times, closed %d and %d", name, d.opened, rt.opened, d.closed, rt.closed)
		}
	}
}

// Each write of a file that fails ends the run before there is a filesystem.
func TestFileWriteFails(t *testing.T) {
	g := testGeometry(t, testSize, testAGSize, withGroups)
	job, _ := realtimeJob(g, newDisk(testSize))
	stats, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for fail := 1; fail < int(stats.Ring.Writes); fail++ {
		d := newDisk(testSize)
		d.faults = aiotest.Faults{FailWrite: fail}
		job, _ := realtimeJob(g, d)
		if _, err = Run(context.Background(), job); err == nil || d.finished() {
			t.Errorf("write %d: finished %v, %v", fail, d.finished(), err)
			continue
		}
		// Inodes and blocks of files that are neighbours are one request.
		named = named || strings.Contains(fmt.Sprint(err), " inodes at")
	}
	if !named {
		t.Error("no error names the inodes of the files")
	}
}
