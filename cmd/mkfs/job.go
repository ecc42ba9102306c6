package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/claim"
	"mkfs/internal/compat"
	"mkfs/internal/filling"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/options"
	"mkfs/internal/progress"
)

// job is one run of the command. The fields below name are set phase by phase.
type job struct {
	flagsOf
	parser   *options.Parser
	out, err io.Writer
	name     string

	chosen  []compat.Preset // by --preset, --for-kernel and --for-grub
	ring    aio.Config
	shown   progress.Progress
	filling *filling.Filling // nil without -p
	claims  *claim.Claims
	plan    *geometry.Geometry
	notes   geometry.Notes // of the plan
	who     aginit.Identity
	undo    *claim.Saved // nil without --undo
	open    *claim.Opened
	stats   format.Stats
	took    time.Duration
}

// phase is a step of a run. done tells that there is nothing more to do.
type phase func(j *job, ctx context.Context) (done bool, err error)

// phases lead from what was asked to a filesystem. Nothing is touched before
// format, but that files get their size in prepare.
var phases = []phase{
	(*job).check,   // the command line and its files, by themselves
	(*job).take,    // the targets: what is in use or holds something is refused
	(*job).compute, // the geometry
	(*job).survey,  // what -p names: all of it can be read, and fits
	(*job).preview, // -N and -c makecfg end here
	(*job).prepare, // targets are opened, what will be overwritten is saved
	(*job).format,
	(*job).tell,
}

// run goes through the phases.
func (j *job) run(ctx context.Context, args []string) (err error) {
	if err := checkAddressSpace(); err != nil {
		return err
	}
	for i, path := range args {
		if i > 0 {
			j.parser.Fault(fmt.Errorf("one target, please; what is %q for?", path))
			break
		}
		j.parser.Target(path)
	}
	defer func() {
		if j.open != nil {
			if e := j.open.Close(); err == nil {
				err = e
			}
		}
	}()
	for _, step := range phases {
		if done, err := step(j, ctx); done || err != nil {
			return err
		}
	}
	return nil
}

// check reads options and files of options, and finds what is wrong with them by itself.
func (j *job) check(context.Context) (done bool, err error) {
	j.ring = j.ringConfig()
	if j.ensure && j.force {
		j.parser.Fault(errors.New("--ensure does not go together with -f: it overwrites nothing"))
	}
	if j.ensure && j.dense {
		j.parser.Fault(errors.New("--ensure does not go together with --dense: what is kept may have holes"))
	}
	if j.shown, err = progress.New(j.progress, j.err, j.quiet); err != nil {
		j.parser.Fault(err)
	}
	if err := j.part.Fault(); err != nil {
		j.parser.Fault(err)
	}
	if j.claims, err = j.request(); err != nil {
		return false, err
	}
	return false, j.openFilling()
}

// take refuses targets that must not be overwritten. With --ensure it is done if
// the filesystem that is asked for is there.
func (j *job) take(ctx context.Context) (done bool, err error) {
	data := &j.claims.Data
	if j.ensure && data.Fresh && data.Exists {
		return false, usageError{errors.New("--ensure does not go together with -d file, which empties a file that is " +
			"there; try --size")}
	}
	if err := data.Narrow(&j.part, j.force); err != nil {
		return false, err
	}
	if j.ensure {
		if kept, err := j.keepExisting(ctx); kept || err != nil {
			return true, err
		}
	}
	if err := j.claims.Check(); err != nil || j.force {
		return false, err
	}
	return false, j.claims.CheckContents(j.parser.Request.UUID, j.name != xfsName)
}

// compute plans the filesystem and gives warnings about it.
func (j *job) compute(context.Context) (done bool, err error) {
	spec := &j.parser.Request.Spec
	dev := j.claims.Device(spec.RT.Size.Given)
	if j.reproducible.Given {
		dev.SolidState, dev.RT.SolidState = false, false // where the number of CPUs would count
	}
	j.plan, j.notes, err = format.Plan(*spec, dev)
	if err == nil {
		j.notes.Warnings = append(j.notes.Warnings, compat.TooNew(j.chosen, func(name string) bool { return options.ValueOf(j.plan, name) == "1" })...)
	}
	for _, text := range j.notes.Warnings {
		j.warn(text)
	}
	if err != nil {
		j.printNotices(j.out, j.notes)
	}
	return false, err
}

// preview writes a configuration file or shows the plan, if that is all that was
// asked for.
func (j *job) preview(ctx context.Context) (done bool, err error) {
	switch file := j.parser.Request.MakeConfig; {
	case file.Given:
		return true, j.makeConfig(ctx, file.Value)
	case j.dryRun:
		j.announce()
		return true, j.reportPlan(ctx, "")
	}
	return false, nil
}

// ringConfig is how to write. What is wrong with it is a fault like others.
func (j *job) ringConfig() aio.Config {
	cfg, faults := ringConfig(j.engine, j.depth)
	if j.batch < 0 {
		faults = append(faults, fmt.Errorf("--batch: %d allocation groups; there must be at least 1, or 0 for what "+
			"suits the depth", j.batch))
	}
	for _, err := range faults {
		j.parser.Fault(err)
	}
	return cfg
}

// ringConfig checks the options of a ring.
func ringConfig(engine string, depth int) (cfg aio.Config, faults []error) {
	kind, err := aio.ParseKind(engine)
	if err != nil {
		faults = append(faults, fmt.Errorf("--engine: %w", err))
	}
	if depth < 0 || depth > aio.MaxDepth {
		faults = append(faults, fmt.Errorf("--queue-depth: %d requests in flight; there can be 1 to %d, or 0 for what "+
			"suits the target", depth, aio.MaxDepth))
	}
	return aio.Config{Engine: kind, Depth: depth}, faults
}
