// Package audit is the work of mkfs verify: it opens the targets of a filesystem, has its headers checked, and its files
// compared with a tree.
package audit

import (
	"context"
	"errors"
	"fmt"

	"mkfs/internal/against"
	"mkfs/internal/aio"
	"mkfs/internal/filling"
	"mkfs/internal/format"
	"mkfs/internal/ondisk"
	"mkfs/internal/report"
	"mkfs/internal/source"
	"mkfs/internal/target"
	"mkfs/internal/tree"
	"mkfs/internal/verify"
)

// Job is what to look at, and how.
type Job struct {
	Target string
	At     source.Located // of it
	Log    string         // device of an external log; "" for none
	Ring   aio.Config
	// Made is the UUID of the filesystem that was just made, whose target is to show nothing else; nil for any.
	Made *ondisk.UUID
	// Against is a directory or a prototype file that the files are compared with, "" for Tree, which
	// may be nil for nothing. With AccessTimes times of access count, as far as the tree gives them.
	Against     string
	Tree        tree.Tree
	AccessTimes bool
	// InUse is told of a target that may be in use, and Note of what is worth to know.
	InUse func(target.Info)
	Note  func(text string)
	// Progress is told how far the comparison is: of entries, of which there are to be as many as inodes are in use.
	Progress func(format.Step)

	filling *filling.Filling // that Against names
}

// Run looks at the filesystem. The report covers what comes before an error.
func (j *Job) Run(ctx context.Context) (r report.Verification, err error) {
	r.Partition = j.At.Partition
	if j.Against != "" {
		f, err := filling.Open(filling.Request{Path: j.Against, Option: "--against"})
		if err != nil {
			return r, err
		}
		j.filling, j.Tree = f, f.Tree
	}
	data, err := source.Open(j.Target, j.At.Part, j.Ring)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	j.InUse(data.Info())
	if err := j.headers(ctx, &r, data); err != nil {
		return r, err
	}
	if j.Tree != nil {
		err = j.files(ctx, &r)
	}
	stats := data.Ring.Stats()
	r.Engine, r.Depth, r.Reads, r.Bytes = data.Ring.Engine(), stats.AverageDepth, r.Reads+stats.Reads, r.Bytes+stats.Bytes
	return r, err
}

// headers has the headers checked.
func (j *Job) headers(ctx context.Context, r *report.Verification, data *source.Source) (err error) {
	opts := verify.Options{
		Data: data.Device(), Instead: j.At.Instead, UUID: j.Made, Live: source.InUse(data.Info()), Depth: j.Ring.Depth,
		Memory: aio.NewSlab,
	}
	if j.Log != "" {
		log, err := source.Open(j.Log, nil, j.Ring)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		d := log.Device()
		opts.Log = &d
		r.Others = otherFormats(log, "xfs_external_log")
	}
	if r.Report, err = verify.Run(ctx, opts); err != nil {
		err = fmt.Errorf("%s: %w", j.Target, err)
	}
	if j.At.Instead == "" {
		r.Others = append(otherFormats(data, "xfs"), r.Others...)
		j.tellOthers(r)
	}
	return err
}

// files has the files compared, unless the headers say that they are not what they are to be. That is done by other
// requests than those for headers, which may be direct where these cannot.
func (j *Job) files(ctx context.Context, r *report.Verification) (err error) {
	c := &report.Comparison{Source: j.Tree.Name(), Differences: []against.Difference{}}
	r.Against = c
	if status := r.Report.Status(); status != verify.Clean {
		c.Left = status.String()
		return nil
	}
	data, err := source.OpenFilesystem(j.Target, j.At.Part, j.Ring, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	fs, err := data.Files(j.Log, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fs.Cache.Release()) }()
	if j.filling != nil {
		j.filling.Units(fs.G)
	}
	j.Tree.Forget() // and let the files speak for themselves
	src, err := j.Tree.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	c.Counts, err = against.Compare(ctx, against.Job{
		FS: fs.FS, Super: fs.Super, Ring: data.Ring, Source: src, AccessTimes: j.AccessTimes, Memory: aio.NewSlab,
		Tell:     func(d against.Difference) { c.Differences = append(c.Differences, d) },
		Progress: j.progress(fs, src),
	})
	if err == nil && j.Progress != nil {
		j.Progress(format.Step{Phase: Compare, Done: c.Entries, Total: c.Entries, Bytes: c.Bytes})
	}
	stats := data.Ring.Stats()
	r.Reads, r.Bytes = stats.Reads, stats.Bytes
	return err
}

// Compare is the phase of the comparison.
const Compare format.Phase = "compare"

// progress tells how far the comparison is.
func (j *Job) progress(fs *source.Files, src tree.Source) func(*against.Counts) {
	if j.Progress == nil {
		return nil
	}
	total := int64(fs.Counts.Inodes - min(fs.Counts.Inodes, fs.Counts.FreeInodes))
	path := src.Path
	return func(c *against.Counts) {
		j.Progress(format.Step{
			Phase: Compare, Done: c.Entries, Total: max(total, c.Entries+1), Bytes: c.Bytes, Path: path,
		})
	}
}

// otherFormats lists what probers find on a target beside what should be there.
func otherFormats(t *source.Source, own string) (list []report.Other) {
	for _, f := range target.Leftovers(t, t.Info().Size, nil, func(s target.Signature) bool { return s.Name == own }) {
		list = append(list, report.Other{Target: t.Info().Name(), Format: f.Name, Offset: f.Offset})
	}
	return list
}

// tellOthers says what else was found. Right after the filesystem has been made
// that is a fault. Later it may be in one of its files, and is only worth a note.
func (j *Job) tellOthers(r *report.Verification) {
	for _, o := range r.Others {
		if j.Made != nil {
			message := fmt.Sprintf("still shows, at byte %d of %s: %s", o.Offset, o.Target, report.TwoFormats)
			r.Report.Add(verify.Fault{AG: -1, Structure: o.Format, Offset: o.Offset, Message: message})
		} else {
			j.Note(o.String())
		}
	}
}
