package format

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// journal is what was done to several disks, in one order for all of them.
type journal []entry

type entry struct {
	disk *disk
	event
}

// Until a flush nothing says which of the writes to a device have reached it. So
// the power may fail at any event, and then of the writes since the device's last
// flush any may be there and any other missing. Whatever it is, either the older
// filesystem is there and whole, or the new one is, or neither mounts.
func TestPowerFailure(t *testing.T) {
	for name, c := range map[string]struct {
		ask func(*geometry.Spec)
		job func(*geometry.Geometry, *disk) (Job, *disk) // and the other device
	}{
		"internal log": {func(*geometry.Spec) {}, func(g *geometry.Geometry, d *disk) (Job, *disk) { return testJob(g, d), nil }},
		"external log": {func(s *geometry.Spec) { s.Log.External = true }, func(g *geometry.Geometry, d *disk) (Job, *disk) {
			job, log := testJob(g, d), newDisk(16<<20)
			log.name, job.Log = "/dev/log", log
			return job, log
		}},
		"realtime groups": {withGroups, realtimeJob},
		"realtime bitmap": {withBitmap, realtimeJob},
	} {
		t.Run(name, func(t *testing.T) {
			older := olderFilesystem(t)
			g := testGeometry(t, older.size, 64<<20, c.ask)
			data := older.copyOf()
			job, other := c.job(g, data)
			job.Discard = true
			job.Identity.UUID = ondisk.UUID{9}
			var log journal
			data.journal = &log
			before := []*disk{older}
			after := []*disk{data}
			if other != nil {
				before, after = append(before, other.copyOf()), append(after, other)
				other.journal = &log
			}
			if _, err := Run(context.Background(), job); err != nil {
				t.Fatal(err)
			}
			if err := checkPowerFailures(log, before, after); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkPowerFailures looks at what a failure before each event may leave. The
// first disk is the one with the superblock.
func checkPowerFailures(log journal, before, after []*disk) error {
	for at := range len(log) + 1 {
		unsure := unflushed(log[:at])
		lost := [][]int{nil, unsure}
		for i, one := range unsure { // it alone is missing, or it alone is there
			lost = append(lost, []int{one}, append(append([]int{}, unsure[:i]...), unsure[i+1:]...))
		}
		for _, missing := range lost {
			left := leftBy(log[:at], missing, before, after)
			var want []*disk
			switch {
			case !left[0].finished():
				continue
			case left[0].uuid() == before[0].uuid():
				want = before
			default:
				want = after
			}
			for i := range left {
				if want[0] == before[0] && i > 0 {
					continue // it belongs to another filesystem, or to none
				}
				if err := left[i].same(want[i]); err != nil {
					return fmt.Errorf("failure before event %d of %d, without events %v: %s is mounted with what is not its own: %w",
						at, len(log), missing, left[i].name, err)
				}
			}
		}
	}
	return nil
}

// unflushed are the events that no flush of their disk follows.
func unflushed(log journal) (list []int) {
	for i, e := range log {
		if e.what != "write" && e.what != "zero" {
			continue
		}
		flushed := false
		for _, later := range log[i:] {
			flushed = flushed || later.disk == e.disk && later.what == "sync"
		}
		if !flushed {
			list = append(list, i)
		}
	}
	return list
}

// leftBy are the disks as some of the events leave them: after says which disk
// of a journal is which.
func leftBy(log journal, missing []int, before, after []*disk) (left []*disk) {
	for i := range before {
		d := before[i].copyOf()
		d.name = after[i].name
		for at, e := range log {
			if e.disk != after[i] || len(missing) > 0 && missing[0] == at {
				if len(missing) > 0 && missing[0] == at {
					missing = missing[1:]
				}
				continue
			}
			switch e.what {
			case "write":
				d.put(e.data, e.off)
			case "zero":
				d.Zero(e.off, e.n)
			}
		}
		left = append(left, d)
	}
	return left
}

// uuid is that of the primary superblock.
func (d *disk) uuid() ondisk.UUID {
	var sector [512]byte
	d.ReadAt(sector[:], 0)
	s, _ := ondisk.DecodeSuperblock(sector[:])
	return s.UUID
}

// checkPowerFailures has to notice each flush that is missing.
func TestCheckPowerFailures(t *testing.T) {
	older := olderFilesystem(t)
	g := testGeometry(t, older.size, 64<<20)
	d := older.copyOf()
	job := testJob(g, d)
	job.Identity.UUID = ondisk.UUID{9}
	var log journal
	d.journal = &log
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	flushes := 0
	for i, e := range log {
		if e.what != "sync" || i == len(log)-1 { // the last is for who asked, not for the filesystem
			continue
		}
		flushes++
		without := append(append(journal{}, log[:i]...), log[i+1:]...)
		if checkPowerFailures(without, []*disk{older}, []*disk{d}) == nil {
			t.Errorf("without the flush at event %d of %d all is well", i, len(log))
		}
	}
	if flushes != 2 {
		t.Errorf("%d flushes before the last, want that of the wipe and that before completing", flushes)
	}
	if !bytes.Equal(log[len(log)-2].data[:4], []byte("XFSB")) {
		t.Error("the last write is not the superblock")
	}
}
