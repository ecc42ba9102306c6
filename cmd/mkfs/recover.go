package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"mkfs/internal/aio"
	"mkfs/internal/ondisk"
	"mkfs/internal/progress"
	"mkfs/internal/recovery"
	"mkfs/internal/report"
	"mkfs/internal/source"
	"mkfs/internal/target"
	"mkfs/internal/verify"
	"mkfs/internal/xlog"
)

// recoverJob is one recovery.
type recoverJob struct {
	looking
	copyTo, copyLogTo string
	newUUID           string
	uuid              *ondisk.UUID // of newUUID; nil for none
	dryRun            bool
	progress          string
	shown             progress.Progress
}

// newRecoverCommand makes the command that replays a log. Its exit status is
// that of verify.Status: 0 if the log is clean now, 1 if it cannot be replayed,
// 2 for errors of IO, and 3 if work remains that only the kernel can finish.
func newRecoverCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := recoverJob{looking: looking{out: stdout, err: stderr, name: name + " recover", wrong: exitRefused}}
	cmd := &cobra.Command{
		Use:   j.name + " " + usage,
		Short: "Replay the log of a filesystem that was not unmounted",
		Long: `Replay the log of an XFS filesystem that was not unmounted, without mounting it,
and leave the log clean. A filesystem whose log is clean is not written to.

Some work only the kernel can finish: files that were deleted while they were
open, and changes that were cut short. If there is any then all else is
replayed, the log stays as it is, and the next mount finishes it.

Exit status: 0 the log is clean; 1 it cannot be replayed, or there is no XFS at
all; 2 an error of reading or writing; 3 work remains for the kernel.`,
		Example: `  ` + j.name + ` --dry-run disk.img
  ` + j.name + ` --copy-to rescued.img /dev/sdb1
  ` + j.name + ` --uuid generate clone.img`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var faults [2]error
			j.shown, faults[0] = progress.New(j.progress, j.err, j.quiet)
			j.uuid, faults[1] = parseNewUUID(j.newUUID)
			if err := j.take(args, append(j.copyFaults(), faults[:]...)...); err != nil {
				return err
			}
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&j.dryRun, "dry-run", "n", false, "do all but writing")
	fs.StringVar(&j.copyTo, "copy-to", "", "make a copy in a new `FILE` and recover that; the target is only read")
	fs.StringVar(&j.copyLogTo, "copy-log-to", "",
		"with --copy-to and --logdev: copy the external log to a new `FILE`; the log is only read")
	fs.StringVar(&j.newUUID, "uuid", "", "give the filesystem this `UUID` once its log is clean, or a random one: generate")
	j.addFlags(fs)
	j.addRingFlags(fs)
	fs.StringVar(&j.progress, "progress", "auto",
		"how to show progress on stderr: `KIND` is bar, plain, json, none, or auto: a bar on a terminal")
	return settled(cmd, stdout, stderr, j.wrong)
}

// copyFaults are what is wrong with the options of copies by themselves.
func (j *recoverJob) copyFaults() (faults []error) {
	switch {
	case j.copyTo == "" && j.copyLogTo != "":
		faults = append(faults, errors.New("--copy-log-to: needs --copy-to: without it the target itself would be recovered"))
	case j.copyTo != "" && j.log != "" && j.copyLogTo == "":
		faults = append(faults, errors.New("--copy-to: the log is on a device of its own: --copy-log-to FILE makes a "+
			"copy of that, too"))
	case j.copyLogTo != "" && j.log == "":
		faults = append(faults, errors.New("--copy-log-to: needs --logdev, which names the log"))
	case j.copyTo != "" && target.SamePath(j.copyTo, j.copyLogTo):
		faults = append(faults, fmt.Errorf("--copy-log-to: %s is what --copy-to makes", j.copyLogTo))
	}
	if j.copyTo != "" && j.dryRun {
		faults = append(faults, errors.New("--copy-to: a dry run writes nothing, so it makes no copy"))
	}
	return faults
}

// run recovers and prints what was done. The error is an exitError unless a
// signal stopped it.
func (j *recoverJob) run(ctx context.Context) error {
	started := time.Now()
	if j.copyTo != "" {
		leaves(ctx, "the copy is of no use")
	} else if !j.dryRun {
		leaves(ctx, "another run does the rest")
	}
	result := report.Recovery{Target: j.target, DryRun: j.dryRun, Copy: j.copyTo, CopyLog: j.copyLogTo}
	err := j.recover(ctx, &result)
	j.shown.End()
	if err != nil && ctx.Err() != nil {
		left := "another run does the rest"
		if j.copyTo != "" {
			left = "there is no copy"
		}
		return j.stopped(fmt.Errorf("%w; %s", context.Cause(ctx), left))
	}
	result.Seconds = time.Since(started).Seconds()
	status := recoveryStatus(&result, err)
	return ended(status, err, j.print(&result, status, err))
}

