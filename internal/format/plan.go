package format

import (
	"context"
	"errors"

	"mkfs/internal/aginit"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/metafile"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// Plan is geometry.Plan, and refuses what is only seen when the files of the
// filesystem are made: that the root directory is not where checkers look for it, that
// there is no room for all of them, or none for them to grow.
func Plan(spec geometry.Spec, dev geometry.Device) (*geometry.Geometry, geometry.Notes, error) {
	g, notes, err := geometry.Plan(spec, dev)
	if err == nil {
		err = refuseFiles(g)
	}
	if err != nil {
		return nil, notes, err
	}
	return g, notes, nil
}

// refuseFiles makes as many of the files in memory as it takes to know whether all of
// them fit: where there is plenty of room the first will do.
func refuseFiles(g *geometry.Geometry) error {
	m := trialFiles(g)
	if bound := g.FilesBound(); bound <= g.FreeBlocks()/2 && g.CheckReserves(g.FreeBlocks()-bound, nil) == nil {
		return asRefusal(g, m.Root())
	}
	if _, err := m.All(context.Background()); err != nil {
		return asRefusal(g, err)
	}
	finobt, err := m.FinobtBlocks()
	if err != nil {
		return err
	}
	if err := g.CheckReserves(m.Counts.FreeBlocks, finobt); err != nil {
		return refusals(err)
	}
	return nil
}

// asRefusal says what to do about files that do not fit.
func asRefusal(g *geometry.Geometry, err error) error {
	switch {
	case errors.Is(err, metafile.ErrRoot):
		return refusals(geometry.Refuse("", "%v, at block %d of AG 0; use larger AGs, a smaller stripe unit or another "+
			"AG for the log", err, g.Root.Start))
	case errors.Is(err, metafile.ErrNoRoom):
		return refusals(geometry.Refuse("", "%v", err))
	}
	return err
}

func refusals(err error) error { return &geometry.Refusals{List: []error{err}} }

// Contents is what a new filesystem of a geometry holds, with the files of a tree, nil for
// none, and what is left free, and how many blocks its finobts have grown by.
func Contents(ctx context.Context, g *geometry.Geometry, t tree.Tree) (made aginit.Made, n geometry.Counts, err error) {
	m := trialFiles(g)
	w := &writer{Job: Job{Geometry: g, Tree: t}}
	files, err := w.makeFiles(ctx, m, nil)
	if err != nil {
		return made, n, err
	}
	n, err = countsOf(m)
	return madeOf(m.FS, files), n, err
}

// DerivedUUID is aginit.DerivedUUID for what will be in the filesystem.
func DerivedUUID(g *geometry.Geometry, seed string) (ondisk.UUID, error) {
	made, _, err := Contents(context.Background(), g, nil)
	return aginit.DerivedUUID(g, seed, made), err
}

// CountsOf is what a filesystem of a geometry counts that is filled with a tree, nil for none,
// whether it has been made or not.
func (s *Stats) CountsOf(ctx context.Context, g *geometry.Geometry, t tree.Tree) (n geometry.Counts, err error) {
	if n = s.Counts; n.Inodes == 0 {
		_, n, err = Contents(ctx, g, t)
	}
	return n, err
}

// countsOf is what a filesystem counts whose files are made.
func countsOf(m *metafile.Maker) (n geometry.Counts, err error) {
	finobt, err := m.FinobtBlocks()
	if err != nil {
		return n, err
	}
	for _, blocks := range finobt {
		n.ReserveUsed += blocks - 1
	}
	n.FreeBlocks, n.Inodes = m.Counts.FreeBlocks, m.Counts.Inodes
	return n, nil
}

// trialFiles prepares to make files in memory.
func trialFiles(g *geometry.Geometry) *metafile.Maker {
	id := aginit.Identity{Generation: func() uint32 { return 0 }}
	const unbounded = 1 << 62 // all that is changed is kept
	ring := newScratch(g, aginit.New(g, id), nil)
	return metafile.New(newLive(g, id, buffer.New(ring, buffer.Config{Limit: unbounded, Age: buffer.AtEnd})))
}

// newLive is a new filesystem that has only headers, to be worked on.
func newLive(g *geometry.Geometry, id aginit.Identity, c *buffer.Cache) *live.FS {
	return &live.FS{
		G: g, V5: g.Features.CRC, UUID: id.UUID, Cache: c,
		Counts:     live.Counts{FreeBlocks: g.FreeBlocks()},
		Now:        func() (int64, uint32) { return id.Seconds, id.Nanos },
		Generation: id.Generation, Remains: live.Remains{},
	}
}

func madeOf(fs *live.FS, files metafile.Made) aginit.Made {
	return aginit.Made{
		Bitmap: files.Bitmap, Summary: files.Summary,
		Inodes: fs.Counts.Inodes, FreeInodes: fs.Counts.FreeInodes, FreeBlocks: fs.Counts.FreeBlocks,
		Attrs: fs.Attrs, AttrLists: fs.AttrLists,
	}
}
