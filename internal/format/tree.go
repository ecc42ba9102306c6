package format

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"mkfs/internal/geometry"
	"mkfs/internal/metafile"
	"mkfs/internal/populate"
	"mkfs/internal/tree"
)

// CheckTree refuses a tree that a new filesystem of a geometry has no room for, before anything
// is touched. survey is what it was seen to take. Where that is near to what there is the files are made in
// memory, without what they hold.
func CheckTree(ctx context.Context, g *geometry.Geometry, t tree.Tree, survey *populate.Survey) error {
	if survey.Realtime != "" {
		return fmt.Errorf("%s: with -d rtinherit its data would be in the realtime section, where no file can be made",
			survey.Realtime)
	}
	if fitsEasily(g, survey) {
		return nil
	}
	m := trialFiles(g)
	w := &writer{Job: Job{Geometry: g, Tree: t}}
	_, err := w.makeFiles(ctx, m, nil)
	if errors.Is(err, metafile.ErrNoRoom) {
		return populate.ErrNoRoom
	}
	if err != nil {
		return err
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

// fitsEasily tells that there is so much room that nothing need be tried.
func fitsEasily(g *geometry.Geometry, s *populate.Survey) bool {
	free := g.FreeBlocks()
	takes := g.FilesBound() + g.Takes(s.Load)
	takes += takes / 9
	most := g.InodeChunk().MaxInodes
	return takes <= free && g.CheckReserves(free-takes, nil) == nil && (most == 0 || s.Inodes+s.Inodes/9+1024 <= most)
}

// NoRoom says that a tree does not fit, and what would do.
func NoRoom(spec geometry.Spec, dev geometry.Device, g *geometry.Geometry, s *populate.Survey) error {
	takes := g.FilesBound() + g.Takes(s.Load)
	text := fmt.Sprintf("%d files with %s of data take about %d blocks and %d inodes, and the filesystem has %d free blocks",
		s.Inodes, humanize.IBytes(uint64(s.Bytes)), takes, s.Inodes, g.FreeBlocks())
	if most := g.InodeChunk().MaxInodes; most > 0 {
		text += fmt.Sprintf(" and may have %d inodes", most)
	}
	if size, ok := leastSize(spec, dev, g.Bytes(g.Blocks), s); ok {
		text += fmt.Sprintf("; a size of %dm would do", size>>20)
	}
	return errors.New(text)
}

// leastSize is the least size, in MiB, that holds what was surveyed for certain.
func leastSize(spec geometry.Spec, dev geometry.Device, from geometry.Bytes, s *populate.Survey) (geometry.Bytes, bool) {
	const unit = 1 << 20
	fits := func(units geometry.Bytes) bool {
		spec.Data.Size = geometry.Given(geometry.Size{Count: int64(units * unit), Limits: geometry.Limits{Max: 1<<63 - 1}})
		dev.Size = units * unit
		g, _, err := geometry.Plan(spec, dev)
		return err == nil && fitsEasily(g, s)
	}
	low := from / unit
	high := low + 1
	for ; !fits(high); high *= 2 {
		if high > 1<<42 {
			return 0, false
		}
		low = high
	}
	for high-low > 1 {
		if mid := (low + high) / 2; fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high * unit, true
}
