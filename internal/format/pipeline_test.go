package format

import (
	"bytes"
	"context"
	"testing"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
)

// lazy is a device whose ring completes no more than it must, the oldest first, and
// wants memory to be as it was by then.
type lazy struct {
	*disk
	t       *testing.T
	flying  []func()
	started bool // there were writes since the last flush
	drained int  // writes that found nothing in flight, but for the first after a flush
	writes  int
}

const lazyDepth = 8

func (l *lazy) Open() (Ring, error) { return &lazyRing{l}, nil }

type lazyRing struct{ l *lazy }

func (r *lazyRing) Write(off int64, vec [][]byte, done func(error)) error {
	l := r.l
	if len(l.flying) == lazyDepth {
		r.Reap(1)
	}
	if len(l.flying) == 0 && l.started {
		l.drained++
	}
	l.started = true
	l.writes++
	pieces := append([][]byte(nil), vec...)
	before := bytes.Join(pieces, nil)
	l.flying = append(l.flying, func() {
		if !bytes.Equal(bytes.Join(pieces, nil), before) {
			l.t.Errorf("what is written to byte %d has changed", off)
		}
		_, err := l.WriteAt(before, off)
		done(err)
	})
	return nil
}

// Read is done at once.
func (r *lazyRing) Read(off int64, vec [][]byte, done func(error)) error {
	for _, p := range vec {
		if _, err := r.l.ReadAt(p, off); err != nil {
			return err
		}
		off += int64(len(p))
	}
	done(nil)
	return nil
}

func (r *lazyRing) Reap(n int) error {
	for ; n > 0 && len(r.l.flying) > 0; n-- {
		f := r.l.flying[0]
		r.l.flying = r.l.flying[1:]
		f()
	}
	return nil
}

func (r *lazyRing) Sync() error {
	r.l.started = false
	r.Reap(lazyDepth)
	return r.l.disk.Sync()
}

func (r *lazyRing) Fix([]byte)       {}
func (r *lazyRing) Background()      {}
func (r *lazyRing) Close() error     { return r.Reap(lazyDepth) }
func (r *lazyRing) Engine() string   { return "lazy" }
func (r *lazyRing) Stats() aio.Stats { return aio.Stats{Depth: lazyDepth} }

// From the first header to the last, and from the first block of a file to the last, there
// is always something in flight, though memory is for a small part of it all.
func TestPipelineDoesNotDrain(t *testing.T) {
	spec := geometry.Spec{SmallAllowed: true}
	spec.Data.AGCount = geometry.Given[int64](200)
	spec.RT.Device = true
	dev := geometry.Device{Size: 8 << 30, LogicalSector: 512, PhysicalSector: 512}
	dev.RT.Size = 256 << 30 // with a bitmap of 8 MiB
	g, _, err := geometry.Plan(spec, dev)
	if err != nil {
		t.Fatal(err)
	}
	d := &lazy{disk: newDisk(int64(dev.Size)), t: t}
	job := testJob(g, d.disk)
	job.Data, job.Realtime = d, newDisk(int64(dev.RT.Size))
	phase := Phase("")
	job.Progress = steps(func(p Phase, _, _ int64) {
		if p != phase {
			phase, d.started = p, false
		}
	})
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if d.drained > 0 || d.writes < 208 || !d.finished() {
		t.Errorf("of %d writes %d found nothing in flight; finished %v", d.writes, d.drained, d.finished())
	}
}
