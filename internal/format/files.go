package format

import (
	"context"
	"fmt"

	"mkfs/internal/aio"
	"mkfs/internal/buffer"
	"mkfs/internal/delwri"
	"mkfs/internal/geometry"
	"mkfs/internal/metafile"
	"mkfs/internal/populate"
	"mkfs/internal/tree"
)

// cacheBytes is how much metadata is in memory while files are made.
const cacheBytes = 16 << 20

// files makes what is in the data section besides the headers, which are on the device
// before, since it reads some of them.
func (w *writer) files(ctx context.Context) error {
	if err := w.list.Wait(); err != nil {
		return err
	}
	w.ring.Background()
	ring := buffer.Ring(w.ring)
	if w.trial {
		ring = newScratch(w.Geometry, w.build, w.ring)
	}
	g := w.Geometry
	fs := newLive(g, w.Identity, buffer.New(ring, buffer.Config{
		Device: w.Data.Name(), Limit: cacheBytes, Memory: aio.NewSlab,
		Place: func(off int64) int64 { return off / int64(g.Bytes(g.AGBlocks)) },
	}))
	data := newFileData(ctx, w, fs.Cache)
	m := metafile.New(fs)
	m.Data = data.add
	if g.RT.Blocks > 0 && w.Tree == nil { // else there are three, and no time to tell of them
		m.Progress = func(done, total int64) { w.step(PhaseFiles, done, total) }
	}
	files, err := w.makeFiles(ctx, m, data)
	if err == nil {
		err = data.issue()
	}
	if err == nil {
		err = fs.Cache.Flush()
	}
	w.count(fs.Cache.Issued())
	w.cached = fs.Cache.Stats()
	if err == nil {
		w.made = madeOf(fs, files)
		w.counts, err = countsOf(m)
	}
	if e := fs.Cache.Release(); err == nil {
		err = e
	}
	return err
}

// makeFiles makes the root directory, metadata files, and those of the tree.
func (w *writer) makeFiles(ctx context.Context, m *metafile.Maker, data populate.Data) (made metafile.Made, err error) {
	if w.Tree == nil {
		return m.All(ctx)
	}
	src, err := w.Tree.Open(ctx)
	if err != nil {
		return made, err
	}
	f := populate.New(m.FS, m.Names(), src, data)
	f.Progress, f.Used = w.showTree(src), m.Used
	if m.RootDir, err = f.Root(); err == nil {
		m.Tree = f
		made, err = m.All(ctx)
	}
	w.filled = f.Counts
	if e := src.Close(); err == nil {
		err = e
	}
	return made, err
}

// showTree tells how far a tree is, of what a survey has seen of it.
func (w *writer) showTree(src tree.Source) func(*populate.Counts) {
	if w.Survey == nil || w.Progress == nil {
		return nil
	}
	path := src.Path
	return func(c *populate.Counts) {
		w.Progress(Step{
			Phase: PhaseFiles, Done: c.Entries, Total: max(c.Entries, w.Survey.Entries-1), Bytes: c.Bytes,
			TotalBytes: max(c.Bytes, w.Survey.Bytes), Path: path,
		})
	}
}

// fileParts are how many parts there are of the memory for data of files: one is filled
// while the others are in flight. A part has fileStep bytes.
const (
	fileParts = 4
	fileStep  = 512 << 10
)

// fileData collects blocks of files that are written together.
type fileData struct {
	ctx    context.Context
	w      *writer
	cache  *buffer.Cache
	memory [][]byte // in parts
	number []int64  // of the list's batch that each part was last in
	part   int      // that is being filled
	used   int      // of it
}

func newFileData(ctx context.Context, w *writer, c *buffer.Cache) *fileData {
	return &fileData{ctx: ctx, w: w, cache: c}
}

// add has so many blocks filled, piece by piece, and queues them. If the memory is full
// what is in it is issued before.
func (d *fileData) add(at geometry.FSBlock, n geometry.Blocks, name string,
	fill func(skip geometry.Blocks, dst []byte)) error {
	g := d.w.Geometry
	step := geometry.Blocks(fileStep >> g.BlockLog)
	for skip := geometry.Blocks(0); skip < n; skip += step {
		agno, agbno := g.BlockAddress(at + geometry.FSBlock(skip))
		part, err := d.room(int64(g.Offset(agno, agbno)), int(g.Bytes(min(step, n-skip))), name)
		if err != nil {
			return err
		}
		clear(part)
		fill(skip, part)
	}
	return nil
}

// Most is how many bytes Room can give.
func (d *fileData) Most() int { return fileStep }

// Room gives memory for data of files of a tree; see populate.Data.
func (d *fileData) Room(off int64, n int) ([]byte, error) { return d.room(off, n, "file data") }

// room gives memory that is written at a byte of the device when as much has been
// collected as makes a part.
func (d *fileData) room(off int64, n int, name string) ([]byte, error) {
	if err := d.allocate(); err != nil {
		return nil, err
	}
	if n > fileStep-d.used {
		if err := d.ctx.Err(); err != nil {
			return nil, err
		}
		if err := d.issue(); err != nil {
			return nil, err
		}
	}
	if err := d.cache.Settle(off, n); err != nil {
		return nil, err
	}
	part := d.memory[d.part][d.used:][:n]
	d.used += n
	agno := off / int64(d.w.Geometry.Bytes(d.w.Geometry.AGBlocks))
	d.w.list.Add(&delwri.Buffer{Off: off, Data: part, Place: delwri.Place{AG: agno, Name: name}})
	return part, nil
}

func (d *fileData) allocate() error {
	if d.memory != nil {
		return nil
	}
	slab, err := d.w.slab(fileParts * fileStep)
	if err != nil {
		return err
	}
	d.number = make([]int64, fileParts)
	for ; len(slab) > 0; slab = slab[fileStep:] {
		d.memory = append(d.memory, slab[:fileStep:fileStep])
	}
	return nil
}

// issue has what has been collected written, and waits until the next part of the
// memory is free.
func (d *fileData) issue() error {
	if d.memory == nil {
		return nil
	}
	list := d.w.list
	if err := list.Issue(); err != nil {
		return err
	}
	d.number[d.part] = list.Issued()
	d.part, d.used = (d.part+1)%len(d.memory), 0
	return list.WaitFor(d.number[d.part])
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
