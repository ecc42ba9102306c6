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
)

// infoJob tells what a filesystem is.
type infoJob struct {
	looking
	config bool // print a file of options that makes it again
}

// newInfoCommand makes the command that tells what a filesystem is. Its exit
// status is that of verify.Status: 0 for a clean log, 1 for no XFS or a faulty
// one, 2 if it could not be read, and 3 for a log that wants replaying.
func newInfoCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := infoJob{looking: looking{out: stdout, err: stderr, name: name + " info", wrong: exitUnreadable}}
	cmd := &cobra.Command{
		Use:   j.name + " " + usage,
		Short: "Tell what a filesystem is, and whether it was unmounted",
		Long: `Print the geometry of an XFS filesystem, its UUID and label, and the state of
its log, or with --config a file of options that makes it again. Nothing is written.

Exit status: 0 the log is clean, or external and not given; 1 there is no XFS, or something is wrong with
its superblock or log, or with --config mkfs cannot make the same again; 2 it could not be read; 3 the log
wants replaying.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var both error
			if j.json && j.config {
				both = errors.New("--json: does not go together with --config, which prints a file of options")
			}
			if err := j.take(args, both); err != nil {
				return err
			}
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	j.addFlags(fs)
	fs.BoolVar(&j.config, "config", false,
		"print a file for mkfs -c options=FILE that makes the same filesystem again, empty")
	return settled(cmd, stdout, stderr, j.wrong)
}

func (j *infoJob) run(ctx context.Context) error {
	r := report.Info{Target: j.target}
	err := j.look(ctx, &r)
	status := verify.Clean
	switch {
	case err != nil:
		status, r.Error = verify.Unreadable, err.Error()
	case len(r.Faults) > 0:
		status = verify.Faulty
	case r.State != nil && !r.State.Clean:
		status = verify.Dirty
	}
	r.Status = status.String()
	return ended(status, err, j.print(&r))
}

// look reads the superblock, finds the ends of the log, and counts what there is.
func (j *infoJob) look(ctx context.Context, r *report.Info) error {
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
	if r.FS = super.Read(b, t.Info().Size, func(message string) { tell("superblock: " + message) }); r.FS == nil {
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
		n, ok, err := r.FS.Counts(ctx, t, func(string) {}) // headers are verify's to judge; without them there is no space
		if err != nil {
			return fmt.Errorf("%s: %w", j.target, err)
		}
		if ok {
			r.Space = report.NewSpace(&r.FS.Geometry, n)
		}
	}
	return nil
}

// makeAgain makes the file of options that makes the filesystem on t again.
func (j *infoJob) makeAgain(r *report.Info, t *target.Target, tell func(string)) error {
	rootKnown, err := r.FS.ReadRoot(t, tell)
	if err != nil {
		return err
	}
	a := options.ConfigAgain(&r.FS.Geometry, uuid.UUID(r.FS.SB.UUID), rootKnown)
	r.Again = &a.Text
	for _, text := range a.Differ {
		tell("mkfs cannot make the same again: " + text)
	}
	return nil
}

// lookAtLog finds the ends of the log, which is on t or on a device of its own.
func (j *infoJob) lookAtLog(r *report.Info, t *target.Target, tell func(string)) error {
	r.LogState = verify.LogUnknown
	if j.log != "" && r.FS.SB.LogStart != 0 {
		return usageError{fmt.Errorf("--logdev: the log of %s is on it, and not on %s", j.target, j.log)}
	}
	found, err := source.FindLog(t, r.FS, j.log, nil)
	if err != nil {
		return err
	}
	for _, fault := range found.Faults() {
		tell(fault)
	}
	switch r.State, r.LogFault = found.State, found.Fault; {
	case found.Fault != "":
		r.LogState = verify.LogFaulty
	case found.State != nil && found.State.Clean:
		r.LogState = verify.LogClean
	case found.State != nil:
		r.LogState = verify.LogDirty
	}
	return nil
}

func (j *infoJob) print(r *report.Info) error {
	if j.json {
		return r.PrintJSON(j.out, j.log)
	}
	if err := r.Print(j.out, j.log); err != nil {
		return err
	}
	for _, text := range r.Faults {
		fmt.Fprintf(j.err, "%s: %s: %s\n", j.name, j.target, text)
	}
	return nil
}
