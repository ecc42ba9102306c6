package claim

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
	"mkfs/internal/target"
	"mkfs/internal/undo"
)

// Saved is an undo file that is there before a target is overwritten.
type Saved struct {
	*undo.Writer
	Path   string
	claims *Claims
}

// Save keeps what a job will overwrite in a new undo file. It is called when the
// targets are open and as they were; sizes are those that they will have. Of the
// job it wants Geometry, Identity, Batch, Dense and Tree.
func (p *Claims) Save(ctx context.Context, path string, job format.Job, list []*target.Target,
	sizes []int64) (*Saved, error) {
	if info, err := target.Probe(path); err == nil {
		for _, t := range list {
			if target.Overlap(info, t.Info()) {
				return nil, fmt.Errorf("--undo: %s is what is to be formatted", path)
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--undo: %w", err)
	}
	made, _, err := format.Contents(ctx, job.Geometry, job.Tree)
	if err != nil {
		return nil, fmt.Errorf("--undo: %w", err)
	}
	w, err := undo.Create(path, p.undoHeader(&job, made, list, sizes))
	if err != nil {
		return nil, fmt.Errorf("--undo: %w", err)
	}
	if err = p.saveAll(ctx, w, job, list, sizes); err == nil {
		err = w.Finish()
	}
	if err != nil {
		w.Remove()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("--undo: %w", err)
	}
	return &Saved{w, path, p}, nil
}

func (p *Claims) undoHeader(job *format.Job, made aginit.Made, list []*target.Target, sizes []int64) undo.Header {
	primary := aginit.New(job.Geometry, job.Identity).Primary(made)
	h := undo.Header{UUID: uuid.UUID(job.Identity.UUID).String(), Superblock: undo.Sum(primary),
		SectorSize: int(job.Geometry.SectorSize)}
	for i, at := range p.All() {
		in := list[i].Info()
		h.Devices = append(h.Devices, undo.Device{
			Role: undoRoles[at.role], Path: at.Path, File: in.Kind == target.File, Part: in.Part, Offset: in.Offset,
			Before: in.Size, After: sizes[i], Created: !at.Exists,
		})
	}
	return h
}

// saveAll saves what is in files that will be emptied, and all that the job will write to.
func (p *Claims) saveAll(ctx context.Context, w *undo.Writer, job format.Job, list []*target.Target,
	sizes []int64) error {
	all := p.All()
	devices := [...]*format.Device{forData: &job.Data, forLog: &job.Log, forRealtime: &job.Realtime}
	for i, at := range all {
		*devices[at.role] = format.On(list[i], usableOf(sizes[i], sectorFor(job.Geometry, at.role)), aio.Config{})
		if at.Fresh {
			if err := w.Save(ctx, i, list[i], 0, list[i].Size()); err != nil {
				return err
			}
		}
	}
	_, err := format.Trace(ctx, job, func(d format.Device, off, n int64) error {
		i := slices.IndexFunc(all, func(at *Claim) bool { return *devices[at.role] == d })
		if all[i].Fresh {
			return nil
		}
		return w.Save(ctx, i, list[i], off, n)
	})
	return err
}

// undoRoles are the names of roles in an undo file.
var undoRoles = [...]string{forData: undo.RoleData, forLog: undo.RoleLog, forRealtime: undo.RoleRealtime}

// Drop removes the file if nothing was overwritten.
func (s *Saved) Drop() {
	if s == nil {
		return
	}
	for _, at := range s.claims.All() {
		if at.Fresh && at.Exists {
			s.Close() // it was flushed
			return    // the file may have been emptied
		}
	}
	s.Remove()
}

// Formatted notes that there is a filesystem.
func (s *Saved) Formatted() error {
	if s == nil {
		return nil
	}
	err := s.Mark(undo.Made)
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}

// Advice says how to get back what was there. mkfs.xfs has no such command.
func (s *Saved) Advice() string {
	text := fmt.Sprintf("mkfs undo %s %s", s.Path, s.claims.Data.Path)
	if s.claims.Log != nil {
		text += " --logdev " + s.claims.Log.Path
	}
	if s.claims.RT != nil {
		text += " --rtdev " + s.claims.RT.Path
	}
	return text
}

// Text says where what was overwritten is, and of a device that the rest stays.
func (s *Saved) Text() string {
	rest := ""
	if !s.claims.Data.IsFile() {
		rest = ", and nothing is discarded"
	}
	return fmt.Sprintf("What is overwritten is kept in %s (%s)%s; to put it back: %s",
		s.Path, humanize.IBytes(uint64(s.Data())), rest, s.Advice())
}
