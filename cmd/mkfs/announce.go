package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
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
		n := at.Value.On(g)
		r.Growth = &report.Growth{Bytes: int64(n), AGCount: uint64(g.AGsAt(n)), AGCountNow: uint64(g.AGCount)}
	}
	if g.Contents != nil {
		r.Space = report.NewSpace(g, g.Counts())
	}
	for _, p := range j.chosen {
		r.Presets = append(r.Presets, p.Name)
	}
	return r
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
			n := at.Value.On(g)
			fmt.Fprintf(out, "growth   =%-22s bsize=%-6d blocks=%d, agcount=%d\n", humanize.IBytes(uint64(n)), g.BlockSize,
				n/g.BlockSize, g.AGsAt(n))
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
func (j *job) reportPlan(made report.Made) error {
	if !j.json {
		return nil
	}
	made.DryRun = true
	if j.reproducible.given || j.parser.Request.UUID.Given { // and not by chance
		who, err := j.identity(j.plan)
		if err != nil {
			return err
		}
		made.UUID = uuid.UUID(who.UUID).String()
	}
	return report.JSON(j.out, made)
}
