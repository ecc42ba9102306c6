package format

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// fileStep is how many bytes of files are in memory at once.
const fileStep = 1 << 20

// files writes what is in the data section besides the headers: inodes, blocks
// that btrees have grown by, and the blocks of files.
func (w *writer) files(ctx context.Context) error {
	g := w.Geometry
	b := newFileBatch(ctx, w)
	for _, agno := range slices.Sorted(maps.Keys(g.Contents.AGs)) {
		for _, e := range g.Contents.AGs[agno].Chunks {
			err := b.add(g.FSBlock(agno, e.Start), e.Blocks, "inode chunk", func(dst []byte) {
				w.build.InodeChunk(agno, e,
					dst)
			})
			if err != nil {
				return err
			}
		}
		for t := range w.build.GrownBlocks(agno) {
			if err := b.add(g.FSBlock(agno, t.At), 1, t.Name, t.Put); err != nil {
				return err
			}
		}
	}
	for _, f := range g.Contents.Files {
		for t := range w.build.FileTree(f) {
			if err := b.add(t.At, 1, t.Name, t.Put); err != nil {
				return err
			}
		}
		for _, e := range f.Extents {
			for skip := geometry.Blocks(0); skip < e.Blocks; skip += b.step {
				n := min(b.step, e.Blocks-skip)
				err := b.add(e.Start+geometry.FSBlock(skip), n, f.Place(), func(dst []byte) { w.build.FileBlocks(f, e, skip, dst) })
				if err != nil {
					return err
				}
				b.done += n
			}
		}
	}
	return b.submit()
}

// fileBatch collects what is written together.
type fileBatch struct {
	ctx    context.Context
	w      *writer
	step   geometry.Blocks // as many as are in memory
	memory []byte
	used   int
	queue  *delwri.List
	// done and total are blocks of files.
	done, total geometry.Blocks
}

func newFileBatch(ctx context.Context, w *writer) *fileBatch {
	g := w.Geometry
	b := &fileBatch{ctx: ctx, w: w, queue: w.list()}
	for _, f := range g.Contents.Files {
		b.total += f.DataBlocks()
	}
	b.step = geometry.Blocks(max(fileStep, int64(g.DirBlockSize), int64(g.InodeSize)*int64(g.ChunkInodes()))) >> g.BlockLog
	b.memory = make([]byte, g.Bytes(min(b.step, g.Contents.TakenBlocks())))
	return b
}

// add has so many blocks filled, and queues them. What is in the memory before is
// written if need be.
func (b *fileBatch) add(at geometry.FSBlock, n geometry.Blocks, name string, fill func(dst []byte)) error {
	g := b.w.Geometry
	size := int(g.Bytes(n))
	if size > len(b.memory)-b.used {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := b.submit(); err != nil {
			return err
		}
	}
	part := b.memory[b.used:][:size]
	b.used += size
	fill(part)
	agno, agbno := g.BlockAddress(at)
	b.queue.Add(delwri.Buffer{
		Off: int64(g.Offset(agno, agbno)), Data: part,
		Place: delwri.Place{AG: int64(agno), Name: name},
	})
	return nil
}

// submit writes what has been collected.
func (b *fileBatch) submit() error {
	if err := b.queue.Submit(); err != nil {
		return err
	}
	b.w.count(b.queue.Stats())
	b.queue, b.used = b.w.list(), 0
	if g := b.w.Geometry; b.done > 0 {
		b.w.Progress(PhaseFiles, int64(g.Bytes(b.done)), int64(g.Bytes(b.total)))
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
