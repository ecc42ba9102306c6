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
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/progress"
	"mkfs/internal/recovery"
	"mkfs/internal/report"
	"mkfs/internal/target"
	"mkfs/internal/verify"
	"mkfs/internal/xlog"
)

// recoverJob is one recovery.
type recoverJob struct {
	target, log, copyTo string
	copyLogTo           string
	part                windowFlags
	newUUID             string
	uuid                *ondisk.UUID
	dryRun              bool
	ring                aio.Config
	json, quiet         bool
	progress            string
	shown               progress.Progress
	out, err            io.Writer
	name                string
}

// newRecoverCommand makes the command that replays a log. Its exit status is
// that of verify.Status: 0 if the log is clean now, 1 if it cannot be replayed,
// 2 for errors of IO, and 3 if work remains that only the kernel can finish.
func newRecoverCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := recoverJob{out: stdout, err: stderr, name: name + " recover"}
	var engine string
	var depth int
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
			if len(args) != 1 {
				return j.refuse(usageError{fmt.Errorf("one target, please, not %d", len(args))})
			}
			ring, faults := ringConfig(engine, depth)
			var err error
			if j.shown, err = progress.New(j.progress, j.err, j.quiet); err != nil {
				faults = append(faults, err)
			}
			if j.uuid, err = parseNewUUID(j.newUUID); err != nil {
				faults = append(faults, err)
			}
			faults = append(faults, j.copyFaults()...)
			if len(faults) > 0 {
				return j.refuse(&geometry.Refusals{List: faults})
			}
			j.target, j.ring = args[0], ring
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&j.dryRun, "dry-run", "n", false, "do all but writing")
	fs.StringVar(&j.copyTo, "copy-to", "", "make a copy in a new file and recover that; the target is only read")
	fs.StringVar(&j.copyLogTo, "copy-log-to", "", "with --copy-to and --logdev: copy the external log to a new file; the log is only read")
	fs.StringVar(&j.newUUID, "uuid", "", "give the filesystem this UUID once its log is clean, or a random one: generate")
	j.part.add(fs)
	fs.StringVar(&j.log, "logdev", "", "device of an external log")
	fs.BoolVar(&j.json, "json", false, "print the report as one JSON object")
	fs.BoolVarP(&j.quiet, "quiet", "q", false, "say nothing but errors")
	fs.StringVar(&j.progress, "progress", "auto", "how to show progress on stderr: bar, plain, json, none, or auto: a bar on a terminal")
	fs.StringVar(&engine, "engine", "auto", "how to read and write: auto, uring, aio or sync")
	fs.IntVar(&depth, "queue-depth", aio.DefaultDepth, "requests in flight")
	return settled(cmd, stdout, stderr, verify.Faulty)
}

// refuse ends the command before anything is read.
func (j *recoverJob) refuse(err error) error {
	if j.json {
		err = errors.Join(err, report.JSON(j.out, report.NewFailure(err, int(verify.Faulty))))
	}
	return exitError{verify.Faulty, err}
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
		if j.copyTo != "" {
			return fmt.Errorf("%w; there is no copy", context.Cause(ctx))
		}
		return fmt.Errorf("%w; another run does the rest", context.Cause(ctx))
	}
	result.Seconds = time.Since(started).Seconds()
	status := recoveryStatus(&result, err)
	if e := j.print(&result, status, err); err == nil && e != nil {
		return exitError{verify.Unreadable, e}
	}
	if status != verify.Clean {
		return exitError{status, err}
	}
	return nil
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
		errors.Is(err, target.ErrExists), errors.As(err, new(usageError)), errors.As(err, new(*xlog.Corrupt)), errors.As(err, new(*target.InUseError)):
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
	at, err := j.part.locate(path, nil) // it writes, so only what was named
	if err != nil {
		return err
	}
	if at.instead != "" {
		return fmt.Errorf("%s: %w: no XFS: %s", path, recovery.ErrRefused, at.instead)
	}
	part := at.part
	r.Partition = at.partition
	logPath := j.log
	if j.copyTo != "" {
		made, err := j.copySources(ctx, part, r)
		if err != nil {
			return err
		}
		if err = j.recoverAt(ctx, j.copyTo, nil, j.copyLogTo, r); err != nil {
			made.remove() // what is half done is of no use
		}
		return err
	}
	return j.recoverAt(ctx, path, part, logPath, r)
}

// recoverAt replays the log of the filesystem at a path.
func (j *recoverJob) recoverAt(ctx context.Context, path string, part *target.Window, logPath string, r *report.Recovery) (err error) {
	data, err := j.open(path, part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	if err := j.otherThan(data.Info(), logPath); err != nil {
		return err
	}
	opts := recovery.Options{
		Data: data.section(), DryRun: j.dryRun, UUID: j.uuid, Depth: data.ring.Stats().Depth, Memory: aio.NewSlab,
		MayWrite: func() error { return data.CheckLength(data.Info().Size) },
		Progress: func(done, total int64) { j.shown.Step(progress.Replay, done, total) },
	}
	if logPath != "" {
		log, err := j.open(logPath, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.close()) }()
		d := log.section()
		opts.Log = &d
		opts.MayWrite = func() error {
			return errors.Join(data.CheckLength(data.Info().Size), log.CheckLength(log.Info().Size))
		}
	}
	r.Report, err = recovery.Run(ctx, opts)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	stats := data.ring.Stats()
	r.Engine, r.Depth, r.Bytes = data.ring.Engine(), stats.AverageDepth, stats.Bytes
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

// open opens a target for recovery, in a dry run only to read it. Direct IO is
// used if the filesystem's sectors meet its alignment.
func (j *recoverJob) open(path string, part *target.Window) (*readTarget, error) {
	t, err := target.Open(path, target.Options{Write: !j.dryRun, Direct: true, Window: part})
	if err != nil {
		return nil, err
	}
	if j.dryRun { // else it would not have been opened
		warnOfUse(j.err, j.name, t.Info())
	}
	direct, align := t.DirectIO()
	if direct && (align > sectorAt(t) || t.Info().Size%int64(align) != 0) {
		t.Buffered()
		align = 1
	}
	ring := j.ring
	ring.Base = t.Info().Offset
	r, err := aio.Open(t.Fd(), ring)
	if err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &readTarget{t, r, align}, nil
}

// sectorAt is the smaller of the sector sizes that a superblock says, or what
// goes with all.
func sectorAt(t *target.Target) int {
	b := make([]byte, geometry.BasicBlock)
	_, _ = t.ReadAt(b, 0) // what is wrong will be told by who needs it
	s, ok := ondisk.DecodeSuperblock(b)
	if !ok {
		return geometry.BasicBlock
	}
	return min(int(s.SectorSize), max(geometry.BasicBlock, int(s.LogSectorSize)))
}

func (t *readTarget) section() recovery.Device {
	return recovery.Device{Name: t.Info().Path, Ring: t.ring, Size: t.Info().Size, Align: t.align}
}
