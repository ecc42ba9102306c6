package format

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// fileParts are how many parts there are of the memory for files: one is filled while
// the others are in flight. A part has fileStep bytes, which is more than a chunk of
// inodes or a directory block.
const (
	fileParts = 4
	fileStep  = 512 << 10
)

// files writes what is in the data section besides the headers: inodes, blocks
// that btrees have grown by, and the blocks of files.
func (w *writer) files(ctx context.Context) error {
	g := w.Geometry
	b, err := newFileBatch(ctx, w)
	if err != nil {
		return err
	}
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
	return b.issue()
}

// fileBatch collects what is written together.
type fileBatch struct {
	ctx    context.Context
	w      *writer
	step   geometry.Blocks // as many as are in a part of the memory
	memory [][]byte        // in parts
	number []int64         // of the list's batch that each part was last in
	part   int             // that is being filled
	used   int             // of it
	// done and total are blocks of files.
	done, total geometry.Blocks
}

func newFileBatch(ctx context.Context, w *writer) (*fileBatch, error) {
	g := w.Geometry
	b := &fileBatch{ctx: ctx, w: w, step: geometry.Blocks(fileStep >> g.BlockLog)}
	for _, f := range g.Contents.Files {
		b.total += f.DataBlocks()
	}
	all := g.Contents.TakenBlocks()
	size := int(g.Bytes(min(b.step, all)))
	n := int(min(fileParts, (all+b.step-1)/b.step))
	if n == 0 {
		return b, nil
	}
	slab, err := w.slab(n * size)
	if err != nil {
		return nil, err
	}
	for ; n > 0; n-- {
		b.memory, b.number = append(b.memory, slab[:size:size]), append(b.number, 0)
		slab = slab[size:]
	}
	return b, nil
}

// add has so many blocks filled, and queues them. If the memory is full what is in it
// is issued before.
func (b *fileBatch) add(at geometry.FSBlock, n geometry.Blocks, name string, fill func(dst []byte)) error {
	g := b.w.Geometry
	size := int(g.Bytes(n))
	if size > len(b.memory[b.part])-b.used {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := b.issue(); err != nil {
			return err
		}
	}
	part := b.memory[b.part][b.used:][:size]
	b.used += size
	fill(part)
	agno, agbno := g.BlockAddress(at)
	b.w.list.Add(&delwri.Buffer{
		Off: int64(g.Offset(agno, agbno)), Data: part,
		Place: delwri.Place{AG: int64(agno), Name: name},
	})
	return nil
}

// issue has what has been collected written, and waits until the next part of the
// memory is free.
func (b *fileBatch) issue() error {
	list := b.w.list
	if err := list.Issue(); err != nil {
		return err
	}
	if len(b.number) > 0 {
		b.number[b.part] = list.Issued()
		b.part, b.used = (b.part+1)%len(b.memory), 0
		if err := list.WaitFor(b.number[b.part]); err != nil {
			return err
		}
	}
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
	l.Add(&delwri.Buffer{Off: 0, Data: super, Place: delwri.Place{AG: -1, Name: "realtime superblock"}})
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
