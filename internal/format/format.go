// Package format writes a filesystem: it lets aginit build the blocks of a
// geometry, queues them on a delayed-write list and has a ring write them.
//
// The order of work is such that a run that ends early, at whatever point,
// leaves nothing that mounts:
//
//	wipe      the old superblock, and flush if there was anything; then what
//	          else a prober would find, on all devices
//	discard   tell a device that its contents are of no more use
//	log       zero it
//	realtime  the ends of the realtime device; flush
//	headers   of all AGs, with superblocks marked as in progress; the log's
//	          record and inodes go with them
//	files     the root directory and the metadata files
//	flush
//	complete  the primary superblock
//	flush
//
// A dense job writes the zeros of all steps as data, and discards nothing.
package format

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/buffer"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
	"mkfs/internal/populate"
	"mkfs/internal/tree"
)

// Device is what a section is written to.
type Device interface {
	Name() string
	// Size is the device's usable length in bytes, and Whole that of all there
	// is, which may be more by a part of a block.
	Size() int64
	Whole() int64
	ReadAt(p []byte, off int64) (int, error)
	// Zero makes a range read as zeros, without taking space where it takes none.
	Zero(off, n int64) error
	// WriteZeros does the same by writing the zeros, so that they are data.
	WriteZeros(off, n int64) error
	// Discard drops the contents of a range. Errors are of no consequence.
	Discard(off, n int64) error
	// DiscardUnit is how many bytes the device discards at least, of which no
	// part can be; 0 if it does not say.
	DiscardUnit() int64
	// Sync makes what was zeroed durable.
	Sync() error
	// Open gives the ring that writes to the device. It may be opened once.
	Open() (Ring, error)
}

// Ring is the part of aio.Ring that formatting needs.
type Ring interface {
	buffer.Ring
	// Fix makes memory known that many writes come from; see aio.Ring.
	Fix(memory []byte)
	// Background says that there is other work between writes from here on; see aio.Ring.
	Background()
	// Sync waits for what is in flight and makes it durable.
	Sync() error
	Close() error
	Engine() string
	Stats() aio.Stats
}

// Job is a filesystem to be written.
type Job struct {
	Geometry *geometry.Geometry
	Identity aginit.Identity
	Data     Device
	Log      Device // nil for an internal log
	Realtime Device // nil for none, and for one on the data device
	Discard  bool   // what was there before
	// Dense writes all that must read as zeros as data, so that a copy of the
	// data alone, onto whatever there was, is right. Nothing is discarded then.
	Dense bool
	// Tree is what the filesystem is filled with; nil for nothing.
	Tree tree.Tree
	// DiscardLimit ends discarding after a time; 0 for none.
	DiscardLimit time.Duration
	// Batch is how many AGs there are in memory at once, being built, queued or
	// written; 0 for DefaultBatch, or twice the ring's depth if that is more.
	Batch int
	// Progress is told how far the work is. It may be nil.
	Progress func(Step)
	// Survey is what was seen of the tree, for Progress.
	Survey *populate.Survey
}

// Phase is a step of the work.
type Phase string

// Step is how far a phase is, in units of its own.
type Step struct {
	Phase       Phase
	Done, Total int64
	// Bytes of how many bytes of data of a tree are written, 0 if that is not known, and the entry that was made last.
	Bytes, TotalBytes int64
	Path              func() string // nil for none
}

// The phases that take time.
const (
	PhaseWipe     Phase = "wipe"     // AGs of an older filesystem
	PhaseDiscard  Phase = "discard"  // bytes
	PhaseLog      Phase = "log"      // bytes
	PhaseHeaders  Phase = "headers"  // AGs
	PhaseFiles    Phase = "files"    // the root directory and metadata files, and entries of a tree
	PhaseComplete Phase = "complete" // flushes, two
)

// InBytes tells whether a phase counts bytes.
func (p Phase) InBytes() bool { return p == PhaseDiscard || p == PhaseLog }

// DefaultBatch is the number of AGs in memory at once: a few hundred keep a
// queue of a hundred full, and take a few MiB.
const DefaultBatch = 256

// slabBytes bounds the memory of the headers of all batches, unless one header
// is larger.
const slabBytes = 16 << 20

// Stats tells how the work was done.
type Stats struct {
	Engine string
	AGs    int64
	Counts geometry.Counts // of the filesystem
	Filled populate.Counts // from a tree
	Cache  buffer.Stats    // of the metadata blocks of files
	// Undiscarded is how many bytes the limit kept from being discarded.
	Undiscarded int64
	Lists       delwri.Stats
	Ring        aio.Stats
}

