package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"

	"mkfs/internal/geometry"
	"mkfs/internal/report"
)

// newReport says what is to be made, or was.
func (j *job) newReport(g *geometry.Geometry) report.Made {
	p, notes := j.claims, j.notes
	r := report.Made{
		Target: p.Data.Path, Offset: p.Data.Info.Offset, Label: g.Label, Dense: j.dense, Warnings: append(notes.Notices,
			notes.Warnings...),
		Geometry: report.NewGeometry(g, p.LogName(), p.RTName()), Features: report.NewFeatures(g),
	}
	if at := j.parser.Request.Spec.PlanFor; at.Given {
		r.Growth = report.NewGrowth(g, at.Value.On(g))
	}
	for _, p := range j.chosen {
		r.Presets = append(r.Presets, p.Name)
	}
	return r
}

// planned is newReport of the plan, with the space that there will be, or is.
func (j *job) planned(ctx context.Context) (report.Made, error) {
	r := j.newReport(j.plan)
	n, err := j.stats.CountsOf(ctx, j.plan, j.tree())
	r.Space = report.NewSpace(j.plan, n)
	if j.filling != nil {
		r.Tree = report.NewTree(j.filling.Name(), j.stats, j.filling.Skipped)
	}
	return r, err
}

// announce prints what there is to say of the filesystem before it is made.
func (j *job) announce() {
	g, p := j.plan, j.claims
	if j.json {
		return
	}
	out := bufio.NewWriter(j.out)
	defer out.Flush() // what nobody reads is no reason not to format
	if j.unsupported {
		fmt.Fprintln(out, "Filesystems formatted with --unsupported are not supported!!")
	}
	j.printNotices(out, j.notes)
	if !j.quiet || j.dryRun {
		report.Table(out, g, p.Data.Path, p.LogName(), p.RTName())
		if at := j.parser.Request.Spec.PlanFor; at.Given {
			report.GrowthRow(out, g, at.Value.On(g))
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

// reportPlan is the dry run's JSON. config is a configuration file that was written.
func (j *job) reportPlan(ctx context.Context, config string) error {
	if !j.json {
		return nil
	}
	made, err := j.planned(ctx)
	if err != nil {
		return err
	}
	made.DryRun, made.Config = true, config
	if j.reproducible.Given || j.parser.Request.UUID.Given { // and not by chance
		who, err := j.identity()
		if err != nil {
			return err
		}
		made.UUID = uuid.UUID(who.UUID).String()
	}
	return report.JSON(j.out, made)
}
