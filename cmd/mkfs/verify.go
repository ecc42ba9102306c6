package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mkfs/internal/aio"
	"mkfs/internal/ondisk"
	"mkfs/internal/report"
	"mkfs/internal/source"
	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// verifyJob is one verification.
type verifyJob struct {
	looking
	made *ondisk.UUID // what the filesystem's must be; nil for any
}

// newVerifyCommand makes the command that verifies. Its exit status is that of
// verify.Status: 0 for a clean filesystem, 1 for faults, also if there is no
// XFS at all, 2 if that could not be found out, and 3 for a log that wants
// replaying where nothing else is wrong.
func newVerifyCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := verifyJob{looking: looking{out: stdout, err: stderr, name: name + " verify", wrong: exitUnreadable,
		failure: report.Unverified}}
	cmd := &cobra.Command{
		Use:   j.name + " " + usage,
		Short: "Check the headers of all allocation groups",
		Long: `Read the headers and btree roots of all allocation groups of an XFS filesystem
and check them, each by itself, against each other and against the log's head.
Nothing is written.

Exit status: 0 clean; 1 faults found, or no XFS at all; 2 it could not be read;
3 no faults, but the log wants replaying.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := j.take(args); err != nil {
				return err
			}
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	j.addFlags(fs)
	j.addRingFlags(fs)
	return settled(cmd, stdout, stderr, j.wrong)
}

// verifyAfter verifies what was just formatted. With --json stdout has one
// object, about the filesystem; what is wrong with it goes to stderr.
func (j *job) verifyAfter(ctx context.Context) error {
	q := &j.parser.Request
	v := verifyJob{made: &j.who.UUID, looking: looking{
		target: q.Data.Path.Value, part: j.part, ring: j.ring, quiet: j.quiet || j.json, out: j.out, err: j.err, name: j.name,
	}}
	if j.json {
		v.out = j.err
	}
	if q.Spec.Log.External {
		v.log = q.Log.Path.Value
	}
	return v.run(ctx)
}

// run verifies and prints what was found. The error is an exitError unless a
// signal stopped it.
func (j *verifyJob) run(ctx context.Context) error {
	start := time.Now()
	result, err := j.verify(ctx)
	if err != nil && ctx.Err() != nil {
		return j.stopped(context.Cause(ctx))
	}
	result.Target, result.Seconds = j.target, time.Since(start).Seconds()
	status := result.Report.Status()
	if err != nil {
		status, result.Error = verify.Unreadable, err.Error()
	}
	result.Status = status.String()
	return ended(status, err, j.print(&result))
}

func (j *verifyJob) print(r *report.Verification) error {
	if j.json {
		return r.PrintJSON(j.out)
	}
	return r.Print(j.out, j.quiet)
}

// verify opens the targets and reads them.
func (j *verifyJob) verify(ctx context.Context) (r report.Verification, err error) {
	sole := noteTo(j.err, j.name, j.target)
	if j.quiet {
		sole = func(string) {}
	}
	at, err := locate(&j.part, j.target, sole)
	if err != nil {
		return r, err
	}
	r.Partition = at.Partition
	data, err := source.Open(j.target, at.Part, j.ring)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	warnOfUse(j.err, j.name, data.Info())
	opts := verify.Options{Data: data.Device(), Instead: at.Instead, UUID: j.made, Live: source.InUse(data.Info()),
		Depth: j.ring.Depth, Memory: aio.NewSlab}
	if j.log != "" {
		log, err := source.Open(j.log, nil, j.ring)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		d := log.Device()
		opts.Log = &d
		r.Others = otherFormats(log, "xfs_external_log")
	}
	r.Report, err = verify.Run(ctx, opts)
	if err != nil {
		err = fmt.Errorf("%s: %w", j.target, err)
	}
	if at.Instead == "" {
		r.Others = append(otherFormats(data, "xfs"), r.Others...)
		j.tellOthers(&r)
	}
	stats := data.Ring.Stats()
	r.Engine, r.Depth, r.Reads, r.Bytes = data.Ring.Engine(), stats.AverageDepth, stats.Reads, stats.Bytes
	return r, err
}

// warnOfUse warns that what is read only is in use.
func warnOfUse(w io.Writer, name string, info target.Info) {
	if use := target.CheckUse(info); use != nil {
		fmt.Fprintf(w, "%s: warning: %v; it may change while it is read\n", name, use)
	}
}

// noteTo prints notes about a target.
func noteTo(w io.Writer, name, path string) func(note string) {
	return func(note string) { fmt.Fprintf(w, "%s: %s: %s\n", name, path, note) }
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
func (j *verifyJob) tellOthers(r *report.Verification) {
	for _, o := range r.Others {
		if j.made != nil {
			message := fmt.Sprintf("still shows, at byte %d of %s: %s", o.Offset, o.Target, report.TwoFormats)
			r.Report.Add(verify.Fault{AG: -1, Structure: o.Format, Offset: o.Offset, Message: message})
		} else if !j.quiet {
			fmt.Fprintf(j.err, "%s: note: %v\n", j.name, o)
		}
	}
}