// print prints the result; an error is main's to print, unless as JSON.
func (j *recoverJob) print(r *report.Recovery, status verify.Status, err error) error {
	r.Give(j.uuid)
	switch {
	case j.json:
		return r.PrintJSON(j.out, status, err)
	case j.quiet || err != nil:
		return nil
	case j.copyTo != "":
		return r.Print(j.out, j.copyTo)
	}
	return r.Print(j.out, j.target)
}

// recoveryStatus is the outcome as an exit status.
func recoveryStatus(r *report.Recovery, err error) verify.Status {
	switch {
	case errors.Is(err, recovery.ErrRefused), errors.Is(err, recovery.ErrTooLarge), errors.Is(err, xlog.ErrForeign),
		errors.Is(err, target.ErrExists), errors.As(err, new(usageError)), errors.As(err, new(*xlog.Corrupt)),
		errors.As(err, new(*target.InUseError)):
		return verify.Faulty
	case err != nil:
		return verify.Unreadable
	case !r.Report.Finished:
		return verify.Dirty
	}
	return verify.Clean
}

// recover opens the targets and replays the log.
func (j *recoverJob) recover(ctx context.Context, r *report.Recovery) error {
	path := j.target
	at, err := locate(&j.part, path, nil) // it writes, so only what was named
	if err != nil {
		return err
	}
	if at.Instead != "" {
		return fmt.Errorf("%s: %w: no XFS: %s", path, recovery.ErrRefused, at.Instead)
	}
	r.Partition = at.Partition
	if j.copyTo == "" {
		return j.recoverAt(ctx, path, at.Part, j.log, r)
	}
	copies, err := source.Copy(ctx, j.copyJob(at.Part))
	if err != nil {
		return err
	}
	r.Copied, r.LeftOut = copies.Copied, copies.LeftOut
	if err = j.recoverAt(ctx, j.copyTo, nil, j.copyLogTo, r); err != nil {
		copies.Remove() // what is half done is of no use
		err = fmt.Errorf("the copy of %s: %w", j.target, err)
	}
	return err
}

// copyJob is what --copy-to and --copy-log-to ask for.
func (j *recoverJob) copyJob(part *target.Window) source.CopyJob {
	return source.CopyJob{
		Data: j.target, Part: part, Log: j.log, DataTo: j.copyTo, LogTo: j.copyLogTo, Ring: j.ring,
		Progress: progress.Of(j.shown, progress.Copy),
		Idle:     func(info target.Info) { warnOfUse(j.err, j.name, info) },
		Note: func(text string) {
			if !j.quiet {
				fmt.Fprintf(j.err, "%s: note: %s: %s\n", j.name, j.target, text)
			}
		},
	}
}

// open opens a target for recovery, in a dry run only to read it.
func (j *recoverJob) open(path string, part *target.Window) (*source.Source, error) {
	s, err := source.OpenFilesystem(path, part, j.ring, !j.dryRun)
	if err == nil && j.dryRun { // else it would not have been opened
		warnOfUse(j.err, j.name, s.Info())
	}
	return s, err
}

// recoverAt replays the log of the filesystem at a path.
func (j *recoverJob) recoverAt(ctx context.Context, path string, part *target.Window, logPath string,
	r *report.Recovery) (err error) {
	data, err := j.open(path, part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if err := source.DistinctLog(data.Info(), logPath); err != nil {
		return err
	}
	opts := recovery.Options{
		Data: data.Section(), DryRun: j.dryRun, UUID: j.uuid, Depth: data.Ring.Stats().Depth, Memory: aio.NewSlab,
		MayWrite: func() error { return data.CheckLength(data.Info().Size) },
		Progress: progress.Of(j.shown, progress.Replay),
	}
	if logPath != "" {
		log, err := j.open(logPath, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		d := log.Section()
		opts.Log = &d
		opts.MayWrite = func() error {
			return errors.Join(data.CheckLength(data.Info().Size), log.CheckLength(log.Info().Size))
		}
	}
	r.Report, err = recovery.Run(ctx, opts)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	stats := data.Ring.Stats()
	r.Engine, r.Depth, r.Bytes = data.Ring.Engine(), stats.AverageDepth, stats.Bytes
	return err
}

// parseNewUUID reads the value of --uuid; empty stands for none.
func parseNewUUID(text string) (*ondisk.UUID, error) {
	switch text {
	case "":
		return nil, nil
	case "generate":
		id := ondisk.UUID(uuid.New())
		return &id, nil
	}
	id, err := uuid.Parse(text)
	if err != nil || id == uuid.Nil {
		return nil, fmt.Errorf("--uuid: %q is no UUID, as %v is one, nor generate", text, uuid.New())
	}
	return (*ondisk.UUID)(&id), nil
}
