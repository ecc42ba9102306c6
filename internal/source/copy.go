package source

import (
	"context"
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/recovery"
	"mkfs/internal/rescue"
	"mkfs/internal/target"
)

// CopyJob is what to copy, and where to.
type CopyJob struct {
	Data string
	Part *target.Window // of it; nil for all
	Log  string         // of an external log; "" for none

	DataTo, LogTo string // new files
	Ring          aio.Config
	Progress      func(done, total int64) // in bytes, of devices
	Note          func(text string)       // is told what is copied as a whole, and why
	Idle          func(target.Info)       // is told of a source that is not in use, or only by an idle loop device
}

// Copies are the files that copies were made in.
type Copies struct {
	data, log *target.Target // log is nil for none

	// Copied is what was read of a device, and LeftOut what was free.
	Copied, LeftOut int64
}

// Remove removes what is of no use.
func (c *Copies) Remove() {
	for _, t := range []*target.Target{c.data, c.log} {
		if t != nil {
			t.RemoveCreated()
		}
	}
}

// Copy copies a filesystem, with its external log if it has one. Files are shared
// with their host or copied as they are; of devices only what is in use is copied.
// What holds no XFS, or has its log elsewhere, is refused.
func Copy(ctx context.Context, job CopyJob) (_ *Copies, err error) {
	if err := job.worthCopying(); err != nil {
		return nil, err
	}
	c := &Copies{}
	defer func() {
		if err != nil {
			c.Remove()
		}
	}()
	info, err := target.Probe(job.Data)
	if err != nil {
		return nil, err
	}
	if info.Kind == target.BlockDevice {
		return c, job.copyDevices(ctx, c)
	}
	if c.data, err = target.Copy(ctx, job.DataTo, job.Data, job.Part); err == nil && job.LogTo != "" {
		c.log, err = target.Copy(ctx, job.LogTo, job.Log, nil)
	}
	return c, err
}

// worthCopying looks for a superblock before all is copied.
func (j *CopyJob) worthCopying() error {
	t, err := target.Open(j.Data, target.Options{Window: j.Part})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was written
	if !InUse(t.Info()) {
		j.Idle(t.Info())
	}
	if err := DistinctLog(t.Info(), j.Log); err != nil {
		return err
	}
	b := make([]byte, geometry.BasicBlock)
	_, _ = t.ReadAt(b, 0) // an error is found again by who copies
	s, ok := ondisk.DecodeSuperblock(b)
	switch {
	case !ok:
		return fmt.Errorf("%w: %s: there is no XFS", recovery.ErrRefused, j.Data)
	case s.LogStart == 0 && j.Log == "":
		return fmt.Errorf("%w: %s has an external log: --logdev names it, and --copy-log-to FILE makes a copy of it",
			recovery.ErrRefused, j.Data)
	case s.LogStart != 0 && j.Log != "":
		return fmt.Errorf("%w: --logdev: the log of %s is on it, and not on %s", recovery.ErrRefused, j.Data, j.Log)
	}
	return nil
}

// DistinctLog refuses a log that is the data device, or overlaps it.
func DistinctLog(data target.Info, path string) error {
	if path == "" {
		return nil
	}
	if log, err := target.Probe(path); err == nil && target.Overlap(log, data) {
		return fmt.Errorf("%w: --logdev: %s and %s are one and the same", recovery.ErrRefused, path, data.Path)
	}
	return nil
}

// open opens a target that is copied. One that is in use is refused, unless
// it is by an idle loop device, which changes nothing.
func (j *CopyJob) open(path string, part *target.Window) (*Source, error) {
	t, err := Open(path, part, j.Ring)
	if err != nil {
		return nil, err
	}
	if InUse(t.Info()) {
		_ = t.Close() // nothing was written
		return nil, target.CheckUse(t.Info())
	}
	return t, nil
}

// copyDevices copies what is in use of devices.
func (j *CopyJob) copyDevices(ctx context.Context, c *Copies) error {
	data, err := j.open(j.Data, j.Part)
	if err != nil {
		return err
	}
	defer data.Close() // nothing was written
	opts := recovery.Options{Data: data.Section(), Depth: data.Ring.Stats().Depth, Memory: aio.NewSlab}
	var log *Source
	if j.Log != "" {
		if log, err = j.open(j.Log, nil); err != nil {
			return err
		}
		defer log.Close() // nothing was written
		d := log.Section()
		opts.Log = &d
	}
	plan, err := rescue.MakePlan(ctx, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Data, err)
	}
	for _, note := range plan.Notes {
		j.Note(note)
	}
	c.Copied, c.LeftOut = rescue.Bytes(plan.Data), data.Info().Size-rescue.Bytes(plan.Data)
	if c.data, err = j.copyDevice(ctx, j.DataTo, data, plan.Data); err == nil && log != nil {
		c.log, err = j.copyDevice(ctx, j.LogTo, log, plan.Log)
	}
	return err
}

// copyDevice makes a file with those parts of a device that a plan names.
func (j *CopyJob) copyDevice(ctx context.Context, path string, from *Source,
	spans []recovery.Span) (_ *target.Target, err error) {
	t, err := target.NewFile(path, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := t.Close(); err == nil {
			err = e
		}
		if err != nil {
			t.RemoveCreated()
		}
	}()
	if err := t.Grow(from.Info().Size); err != nil {
		return nil, err
	}
	direct, align := t.DirectIO()
	if direct && (align > rescue.Unit || t.Info().Size%int64(align) != 0) {
		t.Buffered()
	}
	ring, err := aio.Open(t.Fd(), j.Ring)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = ring.Close() }() // its first error has been told
	to := recovery.Device{Name: path, Ring: ring, Size: t.Info().Size, Align: align}
	_, err = rescue.Copy(ctx, from.Section(), to, spans, rescue.CopyOptions{
		Depth: from.Ring.Stats().Depth, Memory: aio.NewSlab,
		Progress: j.Progress,
	})
	return t, err
}