// Run writes the filesystem and makes it durable. After an error, or when ctx
// ends, what is on the device does not mount, unless a ring could not be
// opened: then nothing has been touched.
func Run(ctx context.Context, job Job) (stats Stats, err error) {
	if job.Dense {
		job = densely(job)
	}
	return newWriter(job).run(ctx)
}

func newWriter(job Job) *writer {
	return &writer{Job: job, build: aginit.New(job.Geometry, job.Identity)}
}

func (w *writer) run(ctx context.Context) (stats Stats, err error) {
	job := w.Job
	if w.Progress == nil {
		w.Progress = func(Step) {}
	}
	defer func() {
		if w.ring != nil {
			stats.Engine, stats.Ring = w.ring.Engine(), w.ring.Stats()
			w.count(w.list.Stats())
		}
		stats.Counts, stats.Filled, stats.Cache = w.counts, w.filled, w.cached
		stats.Lists, stats.AGs, stats.Undiscarded = w.stats, w.ags, w.undiscarded
		for _, e := range w.opened.close() {
			if err == nil {
				err = e
			}
		}
	}()
	if w.ring, err = w.opened.open(job.Data); err != nil {
		return stats, err
	}
	w.list = delwri.NewList(w.ring, delwri.Config{Device: job.Data.Name()})
	log, err := w.opened.open(job.Log)
	if err != nil {
		return stats, err
	}
	var rt Ring
	if w.realtimeSuper() != nil {
		if rt, err = w.opened.open(job.Realtime); err != nil {
			return stats, err
		}
	}
	if err := w.wipe(ctx); err != nil {
		return stats, err
	}
	if err := w.discard(ctx); err != nil {
		return stats, err
	}
	if err := w.zeroLog(ctx); err != nil {
		return stats, err
	}
	if err := w.externalLog(log); err != nil {
		return stats, err
	}
	if err := w.realtime(rt); err != nil {
		return stats, err
	}
	if err := w.blocks(ctx); err != nil {
		return stats, err
	}
	if err := ctx.Err(); err != nil {
		return stats, err
	}
	return stats, w.complete()
}

// blocks writes headers and files, one behind the other without a pause.
func (w *writer) blocks(ctx context.Context) error {
	err := w.headers(ctx)
	if err == nil {
		err = w.files(ctx)
	}
	if e := w.list.Wait(); e != nil {
		err = e // a cancelled run that has failed as well
	}
	for _, release := range w.slabs {
		if e := release(); err == nil {
			err = e
		}
	}
	return err
}

// slab gives memory for blocks, which they have until all are written.
func (w *writer) slab(size int) ([]byte, error) {
	slab, release, err := aio.NewSlab(size)
	if err == nil {
		w.slabs = append(w.slabs, release)
	}
	return slab, err
}

// step tells how far a phase is.
func (w *writer) step(p Phase, done, total int64) {
	w.Progress(Step{Phase: p, Done: done, Total: total})
}

type writer struct {
	Job
	build  *aginit.Builder
	opened rings
	ring   Ring         // the data device's
	list   *delwri.List // on that
	slabs  []func() error
	stats  delwri.Stats // of other lists
	ags    int64        // queued so far
	trial  bool         // nothing is written: files are made in memory
	made   aginit.Made
	counts geometry.Counts
	filled populate.Counts
	cached buffer.Stats
	// undiscarded is what the limit of time kept, in bytes.
	undiscarded int64
}

// rings are all that were opened, with the names of their devices.
type rings []struct {
	Ring
	name string
}

// open gives a device's ring, nil if there is no device.
func (l *rings) open(d Device) (Ring, error) {
	if d == nil {
		return nil, nil
	}
	r, err := d.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	*l = append(*l, struct {
		Ring
		name string
	}{r, d.Name()})
	return r, nil
}

// close closes them, the last first.
func (l rings) close() (faults []error) {
	for _, r := range slices.Backward(l) {
		if err := r.Close(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return faults
}

func (w *writer) sync() error {
	if err := w.ring.Sync(); err != nil {
		return fmt.Errorf("%s: flushing: %w", w.Data.Name(), err)
	}
	return nil
}

// complete makes the filesystem valid, once all else is durable.
func (w *writer) complete() error {
	if err := w.sync(); err != nil {
		return err
	}
	w.step(PhaseComplete, 1, 2)
	w.list.Add(&delwri.Buffer{Off: 0, Data: w.build.Primary(w.made), Place: delwri.Place{AG: 0, Name: "superblock"}})
	if err := w.list.Submit(); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	w.step(PhaseComplete, 2, 2)
	return nil
}

// count adds a list's work to the job's.
func (w *writer) count(s delwri.Stats) {
	w.stats.Buffers += s.Buffers
	w.stats.Requests += s.Requests
	w.stats.Pieces += s.Pieces
	w.stats.Bytes += s.Bytes
}
