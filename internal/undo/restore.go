package undo

import (
	"context"
	"fmt"
	"io"

	"mkfs/internal/pace"
)

// Target is an open target, or a part of one.
type Target interface {
	io.ReaderAt
	io.WriterAt
	Size() int64
	// Zero makes a range read as zeros; Release does so too, and gives back
	// the space that it takes in a file.
	Zero(off, n int64) error
	Release(off, n int64) error
	// Truncate sets the length. A device or a part keeps the one it has.
	Truncate(size int64) error
	Sync() error
}

// Restore puts everything back: contents first, then sizes, and the first
// sector of the data device last of all. Whoever calls it has asked Check, or
// knows better. After an error, or if ctx ends, it can be called again.
// progress, which may be nil, is told how many records are done.
func (u *File) Restore(ctx context.Context, targets []Target, progress func(done, total int64)) error {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	for i, t := range targets {
		if t.Size() < u.Devices[i].Before {
			if err := u.resize(i, t); err != nil {
				return err
			}
		}
	}
	if err := u.mark(Undoing); err != nil {
		return err
	}
	first := u.first[:min(len(u.first), u.SectorSize)]
	var lead record // a hole at the start, which is one again only when it is put back as a whole
	done := int64(0)
	err := u.each(func(rec record, data []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if rec.device == 0 { // but for the first sector
			if rec.kind == kindHole && rec.off == 0 && rec.length > lead.length {
				lead = rec
			}
			if skip := int64(len(first)) - rec.off; skip >= rec.length {
				rec.length = 0
			} else if skip > 0 {
				rec.off, rec.length = rec.off+skip, rec.length-skip
				if rec.kind == kindData {
					data = data[skip:]
				}
			}
		}
		if err := put(ctx, targets[rec.device], rec, data); err != nil {
			return fmt.Errorf("%s: putting back %d bytes at byte %d: %w", u.Devices[rec.device].Path, rec.length, rec.off, err)
		}
		done++
		progress(done, u.Records)
		return nil
	})
	if err != nil {
		return err
	}
	for i, t := range targets {
		if err := u.resize(i, t); err != nil {
			return err
		}
		if err := t.Sync(); err != nil {
			return err
		}
	}
	kind := uint32(kindData)
	if allZero(first) {
		kind = kindHole
	}
	for _, rec := range []record{{kind: kind, length: int64(len(first))}, lead} {
		if err := put(ctx, targets[0], rec, first); err != nil {
			return fmt.Errorf("%s: putting back the first sector: %w", u.Devices[0].Path, err)
		}
	}
	if err := targets[0].Sync(); err != nil {
		return err
	}
	return u.mark(Undone)
}

func (u *File) resize(i int, t Target) error {
	d := &u.Devices[i]
	if t.Size() == d.Before || d.Part || !d.File {
		return nil
	}
	return t.Truncate(d.Before)
}

func (u *File) mark(s State) error {
	if err := mark(u.path, u.f, s); err != nil {
		return err
	}
	u.State = s
	return nil
}

// put makes a range what a record says.
func put(ctx context.Context, t Target, rec record, data []byte) (err error) {
	if rec.length == 0 {
		return nil
	}
	switch rec.kind {
	case kindData:
		_, err = t.WriteAt(data, rec.off)
	case kindZeros:
		err = pace.Zeroing.Each(ctx, rec.off, rec.length, t.Zero)
	case kindHole:
		err = pace.Zeroing.Each(ctx, rec.off, rec.length, t.Release)
	}
	return err
}
