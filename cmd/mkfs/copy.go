package main

import (
	"context"
	"errors"
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/progress"
	"mkfs/internal/recovery"
	"mkfs/internal/report"
	"mkfs/internal/rescue"
	"mkfs/internal/target"
)

// copyFaults are what is wrong with the options of copies by themselves.
func (j *recoverJob) copyFaults() (faults []error) {
	switch {
	case j.copyTo == "" && j.copyLogTo != "":
		faults = append(faults, errors.New("--copy-log-to: needs --copy-to: without it the target itself would be recovered"))
	case j.copyTo != "" && j.log != "" && j.copyLogTo == "":
		faults = append(faults, errors.New("--copy-to: the log is on a device of its own: --copy-log-to FILE makes a copy of that, too"))
	case j.copyLogTo != "" && j.log == "":
		faults = append(faults, errors.New("--copy-log-to: needs --logdev, which names the log"))
	case j.copyTo != "" && samePath(j.copyTo, j.copyLogTo):
		faults = append(faults, fmt.Errorf("--copy-log-to: %s is what --copy-to makes", j.copyLogTo))
	}
	if j.copyTo != "" && j.dryRun {
		faults = append(faults, errors.New("--copy-to: a dry run writes nothing, so it makes no copy"))
	}
	return faults
}

// copied are the files that copies were made in; log is nil for none.
type copied struct{ data, log *target.Target }

// remove removes what is of no use.
func (c *copied) remove() {
	for _, t := range []*target.Target{c.data, c.log} {
		if t != nil {
			t.RemoveCreated()
		}
	}
}

// copySources copies the target, and an external log. Files are shared with their host
// or copied as they are; of devices only what is in use is copied.
func (j *recoverJob) copySources(ctx context.Context, part *target.Window, r *report.Recovery) (_ *copied, err error) {
	if err := j.worthCopying(part); err != nil {
		return nil, err
	}
	c := &copied{}
	defer func() {
		if err != nil {
			c.remove()
		}
	}()
	info, err := target.Probe(j.target)
	if err != nil {
		return nil, err
	}
	if info.Kind == target.BlockDevice {
		return c, j.copyDevices(ctx, part, c, r)
	}
	if c.data, err = target.Copy(ctx, j.copyTo, j.target, part); err == nil && j.copyLogTo != "" {
		c.log, err = target.Copy(ctx, j.copyLogTo, j.log, nil)
	}
	return c, err
}

// worthCopying looks for a superblock before all is copied.
func (j *recoverJob) worthCopying(part *target.Window) error {
	t, err := target.Open(j.target, target.Options{Window: part})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was written
	warnOfUse(j.err, j.name, t.Info())
	if err := j.otherThan(t.Info(), j.log); err != nil {
		return err
	}
	b := make([]byte, geometry.BasicBlock)
	_, _ = t.ReadAt(b, 0) // an error is found again by who copies
	s, ok := ondisk.DecodeSuperblock(b)
	switch {
	case !ok:
		return fmt.Errorf("%w: %s: there is no XFS", recovery.ErrRefused, j.target)
	case s.LogStart == 0 && j.log == "":
		return fmt.Errorf("%w: %s has an external log: --logdev names it, and --copy-log-to FILE makes a copy of it", recovery.ErrRefused, j.target)
	case s.LogStart != 0 && j.log != "":
		return fmt.Errorf("%w: --logdev: the log of %s is on it, and not on %s", recovery.ErrRefused, j.target, j.log)
	}
	return nil
}

// otherThan refuses a log that is the data device, or overlaps it.
func (j *recoverJob) otherThan(data target.Info, path string) error {
	if path == "" {
		return nil
	}
	if log, err := target.Probe(path); err == nil && target.Overlap(log, data) {
		return fmt.Errorf("%w: --logdev: %s and %s are one and the same", recovery.ErrRefused, path, data.Path)
	}
	return nil
}

// openSource opens a target that is copied. One that is in use is refused, unless
// it is by an idle loop device, which changes nothing.
func (j *recoverJob) openSource(path string, part *target.Window) (*readTarget, error) {
	t, err := openToRead(path, part, j.ring)
	if err != nil {
		return nil, err
	}
	if inUse(t.Info()) {
		_ = t.close() // nothing was written
		return nil, target.CheckUse(t.Info())
	}
	return t, nil
}

// copyDevices copies what is in use of devices.
func (j *recoverJob) copyDevices(ctx context.Context, part *target.Window, c *copied, r *report.Recovery) error {
	data, err := j.openSource(j.target, part)
	if err != nil {
		return err
	}
	defer data.close() // nothing was written
	opts := recovery.Options{Data: data.section(), Depth: data.ring.Stats().Depth, Memory: aio.NewSlab}
	var log *readTarget
	if j.log != "" {
		if log, err = j.openSource(j.log, nil); err != nil {
			return err
		}
		defer log.close() // nothing was written
		d := log.section()
		opts.Log = &d
	}
	plan, err := rescue.MakePlan(ctx, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", j.target, err)
	}
	for _, note := range plan.Notes {
		if !j.quiet {
			fmt.Fprintf(j.err, "%s: note: %s: %s\n", j.name, j.target, note)
		}
	}
	r.Copied, r.LeftOut = rescue.Bytes(plan.Data), data.Info().Size-rescue.Bytes(plan.Data)
	if c.data, err = j.copyDevice(ctx, j.copyTo, data, plan.Data); err == nil && log != nil {
		c.log, err = j.copyDevice(ctx, j.copyLogTo, log, plan.Log)
	}
	return err
}

// copyDevice makes a file with those parts of a device that a plan names.
func (j *recoverJob) copyDevice(ctx context.Context, path string, from *readTarget, spans []recovery.Span) (_ *target.Target, err error) {
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
	ring, err := aio.Open(t.Fd(), j.ring)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = ring.Close() }() // its first error has been told
	to := recovery.Device{Name: path, Ring: ring, Size: t.Info().Size, Align: align}
	_, err = rescue.Copy(ctx, from.section(), to, spans, rescue.CopyOptions{
		Depth: from.ring.Stats().Depth, Memory: aio.NewSlab,
		Progress: func(done, total int64) { j.shown.Step(progress.Copy, done, total) },
	})
	return t, err
}
