package recovery

import (
	"bytes"
	"errors"
	"testing"

	"mkfs/internal/logtest"
	"mkfs/internal/xlog"
)

// cleanThenDamaged is a log that was clean, with records behind that of which
// the first is damaged.
func cleanThenDamaged(t *testing.T) *filesystem {
	f := plain(t)
	f.commit(logtest.Buffer(0, 0, daddr(f.free(0)), bytes.Repeat([]byte("kept"), 1024), nil))
	f.log.Unmount()
	f.log.Tail = f.log.LSN()
	at := f.log.Head
	for i := range 3 {
		f.commit(logtest.Buffer(0, 0, daddr(f.free(1+i)), bytes.Repeat([]byte("lost"), 1024), nil))
	}
	f.log.B[(at+2)*xlog.BlockSize+9] ^= 1
	f.install()
	return f
}

// A log that is clean up to damaged records is clean for others too, once
// they are cleared; another run finds nothing to do.
func TestDroppedRecords(t *testing.T) {
	f := cleanThenDamaged(t)
	before := f.d.clone()
	rep, err := attempt{change: func(o *Options) { o.DryRun = true }}.run(t, f.d, nil)
	if err != nil || !rep.Finished || rep.Log.Dropped == 0 || f.d.differs(before) != nil {
		t.Fatalf("dry run: %+v, %v", rep, err)
	}
	dropped := rep.Log.Dropped
	var log []write
	rep, err = attempt{ring: func(r *testRing) { r.log = &log }}.run(t, f.d, nil)
	if err != nil || !rep.Finished || !rep.Log.Clean || rep.Log.Dropped != dropped || rep.Stats.Transactions != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	for i := range 4 {
		if b := f.bytes(f.free(i), 4); string(b) != "\x00\x00\x00\x00" {
			t.Errorf("block %d holds %q", i, b)
		}
	}
	done := f.d.clone()
	if rep, err = (attempt{}).run(t, f.d, nil); err != nil || !rep.Log.Clean || rep.Log.Dropped != 0 || f.d.differs(done) != nil {
		t.Errorf("again: %+v, %v, pages %v", rep, err, f.d.differs(done))
	}
	for i := range len(log) + 1 { // whenever it ends
		d := before.clone()
		for _, w := range log[:i] {
			d.WriteAt(w.data, w.off)
		}
		if rep, err := (attempt{}).run(t, d, nil); err != nil || !rep.Log.Clean || d.differs(done) != nil {
			t.Errorf("after %d of %d writes: %+v, %v, pages %v", i, len(log), rep, err, d.differs(done))
		}
	}
}

// If blocks on disk have changes of the records that are dropped, the
// filesystem is refused, and nothing is written.
func TestDroppedRecordsOnDisk(t *testing.T) {
	f := cleanThenDamaged(t)
	at := f.place(1, 0) + int64(f.fs.Geometry.SectorSize)
	agf := f.bytes(at, int(f.fs.Geometry.SectorSize))
	be.PutUint64(agf[208:], f.log.LSN())
	f.d.WriteAt(agf, at)
	before := f.d.clone()
	if rep, err := (attempt{}).run(t, f.d, nil); !errors.Is(err, ErrRefused) || f.d.differs(before) != nil {
		t.Errorf("%+v, %v", rep, err)
	}
}
