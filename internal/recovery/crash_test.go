package recovery

import (
	"errors"
	"math/rand/v2"
	"testing"

	"mkfs/internal/ondisk"
)

// Whenever all ends, another run comes to the same result: after any of the
// writes, and with any part missing of those since the last flush.
func TestCrash(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *Options)
	}{
		{"much memory", nil},
		{"little memory", limited},
	} {
		f := mixed(t, 3, 25)
		want, _ := f.result()
		if c.change != nil {
			want = f.unstamped(want)
		}
		var log []write
		d := f.d.clone()
		run := attempt{seed: 1, change: c.change, ring: func(r *testRing) { r.log = &log }}
		if _, err := run.run(t, d, nil); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(4, 4))
		durable, flushed := f.d.clone(), 0
		flushes := 0
		for i := range len(log) + 1 {
			if i > 0 && log[i-1].data == nil {
				for _, w := range log[flushed:i] {
					durable.WriteAt(w.data, w.off)
				}
				flushed = i
				flushes++
			}
			if underRace && i%9 != 0 {
				continue
			}
			for n := range 2 {
				if n == 1 && i%3 != 0 && i < len(log)-20 {
					continue
				}
				d := durable.clone()
				for _, w := range log[flushed:i] {
					switch {
					case n == 0 || r.IntN(3) > 0:
						d.WriteAt(w.data, w.off)
					case r.IntN(2) == 0: // a part
						d.WriteAt(w.data[:part(r, w.off, max(1, len(w.data)))], w.off)
					}
				}
				rep, err := attempt{seed: uint64(i), change: c.change}.run(t, d, nil)
				if err != nil || !rep.Finished {
					t.Fatalf("%s, %d of %d writes: %+v, %v", c.name, i, len(log), rep, err)
				}
				if c.change != nil {
					d = f.unstamped(d)
				}
				if list := d.differs(want); list != nil {
					t.Errorf("%s, %d of %d writes: pages %v differ", c.name, i, len(log), list)
				}
			}
		}
		if flushes != 3 || len(log) < 10 {
			t.Errorf("%s: %d writes and %d flushes", c.name, len(log), flushes)
		}
	}
}

// A change of UUID that is cut short leaves a filesystem whose log is accepted,
// and another run completes it: all superblocks have the UUID, and the log.
func TestCrashOfRename(t *testing.T) {
	f := mixed(t, 3, 5)
	id := ondisk.UUID{7, 7, 7}
	rename := func(o *Options) { o.UUID = &id }
	var log []write
	run := attempt{seed: 1, change: rename, ring: func(r *testRing) { r.log = &log }}
	if rep, err := run.run(t, f.d.clone(), nil); err != nil || !rep.Renamed {
		t.Fatal(rep, err)
	}
	for i := range len(log) + 1 {
		if underRace && i%5 != 0 {
			continue
		}
		d := f.d.clone()
		for _, w := range log[:i] {
			d.WriteAt(w.data, w.off)
		}
		if rep, err := (attempt{}).run(t, d.clone(), nil); err != nil || !rep.Finished {
			t.Fatalf("%d of %d writes, without the UUID: %+v, %v", i, len(log), rep, err)
		}
		rep, err := attempt{change: rename}.run(t, d, nil)
		if err != nil || !rep.Finished || !rep.Renamed && i < len(log)-1 { // the last is a flush
			t.Fatalf("%d of %d writes: %+v, %v", i, len(log), rep, err)
		}
		if rep, err = (attempt{}).run(t, d, nil); err != nil || !rep.Log.Clean || rep.Log.LastUUID != id {
			t.Fatalf("%d of %d writes: the log says %v, %v", i, len(log), rep.Log, err)
		}
		for agno := range f.fs.Geometry.AGCount {
			b := make([]byte, f.fs.Geometry.SectorSize)
			d.ReadAt(b, f.place(agno, 0))
			s, _ := ondisk.DecodeSuperblock(b)
			if s.UUID != id || s.MetaUUID == id || !ondisk.Sealed(b, ondisk.SuperblockCRC) {
				t.Errorf("%d of %d writes: AG %d has UUID %v", i, len(log), agno, s.UUID)
			}
		}
	}
}

// Any request may fail. That is said, nothing is in flight afterwards, and
// once it works again the result is the same.
func TestFaults(t *testing.T) {
	f := mixed(t, 5, 25)
	want, _ := f.result()
	want = f.unstamped(want)
	spread := 12
	if underRace {
		spread = 2
	}
	for _, kind := range []struct {
		name string
		set  func(r *testRing, n int)
	}{
		{"read", func(r *testRing, n int) { r.failRead = n }},
		{"write", func(r *testRing, n int) { r.failWrite = n }},
		{"flush", func(r *testRing, n int) { r.failSync = n }},
	} {
		var err error
		n := 1
		for ; ; n += 1 + n/spread {
			d := f.d.clone()
			change := func(o *Options) {
				if n%2 == 0 {
					limited(o)
				}
			}
			if _, err = (attempt{seed: uint64(n), change: change, ring: func(r *testRing) { kind.set(r, n) }}).run(t, d, nil); err == nil {
				break
			}
			if !errors.Is(err, errFault) {
				t.Fatalf("%s %d: %v", kind.name, n, err)
			}
			if _, err := (attempt{}).run(t, d, nil); err != nil {
				t.Fatalf("after %s %d: %v", kind.name, n, err)
			}
			if list := f.unstamped(d).differs(want); list != nil {
				t.Errorf("after %s %d: pages %v differ", kind.name, n, list)
			}
		}
		if n <= 3 {
			t.Errorf("%s: only %d", kind.name, n-1)
		}
	}
}
