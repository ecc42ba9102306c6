package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/google/uuid"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/format"
	"mkfs/internal/geometry"
	"mkfs/internal/target"
	"mkfs/internal/undo"
)

// kept is an undo file that is there before a target is overwritten.
type kept struct {
	*undo.Writer
	path   string
	places *places
}

// keep saves what formatting will overwrite in the file of --undo. It is called
// when the targets are open and as they were; sizes are those that they will
// have. Without that option there is nothing to keep.
func (j *job) keep(ctx context.Context, p *places, list []*target.Target, sizes []int64, g *geometry.Geometry, who aginit.Identity) (*kept, error) {
	if j.undo == "" {
		return nil, nil
	}
	if info, err := target.Probe(j.undo); err == nil {
		for _, t := range list {
			if target.Overlap(info, t.Info()) {
				return nil, fmt.Errorf("--undo: %s is what is to be formatted", j.undo)
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--undo: %w", err)
	}
	f := format.Job{Geometry: g, Identity: who, Batch: j.batch, Dense: j.dense}
	devices := [...]*format.Device{forData: &f.Data, forLog: &f.Log, forRealtime: &f.Realtime}
	for i, at := range p.all() {
		*devices[at.role] = format.On(list[i], usableOf(sizes[i], sectorFor(g, at.role)), aio.Config{})
	}
	primary := aginit.New(g, who).Primary()
	head := undo.Header{UUID: uuid.UUID(who.UUID).String(), Superblock: undo.Sum(primary), SectorSize: int(g.SectorSize)}
	for i, at := range p.all() {
		in := list[i].Info()
		head.Devices = append(head.Devices, undo.Device{
			Role: undoRoles[at.role], Path: at.path, File: in.Kind == target.File, Part: in.Part, Offset: in.Offset,
			Before: in.Size, After: sizes[i], Created: !at.exists,
		})
	}
	w, err := undo.Create(j.undo, head)
	if err != nil {
		return nil, fmt.Errorf("--undo: %w", err)
	}
	for i, at := range p.all() {
		if err == nil && at.fresh { // it will be emptied
			err = w.Save(ctx, i, list[i], 0, list[i].Size())
		}
	}
	if err == nil {
		_, err = format.Trace(ctx, f, func(d format.Device, off, n int64) error {
			i := slices.IndexFunc(p.all(), func(at *place) bool { return *devices[at.role] == d })
			if p.all()[i].fresh {
				return nil
			}
			return w.Save(ctx, i, list[i], off, n)
		})
	}
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		w.Remove()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("--undo: %w", err)
	}
	return &kept{w, j.undo, p}, nil
}

// undoRoles are the names of roles in an undo file.
var undoRoles = [...]string{forData: undo.RoleData, forLog: undo.RoleLog, forRealtime: undo.RoleRealtime}

// drop removes the file if nothing was overwritten.
func (k *kept) drop() {
	if k == nil {
		return
	}
	for _, at := range k.places.all() {
		if at.fresh && at.exists {
			k.Close() // it was flushed
			return    // the file may have been emptied
		}
	}
	k.Remove()
}

// made notes that there is a filesystem.
func (k *kept) made() error {
	if k == nil {
		return nil
	}
	err := k.Mark(undo.Made)
	if e := k.Close(); err == nil {
		err = e
	}
	return err
}

// advice says how to get back what was there. mkfs.xfs has no such command.
func (k *kept) advice() string {
	text := fmt.Sprintf("mkfs undo %s %s", k.path, k.places.data.path)
	if k.places.log != nil {
		text += " --logdev " + k.places.log.path
	}
	if k.places.rt != nil {
		text += " --rtdev " + k.places.rt.path
	}
	return text
}

// text says where what was overwritten is, and of a device that the rest stays.
func (k *kept) text() string {
	rest := ""
	if !k.places.data.isFile() {
		rest = ", and nothing is discarded"
	}
	return fmt.Sprintf("What is overwritten is kept in %s (%s)%s; to put it back: %s",
		k.path, humanize.IBytes(uint64(k.Data())), rest, k.advice())
}
