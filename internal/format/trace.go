package format

import (
	"context"
	"errors"

	"mkfs/internal/aio"
)

// Trace runs a job on devices that are only read, and tells of each range of
// bytes that Run would change, in the order in which it would; some are told
// more than once. What the job would discard is one too, as it may be lost. An
// error of tell ends it.
//
// It returns the primary superblock as Run would leave it.
func Trace(ctx context.Context, job Job, tell func(d Device, off, n int64) error) ([]byte, error) {
	told := func(d Device) Device {
		if d == nil {
			return nil
		}
		return &trial{d, func(off, n int64) error { return tell(d, off, n) }}
	}
	job.Data, job.Log, job.Realtime = told(job.Data), told(job.Log), told(job.Realtime)
	job.Progress = nil
	job.Identity.Generation = func() uint32 { return 0 } // numbers that are drawn once are the run's
	w := newWriter(job)
	w.trial = true
	if _, err := w.run(ctx); err != nil {
		return nil, err
	}
	return w.build.Primary(w.made), nil
}

// trial is a device on which nothing happens.
type trial struct {
	Device
	tell func(off, n int64) error
}

func (t *trial) Zero(off, n int64) error       { return t.tell(off, n) }
func (t *trial) WriteZeros(off, n int64) error { return t.tell(off, n) }
func (t *trial) Discard(off, n int64) error    { return t.tell(off, n) }
func (t *trial) Sync() error                   { return nil }
func (t *trial) Open() (Ring, error)           { return &trialRing{t: t}, nil }

// trialRing completes writes that it does not do, one call later.
type trialRing struct {
	t       *trial
	pending []func(error)
}

func (r *trialRing) Write(off int64, vec [][]byte, done func(error)) error {
	if err := r.Reap(0); err != nil {
		return err
	}
	n := 0
	for _, p := range vec {
		n += len(p)
	}
	if err := r.t.tell(off, int64(n)); err != nil {
		return err
	}
	r.pending = append(r.pending, done)
	return nil
}

// Read is for others: see scratch.
func (r *trialRing) Read(int64, [][]byte, func(error)) error { return errors.ErrUnsupported }

func (r *trialRing) Reap(int) error {
	list := r.pending
	r.pending = nil
	for _, done := range list {
		if done != nil {
			done(nil)
		}
	}
	return nil
}

func (r *trialRing) Fix([]byte)       {}
func (r *trialRing) Background()      {}
func (r *trialRing) Sync() error      { return r.Reap(0) }
func (r *trialRing) Close() error     { return r.Reap(0) }
func (r *trialRing) Engine() string   { return "none" }
func (r *trialRing) Stats() aio.Stats { return aio.Stats{Depth: 1} }
