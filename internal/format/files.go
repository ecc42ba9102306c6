package format

import (
	"context"
	"fmt"

	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// fileStep is how many bytes of files are in memory at once.
const fileStep = 1 << 20

// files writes the blocks of files in the data section.
func (w *writer) files(ctx context.Context) error {
	g := w.Geometry
	var total geometry.Blocks
	for _, f := range g.Contents.Files {
		total += f.DataBlocks()
	}
	if total == 0 {
		return nil
	}
	step := geometry.Blocks(max(fileStep, int64(g.DirBlockSize))) >> g.BlockLog
	b := fileBatch{w: w, total: total, memory: make([]byte, g.Bytes(min(step, total)))}
	for _, f := range g.Contents.Files {
		for _, t := range w.build.FileTree(f) {
			b.list().Add(b.buffer(f, t.At, t.Data))
		}
		for _, e := range f.Extents {
			for skip := geometry.Blocks(0); skip < e.Blocks; skip += step {
				n := min(step, e.Blocks-skip)
				part, err := b.take(ctx, n)
				if err != nil {
					return err
				}
				w.build.FileBlocks(f, e, skip, part)
				b.list().Add(b.buffer(f, e.Start+geometry.FSBlock(skip), part))
			}
		}
	}
	return b.submit()
}

// fileBatch collects blocks of files that are written together.
type fileBatch struct {
	w           *writer
	memory      []byte
	used        int
	queue       *delwri.List
	done, total geometry.Blocks
}

func (b *fileBatch) list() *delwri.List {
	if b.queue == nil {
		b.queue = b.w.list()
	}
	return b.queue
}

func (b *fileBatch) buffer(f *geometry.File, at geometry.FSBlock, data []byte) delwri.Buffer {
	agno, agbno := b.w.Geometry.BlockAddress(at)
	return delwri.Buffer{
		Off: int64(b.w.Geometry.Offset(agno, agbno)), Data: data,
		Place: delwri.Place{AG: int64(agno), Name: f.Place()},
	}
}

// take is memory for so many blocks; what is in it before is written if need be.
func (b *fileBatch) take(ctx context.Context, n geometry.Blocks) ([]byte, error) {
	size := int(b.w.Geometry.Bytes(n))
	if size > len(b.memory)-b.used {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.submit(); err != nil {
			return nil, err
		}
	}
	b.used += size
	b.done += n
	return b.memory[b.used-size : b.used], nil
}

// submit writes what has been collected.
func (b *fileBatch) submit() error {
	g := b.w.Geometry
	l := b.list()
	if err := l.Submit(); err != nil {
		return err
	}
	b.w.count(l.Stats())
	b.queue, b.used = nil, 0
	b.w.Progress(PhaseFiles, int64(g.Bytes(b.done)), int64(g.Bytes(b.total)))
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
