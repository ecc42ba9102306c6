package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/google/uuid"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/claim"
	"mkfs/internal/compat"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/options"
	"mkfs/internal/progress"
	"mkfs/internal/report"
	"mkfs/internal/target"
)

// job is one run of the command.
type job struct {
	flagsOf
	parser   *options.Parser
	out, err io.Writer
	name     string
	chosen   []compat.Preset
	made     ondisk.UUID // of the filesystem, once it is made
}

// start takes the target from the arguments and runs.
func (j *job) start(ctx context.Context, args []string) error {
	for i, path := range args {
		if i > 0 {
			j.parser.Fault(fmt.Errorf("one target, please; what is %q for?", path))
			break
		}
		j.parser.Target(path)
	}
	return j.run(ctx)
}

// run goes from what was asked to a filesystem. Nothing is touched before
// everything has been checked.
func (j *job) run(ctx context.Context) (err error) {
	ring := j.ring()
	if j.ensure && j.force {
		j.parser.Fault(errors.New("--ensure does not go together with -f: it overwrites nothing"))
	}
	if j.ensure && j.dense {
		j.parser.Fault(errors.New("--ensure does not go together with --dense: what is kept may have holes"))
	}
	shown, err := progress.New(j.progress, j.err, j.quiet)
	if err != nil {
		j.parser.Fault(err)
	}
	if err := j.part.Fault(); err != nil {
		j.parser.Fault(err)
	}
	claims, err := j.request()
	if err != nil {
		return err
	}
	if j.ensure && claims.Data.Fresh && claims.Data.Exists {
		return usageError{errors.New("--ensure does not go together with -d file, which empties a file that is there; try --size")}
	}
	if err := claims.Data.Narrow(&j.part, j.force); err != nil {
		return err
	}
	if j.ensure {
		if kept, err := j.keepExisting(claims); kept || err != nil {
			return err
		}
	}
	if err := claims.Check(); err != nil {
		return err
	}
	if !j.force {
		if err := claims.CheckContents(j.parser.Request.UUID, j.name != xfsName); err != nil {
			return err
		}
	}
	q := &j.parser.Request
	dev := claims.Device(q.Spec.RT.Size.Given)
	if j.reproducible.given {
		dev.SolidState, dev.RT.SolidState = false, false // where the number of CPUs would count
	}
	g, notes, err := geometry.Plan(q.Spec, dev)
	if err == nil {
		notes.Warnings = append(notes.Warnings, j.tooNew(g)...)
	}
	for _, text := range notes.Warnings {
		fmt.Fprintf(j.err, "%s: warning: %s\n", j.name, text)
	}
	if err != nil {
		j.printNotices(j.out, notes)
		return err
	}
	if file := q.MakeConfig; file.Given {
		return j.makeConfig(file.Value, g, claims, notes)
	}
	if j.dryRun {
		j.announce(g, claims, notes)
		return j.reportPlan(g, j.newReport(g, claims, nil, notes))
	}
	if err := claims.CheckRoom(g, j.dense); err != nil {
		return err
	}
	who, err := j.identity(g)
	if err != nil {
		return err
	}
	j.made = who.UUID
	var undo *claim.Saved
	open, err := claims.Open(g, j.direct(g, claims), ring, func(list []*target.Target, sizes []int64) (err error) {
		if j.undo != "" {
			job := format.Job{Geometry: g, Identity: who, Batch: j.batch, Dense: j.dense}
			undo, err = claims.Save(ctx, j.undo, job, list, sizes)
		}
		return err
	})
	if err != nil {
		undo.Drop()
		return err
	}
	defer func() {
		if e := open.Close(); err == nil {
			err = e
		}
	}()
	j.announce(g, claims, notes)
	if t := open.Targets[0]; j.reproducible.given && t.Info().Kind == target.File && !t.Blank() {
		fmt.Fprintf(j.err, "%s: warning: --reproducible: %s held data before; what is free in the filesystem keeps it\n", j.name, claims.Data.Path)
	}
	if undo != nil && !j.json && !j.quiet {
		fmt.Fprintln(j.out, undo.Text())
	}
	if !j.json && !j.quiet {
		shown = progress.WithDiscards(shown, j.out)
	}
	f := format.Job{Geometry: g, Identity: who, Discard: !j.noDiscard && undo == nil, Batch: j.batch, Progress: shown.Step}
	f.DiscardLimit, f.Dense = j.discardLimit, j.dense
	f.Data, f.Log, f.Realtime = open.Data, open.Log, open.RT
	started := time.Now()
	leaves(ctx, claims.Data.Path+" holds no filesystem now")
	stats, err := format.Run(ctx, f)
	shown.End()
	if err == nil {
		leaves(ctx, claims.Data.Path+" holds the new filesystem")
	}
	if n := stats.Undiscarded; n > 0 {
		fmt.Fprintf(j.err, "%s: note: --discard-limit: %s were not discarded in %v\n", j.name, humanize.IBytes(uint64(n)), j.discardLimit)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w, after %d of %d allocation groups; %s holds no filesystem now",
			context.Cause(ctx), stats.AGs, g.AGCount, claims.Data.Path)
	}
	if err != nil && undo != nil {
		err = fmt.Errorf("%w; to put back what was there: %s", err, undo.Advice())
	}
	if err == nil {
		err = undo.Formatted()
	}
	if err != nil || !j.json {
		return err
	}
	made := j.newReport(g, claims, &who, notes)
	if undo != nil {
		made.Undo = &report.Undo{File: undo.Path, Bytes: undo.Data()}
	}
	made.Work = report.NewWork(stats, open.Direct, time.Since(started))
	return report.JSON(j.out, made)
}

