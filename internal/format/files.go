package format

import (
	"context"
	"fmt"

	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// fileStep is how many bytes of a file are in memory at once.
const fileStep = 1 << 20

// files writes the blocks of files in the data section.
func (w *writer) files(ctx context.Context) error {
	g := w.Geometry
	var done, total geometry.Blocks
	for _, f := range g.Contents.Files {
		total += f.DataBlocks()
	}
	if total == 0 {
		return nil
	}
	step := geometry.Blocks(max(fileStep, int64(g.DirBlockSize))) >> g.BlockLog
	data := make([]byte, g.Bytes(min(step, total)))
	for _, f := range g.Contents.Files {
		for _, e := range f.Blocks {
			for skip := geometry.Blocks(0); skip < e.Blocks; skip += step {
				if err := ctx.Err(); err != nil {
					return err
				}
				n := min(step, e.Blocks-skip)
				part := data[:g.Bytes(n)]
				w.build.FileBlocks(f, e, skip, part)
				agno, agbno := g.BlockAddress(e.Start + geometry.FSBlock(skip))
				l := w.list()
				l.Add(delwri.Buffer{
					Off: int64(g.Offset(agno, agbno)), Data: part,
					Place: delwri.Place{AG: int64(agno), Name: f.Place()},
				})
				if err := l.Submit(); err != nil {
					return err
				}
				w.count(l.Stats())
				done += n
				w.Progress(PhaseFiles, int64(g.Bytes(done)), int64(g.Bytes(total)))
			}
		}
	}
	return nil
}

// realtime makes the realtime device what a new filesystem finds there: its
// superblock, if it has one, and zeros in the last block, which shows that it
// is as long as it says. It is durable before the data device is complete.
func (w *writer) realtime(ring Ring) error {
	g := w.Geometry
	if w.Realtime == nil || g.Features.Zoned {
		return nil
	}
	if err := w.Realtime.Zero(int64(g.Bytes(g.RT.Blocks-1)), int64(g.BlockSize)); err != nil {
		return fmt.Errorf("%s: zeroing the last block: %w", w.Realtime.Name(), err)
	}
	super := w.realtimeSuper()
	if super == nil {
		return w.syncRealtime()
	}
	l := delwri.NewList(ring, delwri.Config{Device: w.Realtime.Name()})
	l.Add(delwri.Buffer{Off: 0, Data: super, Place: delwri.Place{AG: -1, Name: "realtime superblock"}})
	if err := l.Submit(); err != nil {
		return err
	}
	w.count(l.Stats())
	if err := ring.Sync(); err != nil {
		return fmt.Errorf("%s: flushing: %w", w.Realtime.Name(), err)
	}
	return nil
}

// realtimeSuper is the superblock at the start of the realtime device, or nil.
func (w *writer) realtimeSuper() []byte {
	if w.Realtime == nil || w.Geometry.Features.Zoned {
		return nil
	}
	return w.build.RealtimeSuper()
}

func (w *writer) syncRealtime() error {
	if err := w.Realtime.Sync(); err != nil {
		return fmt.Errorf("%s: flushing: %w", w.Realtime.Name(), err)
	}
	return nil
}
