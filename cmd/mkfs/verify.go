package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mkfs/internal/audit"
	"mkfs/internal/ondisk"
	"mkfs/internal/progress"
	"mkfs/internal/report"
	"mkfs/internal/target"
	"mkfs/internal/tree"
	"mkfs/internal/verify"
)

// verifyJob is one verification.
type verifyJob struct {
	looking
	made *ondisk.UUID // what the filesystem's must be; nil for any
	// against names what the files are compared with; after -p it is the tree, whose access times may count.
	against     string
	tree        tree.Tree
	accessTimes bool
	progress    string
	shown       progress.Progress
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
Nothing is written. With --against all files are read and compared as well.

Exit status: 0 clean; 1 faults or differences found, or no XFS at all; 2 it could not be read;
3 no faults, but the log wants replaying.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var fault error
			j.shown, fault = progress.New(j.progress, j.err, j.quiet)
			if err := j.take(args, fault); err != nil {
				return err
			}
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	j.addFlags(fs)
	j.addRingFlags(fs)
	fs.StringVar(&j.progress, "progress", "auto",
		"how to show progress of a comparison on stderr: `KIND` is bar, plain, json, none, or auto: a bar on a terminal")
	fs.StringVar(&j.against, "against", "", "compare the files with those of `SOURCE`, a directory or a prototype file")
	return settled(cmd, stdout, stderr, j.wrong)
}

// verifyAfter verifies what was just formatted. With --json stdout has one
// object, about the filesystem; what is wrong with it goes to stderr.
func (j *job) verifyAfter(ctx context.Context) error {
	q := &j.parser.Request
	v := verifyJob{made: &j.who.UUID, tree: j.tree(), accessTimes: q.Proto.AccessTimes.Value, shown: j.shown, looking: looking{
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
	j.shown.End()
	if err != nil && ctx.Err() != nil {
		return j.stopped(context.Cause(ctx))
	}
	result.Target, result.Seconds = j.target, time.Since(start).Seconds()
	status := result.Outcome()
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

// verify finds the filesystem and looks at it.
func (j *verifyJob) verify(ctx context.Context) (r report.Verification, err error) {
	note := func(string) {}
	sole := note
	if !j.quiet {
		note = func(text string) { fmt.Fprintf(j.err, "%s: note: %s\n", j.name, text) }
		sole = noteTo(j.err, j.name, j.target)
	}
	at, err := locate(&j.part, j.target, sole)
	if err != nil {
		return r, err
	}
	job := audit.Job{
		Target: j.target, At: at, Log: j.log, Ring: j.ring, Made: j.made, Against: j.against, Tree: j.tree, AccessTimes: j.accessTimes,
		InUse: func(info target.Info) { warnOfUse(j.err, j.name, info) }, Note: note,
		Progress: j.shown.Step,
	}
	return job.Run(ctx)
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