// newReport says what is to be made, or was.
func (j *job) newReport(g *geometry.Geometry, p *claim.Claims, who *aginit.Identity, notes geometry.Notes) report.Made {
	r := report.Made{
		Target: p.Data.Path, Offset: p.Data.Info.Offset, Label: g.Label, Dense: j.dense, Warnings: append(notes.Notices, notes.Warnings...),
		Geometry: report.NewGeometry(g, p.LogName(), p.RTName()), Features: report.NewFeatures(g),
	}
	if at := j.parser.Request.Spec.PlanFor; at.Given {
		n := at.Value.On(g)
		r.Growth = &report.Growth{Bytes: int64(n), AGCount: uint64(g.AGsAt(n)), AGCountNow: uint64(g.AGCount)}
	}
	if g.Contents != nil {
		r.Space = report.NewSpace(g, g.Counts())
	}
	for _, p := range j.chosen {
		r.Presets = append(r.Presets, p.Name)
	}
	if who != nil {
		r.UUID = uuid.UUID(who.UUID).String()
	}
	return r
}

// announce prints what there is to say of the filesystem before it is made.
func (j *job) announce(g *geometry.Geometry, p *claim.Claims, notes geometry.Notes) {
	if j.json {
		return
	}
	out := bufio.NewWriter(j.out)
	defer out.Flush() // what nobody reads is no reason not to format
	if j.unsupported {
		fmt.Fprintln(out, "Filesystems formatted with --unsupported are not supported!!")
	}
	j.printNotices(out, notes)
	if !j.quiet || j.dryRun {
		report.Table(out, g, p.Data.Path, p.LogName(), p.RTName())
		if at := j.parser.Request.Spec.PlanFor; at.Given {
			n := at.Value.On(g)
			fmt.Fprintf(out, "growth   =%-22s bsize=%-6d blocks=%d, agcount=%d\n", humanize.IBytes(uint64(n)), g.BlockSize, n/g.BlockSize, g.AGsAt(n))
		}
	}
}

// printNotices prints what a plan has to say of the filesystem, also of one that
// is refused for something that was found later.
func (j *job) printNotices(out io.Writer, notes geometry.Notes) {
	if j.json {
		return
	}
	for _, text := range notes.Notices {
		fmt.Fprintln(out, text)
	}
}

