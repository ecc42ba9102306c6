package format

import (
	"context"

	"mkfs/internal/aginit"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
)

// headers writes the headers of all AGs. Of a few batches one is built while
// the others are in flight, in memory that is used again and again. The last are
// still in flight when it returns.
func (w *writer) headers(ctx context.Context) error {
	size := w.build.HeaderSize()
	frames, count := w.window(size)
	batches := make([]batch, count)
	slab, err := w.slab(count * frames * size)
	if err != nil {
		return err
	}
	w.ring.Fix(slab)
	for i := range batches {
		batches[i] = newBatch(w, slab[i*frames*size:][:frames*size], size)
	}
	return w.fill(ctx, batches)
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
		if err := w.list.WaitFor(b.number); err != nil { // its memory is in use
			return err
		}
		n := min(geometry.AGNumber(len(b.frames)), g.AGCount-agno)
		b.build(w, agno, n)
		if err := w.list.Issue(); err != nil {
			return err
		}
		b.number = w.list.Issued()
		agno += n
		w.ags = int64(agno)
		w.step(PhaseHeaders, int64(agno), int64(g.AGCount))
	}
	return nil
}

// batch is a run of AGs whose headers are written together.
type batch struct {
	number  int64 // that the list has given it
	frames  []aginit.Frame
	pieces  []aginit.Piece
	buffers []delwri.Buffer // one for each piece of each frame
}

func newBatch(w *writer, memory []byte, size int) batch {
	b := batch{pieces: w.headerPieces()}
	for ; len(memory) > 0; memory = memory[size:] {
		data := memory[:size:size]
		b.frames = append(b.frames, aginit.Frame{Data: data})
		for _, p := range b.pieces {
			b.buffers = append(b.buffers, delwri.Buffer{Data: data[p.At : p.At+p.Size], Place: delwri.Place{Name: p.Name}})
		}
	}
	return b
}

// build queues the headers of n AGs from first on.
func (b *batch) build(w *writer, first, n geometry.AGNumber) {
	buffers := b.buffers
	for i := range n {
		agno := first + i
		w.build.Build(agno, &b.frames[i])
		off := int64(w.Geometry.Offset(agno, 0))
		for j := range b.pieces {
			q := &buffers[j]
			q.Off, q.Place.AG = off+int64(b.pieces[j].At), int64(agno)
			w.list.Add(q)
		}
		buffers = buffers[len(b.pieces):]
		if g := w.Geometry; g.HasLog(agno) {
			w.list.Add(w.logRecord(g.Offset(agno, g.Log.Start)))
		}
	}
}
