package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mkfs/internal/aio"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/report"
	"mkfs/internal/target"
	"mkfs/internal/verify"
)

// verifyJob is one verification.
type verifyJob struct {
	target, log string
	part        windowFlags
	made        *ondisk.UUID // what the filesystem's must be; nil for any
	ring        aio.Config
	json, quiet bool
	out, err    io.Writer
	name        string
}

// newVerifyCommand makes the command that verifies. Its exit status is that of
// verify.Status: 0 for a clean filesystem, 1 for faults, also if there is no
// XFS at all, 2 if that could not be found out, and 3 for a log that wants
// replaying where nothing else is wrong.
func newVerifyCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := verifyJob{out: stdout, err: stderr, name: name + " verify"}
	var engine string
	var depth int
	cmd := &cobra.Command{
		Use:   j.name + " " + usage,
		Short: "Check the headers of all allocation groups",
		Long: `Read the headers and btree roots of all allocation groups of an XFS filesystem
and check them, each by itself, against each other and against the log's head.
Nothing is written.

Exit status: 0 clean; 1 faults found, or no XFS at all; 2 it could not be read;
3 no faults, but the log wants replaying.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return j.refuse(usageError{fmt.Errorf("one target, please, not %d", len(args))})
			}
			ring, faults := ringConfig(engine, depth)
			if len(faults) > 0 {
				return j.refuse(&geometry.Refusals{List: faults})
			}
			j.target, j.ring = args[0], ring
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	j.part.add(fs)
	fs.StringVar(&j.log, "logdev", "", "device of an external log")
	fs.BoolVar(&j.json, "json", false, "print the report as one JSON object")
	fs.BoolVarP(&j.quiet, "quiet", "q", false, "say nothing but faults")
	fs.StringVar(&engine, "engine", "auto", "how to read: auto, uring, aio or sync")
	fs.IntVar(&depth, "queue-depth", aio.DefaultDepth, "requests in flight")
	return settled(cmd, stdout, stderr, verify.Unreadable)
}

// refuse ends the command before anything is read.
func (j *verifyJob) refuse(err error) error {
	if j.json {
		r := report.Verification{Status: verify.Unreadable.String(), Error: err.Error()}
		err = errors.Join(err, r.PrintJSON(j.out))
	}
	return exitError{verify.Unreadable, err}
}

// verifyAfter verifies what was just formatted. With --json stdout has one
// object, about the filesystem; what is wrong with it goes to stderr.
func (j *job) verifyAfter(ctx context.Context) error {
	q := &j.parser.Request
	v := verifyJob{
		target: q.Data.Path.Value, part: j.part, made: &j.made, ring: j.ring(), quiet: j.quiet || j.json, out: j.out, err: j.err, name: j.name,
	}
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
		return context.Cause(ctx)
	}
	result.Target, result.Seconds = j.target, time.Since(start).Seconds()
	status := result.Report.Status()
	if err != nil {
		status, result.Error = verify.Unreadable, err.Error()
	}
	result.Status = status.String()
	if e := j.print(&result); err == nil && e != nil {
		return exitError{verify.Unreadable, e}
	}
	if status != verify.Clean {
		return exitError{status, err}
	}
	return nil
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
	at, err := j.part.locate(j.target, sole)
	if err != nil {
		return r, err
	}
	r.Partition = at.partition
	data, err := openToRead(j.target, at.part, j.ring)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	warnOfUse(j.err, j.name, data.Info())
	opts := verify.Options{Data: data.device(), Instead: at.instead, UUID: j.made, Live: inUse(data.Info()), Depth: j.ring.Depth, Memory: aio.NewSlab}
	if j.log != "" {
		log, err := openToRead(j.log, nil, j.ring)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, log.close()) }()
		d := log.device()
		opts.Log = &d
		r.Others = log.others("xfs_external_log")
	}
	r.Report, err = verify.Run(ctx, opts)
	if err != nil {
		err = fmt.Errorf("%s: %w", j.target, err)
	}
	if at.instead == "" {
		r.Others = append(data.others("xfs"), r.Others...)
		j.tellOthers(&r)
	}
	stats := data.ring.Stats()
	r.Engine, r.Depth, r.Reads, r.Bytes = data.ring.Engine(), stats.AverageDepth, stats.Reads, stats.Bytes
	return r, err
}

// warnOfUse warns that what is read only is in use.
func warnOfUse(w io.Writer, name string, info target.Info) {
	if use := target.CheckUse(info); use != nil {
		fmt.Fprintf(w, "%s: warning: %v; it may change while it is read\n", name, use)
	}
}

// inUse tells whether a target may change while it is read. An idle loop device
// made of it changes nothing.
func inUse(info target.Info) bool {
	use := target.CheckUse(info)
	var known *target.InUseError
	return use != nil && !(errors.As(use, &known) && known.Idle)
}

// readTarget is a target that is read through a ring.
type readTarget struct {
	*target.Target
	ring  *aio.Ring
	align int
}

// openToRead opens a target. Direct IO cannot reach the end of a file that is
// no multiple of its alignment.
func openToRead(path string, part *target.Window, ring aio.Config) (*readTarget, error) {
	t, err := target.Open(path, target.Options{Direct: true, Window: part})
	if err != nil {
		return nil, err
	}
	direct, align := t.DirectIO()
	if direct && t.Info().Size%int64(align) != 0 {
		_ = t.Close() // nothing was written
		align = 1
		if t, err = target.Open(path, target.Options{Window: part}); err != nil {
			return nil, err
		}
	}
	t.DropCache()
	ring.Base = t.Info().Offset
	r, err := aio.Open(t.Fd(), ring)
	if err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &readTarget{t, r, align}, nil
}

func (t *readTarget) device() verify.Device {
	return verify.Device{Reader: t.ring, Size: t.Info().Size, Align: t.align}
}

// close closes the ring and the target. The first error of the ring has been
// told already.
func (t *readTarget) close() error {
	_ = t.ring.Close()
	return t.Close()
}