// reportPlan is the dry run's JSON.
func (j *job) reportPlan(g *geometry.Geometry, made report.Made) error {
	if !j.json {
		return nil
	}
	made.DryRun = true
	if j.reproducible.given || j.parser.Request.UUID.Given { // and not by chance
		who, err := j.identity(g)
		if err != nil {
			return err
		}
		made.UUID = uuid.UUID(who.UUID).String()
	}
	return report.JSON(j.out, made)
}

// ring is how to write. What is wrong with it is a fault like others.
func (j *job) ring() aio.Config {
	cfg, faults := ringConfig(j.engine, j.depth)
	if j.batch < 0 {
		faults = append(faults, fmt.Errorf("--batch: %d allocation groups; there must be at least 1, or 0 for what suits the depth", j.batch))
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
		faults = append(faults, fmt.Errorf("--queue-depth: %d requests in flight; there can be 1 to %d, or 0 for what suits the target", depth, aio.MaxDepth))
	}
	return aio.Config{Engine: kind, Depth: depth}, faults
}

// request completes what was asked with the configuration file and the
// environment, and finds the targets.
func (j *job) request() (*claim.Claims, error) {
	q := &j.parser.Request
	j.presets()
	if err := j.config("-c defaults", "defaults config file", q.DefaultsFile, j.parser.Defaults); err != nil {
		return nil, err
	}
	j.parser.CommandLine()
	if err := j.config("-c options", "config file", q.ConfigFile, j.parser.Config); err != nil {
		return nil, err
	}
	q.Spec.CPUs = runtime.NumCPU()
	q.Spec.SmallAllowed = j.unsupported || underTest()
	claims, err := claim.Find(q)
	if j.parser.Err() != nil {
		if err == nil {
			j.planRest(claims)
		}
		return nil, j.parser.Err()
	}
	if q.Proto.Given {
		return nil, options.ErrNoProto
	}
	return claims, err
}

// planRest looks for further faults in what makes sense by itself.
func (j *job) planRest(claims *claim.Claims) {
	if claims.Data.Narrow(&j.part, j.force) != nil {
		return
	}
	spec := j.parser.Request.Spec
	spec.Refused = j.parser.Refused()
	_, _, err := geometry.Plan(spec, claims.Device(spec.RT.Size.Given))
	if all := (*geometry.Refusals)(nil); errors.As(err, &all) {
		for _, fault := range all.List {
			j.parser.Fault(fault)
		}
	}
}

// config reads a configuration file, if one is given, and says so.
func (j *job) config(option, kind string, file geometry.Opt[string], take func(path, content string)) error {
	if !file.Given {
		return nil
	}
	content, err := readConfig(file.Value)
	if errors.Is(err, fs.ErrNotExist) {
		if text, preset, ok := compat.File(filepath.Base(file.Value)); ok {
			fmt.Fprintf(j.err, "%s: note: %s: there is no %s; the preset %s, which has the same settings, takes its place\n",
				j.name, option, file.Value, preset)
			content, err = text, nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	take(file.Value, content)
	if j.parser.Err() == nil && !j.json {
		fmt.Fprintf(j.out, "Parameters parsed from %s %s successfully\n", kind, file.Value)
	}
	return nil
}

// maxConfig is more than any configuration file has.
const maxConfig = 1 << 20

func readConfig(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(content) > maxConfig {
		err = fmt.Errorf("%s has more than %d bytes, so it is no configuration file", path, maxConfig)
	}
	return string(content), err
}

// underTest tells whether a filesystem test-suite runs this: such make tiny
// filesystems on purpose.
func underTest() bool {
	for _, name := range []string{"TEST_DIR", "TEST_DEV", "QA_CHECK_FS"} {
		if _, set := os.LookupEnv(name); !set {
			return false
		}
	}
	return true
}

// fewAGs are so few that the flushes are most of the work. The writeback of one
// then costs less than direct IO does before it.
const fewAGs = 32

// direct tells whether to ask for direct IO: not for an image of a few AGs,
// unless it was said how to write.
func (j *job) direct(g *geometry.Geometry, p *claim.Claims) bool {
	if j.buffered {
		return false
	}
	asked := j.depth != 0 || j.engine != aio.Auto.String()
	return asked || !p.Data.IsFile() || g.AGCount > fewAGs
}
