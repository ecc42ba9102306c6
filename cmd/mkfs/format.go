package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/google/uuid"

	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/progress"
	"mkfs/internal/report"
	"mkfs/internal/target"
)

// prepare opens the targets, and saves what will be overwritten if that was asked for.
func (j *job) prepare(ctx context.Context) (done bool, err error) {
	if j.who, err = j.identity(); err != nil {
		return false, err
	}
	job := format.Job{Geometry: j.plan, Identity: j.who, Batch: j.batch, Dense: j.dense, Tree: j.tree()}
	if err := j.claims.CheckRoom(ctx, job, j.filling.Load()); err != nil {
		return false, err
	}
	j.open, err = j.claims.Open(j.plan, j.direct(), j.ring, func(list []*target.Target, sizes []int64) (err error) {
		if j.undoFile != "" {
			j.undo, err = j.claims.Save(ctx, j.undoFile, job, list, sizes)
		}
		return err
	})
	if err != nil {
		j.undo.Drop()
		return false, err
	}
	j.announce()
	if t := j.open.Targets[0]; j.reproducible.Given && t.Info().Kind == target.File && !t.Blank() {
		j.warn(fmt.Sprintf("--reproducible: %s held data before; what is free in the filesystem keeps it", j.claims.Data.Path))
	}
	if j.undo != nil && !j.json && !j.quiet {
		fmt.Fprintln(j.out, j.undo.Text())
	}
	return false, nil
}

// format makes the filesystem.
func (j *job) format(ctx context.Context) (done bool, err error) {
	path, shown := j.claims.Data.Path, j.shown
	if !j.json && !j.quiet {
		shown = progress.WithDiscards(shown, j.out)
	}
	started := time.Now()
	leaves(ctx, path+" holds no filesystem now")
	j.stats, err = format.Run(ctx, format.Job{
		Geometry: j.plan, Identity: j.who, Batch: j.batch, Dense: j.dense, Progress: shown.Step,
		Discard: !j.noDiscard && j.undo == nil, DiscardLimit: j.discardLimit,
		Data: j.open.Data, Log: j.open.Log, Realtime: j.open.RT, Tree: j.tree(), Survey: j.filling.Seen(),
	})
	shown.End()
	j.took = time.Since(started)
	if n := j.stats.Undiscarded; n > 0 {
		fmt.Fprintf(j.err, "%s: note: --discard-limit: %s were not discarded in %v\n", j.name, humanize.IBytes(uint64(n)),
			j.discardLimit)
	}
	if err == nil {
		leaves(ctx, path+" holds the new filesystem")
		return false, j.undo.Formatted()
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w, after %d of %d allocation groups; %s holds no filesystem now",
			context.Cause(ctx), j.stats.AGs, j.plan.AGCount, path)
	}
	if j.undo != nil {
		err = fmt.Errorf("%w; to put back what was there: %s", err, j.undo.Advice())
	}
	return false, err
}

// tell prints the object of --json.
func (j *job) tell(ctx context.Context) (done bool, err error) {
	if !j.json {
		return true, nil
	}
	made, err := j.planned(ctx)
	if err != nil {
		return true, err
	}
	made.UUID = uuid.UUID(j.who.UUID).String()
	if j.undo != nil {
		made.Undo = &report.Undo{File: j.undo.Path, Bytes: j.undo.Data()}
	}
	made.Work = report.NewWork(j.stats, j.open.Direct, j.took)
	return true, report.JSON(j.out, made)
}

// fewAGs are so few that the flushes are most of the work. The writeback of one
// then costs less than direct IO does before it.
const fewAGs = 32

// littleData is so little data of a tree that the same holds for it.
const littleData = 16 << 20

// direct tells whether to ask for direct IO: not for an image of a few AGs that holds little,
// unless it was said how to write.
func (j *job) direct() bool {
	if j.buffered {
		return false
	}
	asked := j.depth != 0 || j.engine != aio.Auto.String()
	seen := j.filling.Seen()
	return asked || !j.claims.Data.IsFile() || j.plan.AGCount > fewAGs || seen != nil && seen.Bytes > littleData
}
