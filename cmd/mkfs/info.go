package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"mkfs/internal/options"
	"mkfs/internal/report"
	"mkfs/internal/source"
	"mkfs/internal/super"
	"mkfs/internal/target"
	"mkfs/internal/verify"
	"mkfs/internal/xlog"
)

// infoJob tells what a filesystem is.
type infoJob struct {
	target, log string
	part        source.Part
	json        bool
	config      bool
	out, err    io.Writer
	name        string
}

// newInfoCommand makes the command that tells what a filesystem is. Its exit
// status is that of verify.Status: 0 for a clean log, 1 for no XFS or a faulty
// one, 2 if it could not be read, and 3 for a log that wants replaying.
func newInfoCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := infoJob{out: stdout, err: stderr, name: name + " info"}
	cmd := &cobra.Command{
		Use:   j.name + " " + usage,
		Short: "Tell what a filesystem is, and whether it was unmounted",
		Long: `Print the geometry of an XFS filesystem, its UUID and label, and the state of
its log, or with --config a file of options that makes it again. Nothing is written.

Exit status: 0 the log is clean, or external and not given; 1 there is no XFS, or something is wrong with
its superblock or log, or with --config mkfs cannot make the same again; 2 it could not be read; 3 the log
wants replaying.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := j.usage(args); err != nil {
				if j.json {
					err = errors.Join(err, report.JSON(j.out, report.NewFailure(err, int(verify.Unreadable))))
				}
				return exitError{verify.Unreadable, err}
			}
			j.target = args[0]
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	partFlags(fs, &j.part)
	fs.StringVar(&j.log, "logdev", "", "device of an external log")
	fs.BoolVar(&j.json, "json", false, "print one JSON object")
	fs.BoolVar(&j.config, "config", false, "print a file for mkfs -c options=FILE that makes the same filesystem again, empty")
	return settled(cmd, stdout, stderr, verify.Unreadable)
}

// usage is what is wrong with the command line.
func (j *infoJob) usage(args []string) error {
	switch {
	case len(args) != 1:
		return usageError{fmt.Errorf("one target, please, not %d", len(args))}
	case j.json && j.config:
		return usageError{errors.New("--json: does not go together with --config, which prints a file of options")}
	}
	return nil
}

// infoResult is what --json prints.
type infoResult struct {
	Target    string           `json:"target"`
	Partition int              `json:"partition,omitempty"`
	Status    string           `json:"status"` // clean, dirty log, faults or unreadable
	UUID      string           `json:"uuid,omitempty"`
	Label     string           `json:"label"`
	Geometry  *report.Geometry `json:"geometry,omitempty"`
	Features  *report.Features `json:"features,omitempty"`
	Space     *report.Space    `json:"space,omitempty"` // none unless the log is clean: the counts may be old
	Log       *report.LogState `json:"log,omitempty"`   // none if it could not be read
	LogState  verify.LogState  `json:"log_state,omitempty"`
	Faults    []string         `json:"faults,omitempty"`
	Error     string           `json:"error,omitempty"`

	fs       *super.Filesystem
	again    string // what --config prints
	logFault string // what is wrong with the log
	state    *xlog.State
}

func (j *infoJob) run(ctx context.Context) error {
	r := infoResult{Target: j.target}
	err := j.look(ctx, &r)
	status := verify.Clean
	switch {
	case err != nil:
		status, r.Error = verify.Unreadable, err.Error()
	case len(r.Faults) > 0:
		status = verify.Faulty
	case r.state != nil && !r.state.Clean:
		status = verify.Dirty
	}
	r.Status = status.String()
	if e := j.print(&r); err == nil && e != nil {
		return exitError{verify.Unreadable, e}
	}
	if status != verify.Clean {
		return exitError{status, err}
	}
	return nil
}

// look reads the superblock, finds the ends of the log, and counts what there is.
func (j *infoJob) look(ctx context.Context, r *infoResult) error {
	at, err := locate(&j.part, j.target, noteTo(j.err, j.name, j.target))
	if err != nil {
		return err
	}
	r.Partition = at.Partition
	t, err := target.Open(j.target, target.Options{Window: at.Part})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was written
	warnOfUse(j.err, j.name, t.Info())
	tell := func(message string) { r.Faults = append(r.Faults, message) }
	if at.Instead != "" {
		tell("no XFS: " + at.Instead)
		return nil
	}
	b := make([]byte, min(super.ReadSize, t.Info().Size))
	if _, err := t.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: superblock: %w", j.target, err)
	}
	if r.fs = super.Read(b, t.Info().Size, func(message string) { tell("superblock: " + message) }); r.fs == nil {
		return nil
	}
	if j.config && len(r.Faults) == 0 {
		if err := j.makeAgain(r, t, tell); err != nil {
			return fmt.Errorf("%s: %w", j.target, err)
		}
	}
	if err := j.lookAtLog(r, t, tell); err != nil {
		return err
	}
	if j.json && r.LogState == verify.LogClean && len(r.Faults) == 0 {
		n, ok, err := r.fs.Counts(ctx, t, tell)
		if err != nil {
			return fmt.Errorf("%s: %w", j.target, err)
		}
		if ok {
			r.Space = report.NewSpace(&r.fs.Geometry, n)
		}
	}
	return nil
}

// makeAgain makes the file of options that makes the filesystem on t again.
func (j *infoJob) makeAgain(r *infoResult, t *target.Target, tell func(string)) error {
	rootKnown, err := r.fs.ReadRoot(t, tell)
	if err != nil {
		return err
	}
	a := options.ConfigAgain(&r.fs.Geometry, uuid.UUID(r.fs.SB.UUID), rootKnown)
	r.again = a.Text
	for _, text := range a.Differ {
		tell("mkfs cannot make the same again: " + text)
	}
	return nil
}

// lookAtLog finds the ends of the log, which is on t or on a device of its own.
func (j *infoJob) lookAtLog(r *infoResult, t *target.Target, tell func(string)) error {
	r.LogState = verify.LogUnknown
	if j.log != "" && r.fs.SB.LogStart != 0 {
		return usageError{fmt.Errorf("--logdev: the log of %s is on it, and not on %s", j.target, j.log)}
	}
	found, err := source.FindLog(t, r.fs, j.log, nil)
	if err != nil {
		return err
	}
	for _, fault := range found.Faults() {
		tell(fault)
	}
	switch r.state, r.logFault = found.State, found.Fault; {
	case found.Fault != "":
		r.LogState = verify.LogFaulty
	case found.State != nil && found.State.Clean:
		r.LogState = verify.LogClean
	case found.State != nil:
		r.LogState = verify.LogDirty
	}
	return nil
}

func (j *infoJob) print(r *infoResult) error {
	if j.json {
		if r.fs != nil {
			geo, features := report.NewGeometry(&r.fs.Geometry, j.log, ""), report.NewFeatures(&r.fs.Geometry)
			r.Geometry, r.Features = &geo, &features
			r.UUID, r.Label = uuid.UUID(r.fs.SB.UUID).String(), r.fs.Geometry.Label
		}
		if r.state != nil {
			s := report.NewLogState(r.state)
			r.Log = &s
		}
		return report.JSON(j.out, r)
	}
	switch {
	case j.config:
		if _, err := io.WriteString(j.out, r.again); err != nil {
			return err
		}
	case r.fs != nil:
		log := j.log
		if log == "" {
			log = "external log"
		}
		report.Table(j.out, &r.fs.Geometry, j.target, log, "external")
		fmt.Fprintf(j.out, "uuid     =%v\n", uuid.UUID(r.fs.SB.UUID))
		fmt.Fprintf(j.out, "label    =%q\n", r.fs.Geometry.Label)
		fmt.Fprintf(j.out, "log state=%s\n", r.logText())
	}
	for _, text := range r.Faults {
		fmt.Fprintf(j.err, "%s: %s: %s\n", j.name, j.target, text)
	}
	return nil
}

// logText tells where the log begins and ends, in blocks of 512 bytes, or why
// that is not known.
func (r *infoResult) logText() string {
	s, blocks := r.state, r.fs.Log().Blocks
	switch {
	case r.LogState == verify.LogFaulty:
		return "faulty; " + r.logFault
	case s == nil && r.fs.SB.LogStart == 0:
		return "unknown; it was not read: it is on a device of its own, and --logdev names that"
	case s == nil:
		return "unknown; it was not read: the superblock names no place for it"
	case s.Empty:
		return "clean, nothing was ever written"
	case s.Clean:
		return report.WithDropped(s, fmt.Sprintf("clean, head at block %d of %d, cycle %d", s.Head, blocks, s.Cycle))
	}
	return report.WithDropped(s, fmt.Sprintf("dirty, tail at block %d and head at block %d of %d, cycle %d", s.Tail, s.Head, blocks, s.Cycle))
}
