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

// NoRoom says that a tree does not fit, and what would do. It begins as mkfs.xfs says it, for scripts
// that look for that (tests/xfs/818 of xfstests).
func NoRoom(ctx context.Context, spec geometry.Spec, dev geometry.Device, g *geometry.Geometry, t tree.Tree,
	s *populate.Survey) error {
	text := fmt.Sprintf("No space left on device: %d files with %s of data take about %d blocks and %d inodes, "+
		"and the filesystem has %d free blocks",
		s.Inodes, humanize.IBytes(uint64(s.Bytes)), g.FilesBound()+g.Takes(s.Load), s.Inodes, g.FreeBlocks())
	if most := g.InodeChunk().MaxInodes; most > 0 {
		text += fmt.Sprintf(" and may have %d inodes", most)
	}
	if size, ok := leastSize(ctx, spec, dev, g.Bytes(g.Blocks), t, s); ok {
		text += fmt.Sprintf("; a filesystem of %dm would do", size>>20)
	}
	return errors.New(text)
}

// mostTried is how many files are made at most to find the least size.
const mostTried = 1 << 20

// leastSize is a size, in MiB, that holds what was surveyed, where a smaller one does not: to one
// part in a hundred, or a MiB, as far as trying it does not take too long.
func leastSize(ctx context.Context, spec geometry.Spec, dev geometry.Device, from geometry.Bytes, t tree.Tree,
	s *populate.Survey) (geometry.Bytes, bool) {
	const unit = 1 << 20
	on := func(units geometry.Bytes) *geometry.Geometry {
		spec.Data.Size = geometry.Given(geometry.Size{Count: int64(units * unit), Limits: geometry.Limits{Max: 1<<63 - 1}})
		dev.Size = units * unit
		if g, _, err := geometry.Plan(spec, dev); err == nil {
			return g
		}
		return nil
	}
	easily := func(units geometry.Bytes) bool {
		g := on(units)
		return g != nil && fitsEasily(g, s)
	}
	tries := mostTried / max(1, s.Entries)
	tried := func(units geometry.Bytes) bool {
		tries--
		g := on(units)
		return g != nil && CheckTree(ctx, g, t, s) == nil
	}
	low, high := from/unit, from/unit+1
	for ; !easily(high); low, high = high, high*2 {
		if high > 1<<42 {
			return 0, false
		}
	}
	_, high = between(low, high, 1, easily)
	low = from / unit
	for near := max(1, high/100); tries > 0 && high-low > near; {
		low, high = between(low, high, max(near, (high-low)/2), tried)
	}
	return high * unit, true
}

// between halves the way from a size that does not do to one that does, until they are near.
func between(low, high, near geometry.Bytes, does func(geometry.Bytes) bool) (geometry.Bytes, geometry.Bytes) {
	for high-low > near {
		if mid := (low + high) / 2; does(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return low, high
}
