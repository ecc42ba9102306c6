package format

import (
	"context"
	"errors"

	"mkfs/internal/aginit"
	"mkfs/internal/aio"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// headers writes the headers of all AGs. Of a few batches one is built while
// the others are in flight, in memory that is used again and again.
func (w *writer) headers(ctx context.Context) error {
	size := w.build.HeaderSize()
	frames, count := w.window(size)
	batches := make([]batch, count)
	slab, release, err := aio.NewSlab(count * frames * size)
	if err != nil {
		return err
	}
	w.ring.Fix(slab)
	for i := range batches {
		batches[i] = newBatch(w, slab[i*frames*size:][:frames*size], size)
	}
	errs := []error{w.fill(ctx, batches)}
	for i := range batches {
		errs = append(errs, batches[i].list.Wait())
		w.count(batches[i].list.Stats())
	}
	return cause(append(errs, release()))
}

// cause picks the error that the others follow from. Two lists write to one
// ring, which an error stops: the list whose write failed knows the place, and
// the other one only that its own were not started.
func cause(errs []error) error {
	var first error
	for _, err := range errs {
		var at *delwri.WriteError
		if errors.As(err, &at) && at.Place.Name != "" && !errors.Is(err, aio.ErrCanceled) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// batchAGs is so many that sorting and submitting is shared, and so few that
// what was built is still in the processor's cache when the kernel copies it.
const batchAGs = 16

// window is how many AGs there are in a batch and how many batches: as many as
// keep the ring full while one is built and the last request of the oldest,
// which others have overtaken, is waited for. That takes twice the depth, which
// the job may limit, as do memory and need.
func (w *writer) window(header int) (frames, count int) {
	depth := w.ring.Stats().Depth
	most := w.Batch
	if most == 0 {
		most = max(DefaultBatch, 2*depth)
	}
	most = min(most, max(2, slabBytes/header), int(w.Geometry.AGCount))
	frames = min(batchAGs, max(1, most/2))
	return frames, max(1, min(most/frames, 2+2*depth/frames))
}

// fill builds and issues batch after batch.
func (w *writer) fill(ctx context.Context, batches []batch) error {
	g := w.Geometry
	for i, agno := 0, geometry.AGNumber(0); agno < g.AGCount; i++ {
		b := &batches[i%len(batches)]
		if err := ctx.Err(); err != nil {
			return err
		}
		if i >= len(batches) { // its memory is in use
			if err := b.list.Wait(); err != nil {
				return err
			}
		}
		n := min(geometry.AGNumber(len(b.frames)), g.AGCount-agno)
		b.build(w, agno, n)
		if err := b.list.Issue(); err != nil {
			return err
		}
		agno += n
		w.ags = int64(agno)
		w.Progress(PhaseHeaders, int64(agno), int64(g.AGCount))
	}
	return nil
}

// batch is a run of AGs whose headers are written together.
type batch struct {
	list   *delwri.List
	frames []aginit.Frame
	pieces []aginit.Piece
}

func newBatch(w *writer, memory []byte, size int) batch {
	b := batch{list: w.list(), pieces: w.headerPieces()}
	for ; len(memory) > 0; memory = memory[size:] {
		b.frames = append(b.frames, aginit.Frame{Data: memory[:size:size]})
	}
	return b
}

// build queues the headers of n AGs from first on.
func (b *batch) build(w *writer, first, n geometry.AGNumber) {
	for i := range n {
		agno := first + i
		f := &b.frames[i]
		w.build.Build(agno, f)
		off := int64(w.Geometry.Offset(agno, 0))
		for _, p := range b.pieces {
			b.list.Add(delwri.Buffer{
				Off: off + int64(p.At), Data: f.Data[p.At : p.At+p.Size],
				Place: delwri.Place{AG: int64(agno), Name: p.Name},
			})
		}
		if g := w.Geometry; g.HasLog(agno) {
			b.list.Add(w.logRecord(g.Offset(agno, g.Log.Start)))
		}
	}
}
