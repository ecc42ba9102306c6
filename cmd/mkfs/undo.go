package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mkfs/internal/geometry"
	"mkfs/internal/progress"
	"mkfs/internal/report"
	"mkfs/internal/target"
	"mkfs/internal/undo"
)

// undoJob puts back what formatting has overwritten.
type undoJob struct {
	file, target, log, rt      string
	force, dryRun, json, quiet bool
	progress                   string
	shown                      progress.Progress
	out, err                   io.Writer
	name                       string
}

// newUndoCommand makes the command that puts back what --undo has kept. Its
// exit status is 0 if all is as it was, 1 if it was refused, and 2 for errors
// of IO.
func newUndoCommand(name string, stdout, stderr io.Writer) *cobra.Command {
	j := undoJob{out: stdout, err: stderr, name: name + " undo"}
	cmd := &cobra.Command{
		Use:   j.name + " [options] FILE TARGET",
		Short: "Put back what formatting with --undo FILE has overwritten",
		Long: `Put back what was on a target before it was formatted with --undo FILE: contents
and, of an image file, its size. A target that has changed since is refused: one
with another filesystem, or one that was mounted.

Exit status: 0 all is as it was; 1 refused; 2 an error of reading or writing:
then run it again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var faults []error
			if len(args) != 2 {
				faults = append(faults, fmt.Errorf("an undo file and a target, please, not %d arguments", len(args)))
			}
			var err error
			if j.shown, err = progress.New(j.progress, j.err, j.quiet); err != nil {
				faults = append(faults, err)
			}
			if len(faults) > 0 {
				return j.fail(exitRefused, &geometry.Refusals{List: faults})
			}
			j.file, j.target = args[0], args[1]
			return j.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.BoolVarP(&j.force, "force", "f", false, "put back also over a target that has changed since")
	fs.BoolVarP(&j.dryRun, "dry-run", "n", false, "do all checks and write nothing")
	fs.StringVar(&j.log, "logdev", "", "`DEVICE` of an external log")
	fs.StringVar(&j.rt, "rtdev", "", "`DEVICE` of a realtime section")
	fs.BoolVar(&j.json, "json", false, "print the report as one JSON object")
	fs.BoolVarP(&j.quiet, "quiet", "q", false, "say nothing but errors")
	fs.StringVar(&j.progress, "progress", "auto",
		"how to show progress on stderr: `KIND` is bar, plain, json, none, or auto: a bar on a terminal")
	return settled(cmd, stdout, stderr, exitRefused)
}

// fail ends the command with a status.
func (j *undoJob) fail(status exitStatus, err error) error {
	if j.json {
		err = errors.Join(err, report.JSON(j.out, report.NewFailure(err, int(status))))
	}
	return exitError{status, err}
}

func (j *undoJob) run(ctx context.Context) error {
	file, err := undo.Open(j.file)
	if err != nil {
		return j.fail(exitRefused, err)
	}
	defer file.Close() // its state is flushed when it changes
	targets, err := j.open(file)
	if err != nil {
		return j.fail(exitRefused, err)
	}
	defer func() {
		for _, t := range targets {
			_ = t.Close() // flushed as well
		}
	}()
	if err := file.Check(targets.list()); err != nil && !j.force {
		return j.fail(exitRefused, fmt.Errorf("%s: %w; -f puts back what was there all the same", j.target, err))
	}
	for i, t := range targets {
		if err := t.CheckLength(file.Devices[i].Before); err != nil {
			return j.fail(exitRefused, err)
		}
	}
	if !j.dryRun {
		leaves(ctx, "another run does the rest")
		err := file.Restore(ctx, targets.list(), progress.Of(j.shown, progress.Undo))
		j.shown.End()
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("%w; another run does the rest", context.Cause(ctx))
		}
		if err != nil {
			return j.fail(exitUnreadable, fmt.Errorf("%w; another run may do the rest", err))
		}
		for i, d := range file.Devices {
			if d.Created {
				targets[i].Remove()
			}
		}
	}
	return j.print(file)
}

func (j *undoJob) print(u *undo.File) error {
	r := report.Undone{Target: j.target, File: j.file, DryRun: j.dryRun, UUID: u.UUID, Records: u.Records,
		Bytes: u.Data, Devices: u.Devices}
	switch {
	case j.json:
		return report.JSON(j.out, r)
	case j.quiet:
		return nil
	}
	return r.Print(j.out)
}

// openTargets are open, in the order of an undo file's devices.
type openTargets []*target.Target

func (o openTargets) list() (l []undo.Target) {
	for _, t := range o {
		l = append(l, t)
	}
	return l
}

// paths are where the devices of an undo file are said to be.
func (j *undoJob) paths(u *undo.File) (list []string, err error) {
	given := []struct{ role, path, option string }{
		{undo.RoleData, j.target, ""}, {undo.RoleLog, j.log, "--logdev"}, {undo.RoleRealtime, j.rt, "--rtdev"},
	}
	for _, d := range u.Devices {
		i := slices.IndexFunc(given, func(g struct{ role, path, option string }) bool { return g.role == d.Role })
		if i < 0 {
			return nil, fmt.Errorf("%s: it is about a %s device, which is unknown", j.file, d.Role)
		}
		if given[i].path == "" {
			return nil, usageError{fmt.Errorf("%s: the %s was on %s, which was formatted too", given[i].option, d.Role, d.Path)}
		}
		list = append(list, given[i].path)
		given = slices.Delete(given, i, i+1)
	}
	for _, g := range given {
		if g.path != "" {
			return nil, usageError{fmt.Errorf("%s: there was no %s device", g.option, g.role)}
		}
	}
	return list, nil
}

// open opens the targets, or the parts of them that were formatted.
func (j *undoJob) open(u *undo.File) (list openTargets, err error) {
	defer func() {
		if err != nil {
			for _, t := range list {
				_ = t.Close() // nothing was written
			}
		}
	}()
	paths, err := j.paths(u)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		d := &u.Devices[i]
		opts := target.Options{Write: true}
		if d.Part {
			opts.Window = &target.Window{Offset: d.Offset, Length: d.After}
		}
		is, err := target.Probe(path)
		if err == nil && d.Part {
			is, err = is.Within(*opts.Window)
		}
		if err == nil && slices.ContainsFunc(list, func(t *target.Target) bool { return target.Overlap(t.Info(), is) }) {
			return list, usageError{fmt.Errorf("%s is given for two devices", path)}
		}
		t, err := target.Open(path, opts)
		if err != nil {
			return list, err
		}
		list = append(list, t)
		if kind := t.Info().Kind; (kind == target.File) != d.File {
			return list, fmt.Errorf("%s is a %v; what was formatted was none", path, kind)
		}
		// What shows least of what formatting left is known by its name.
		if was, err := target.Probe(d.Path); d.Role == undo.RoleRealtime && err == nil && !was.Same(t.Info()) && !j.force {
			return list, fmt.Errorf("--rtdev: %s is not %s, which was formatted; -f takes it all the same", path, d.Path)
		}
		if file, err := target.Probe(j.file); err == nil && target.Overlap(file, t.Info()) {
			return list, fmt.Errorf("%s is the undo file itself", path)
		}
	}
	return list, nil
}
