package super

import (
	"context"
	"fmt"
	"io"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Counts is what the superblock and the headers of all AGs count. r is the
// filesystem, and tell is told of what is wrong; ok is false then. If Lazy, it is
// right only while the log is clean. The blocks of a finobt are not counted where
// its AGI does not (inobtcount=0), nor those of btrees of the realtime section.
func (f *Filesystem) Counts(ctx context.Context, r io.ReaderAt, tell func(message string)) (n geometry.Counts,
	ok bool, err error) {
	g := &f.Geometry
	n = geometry.Counts{FreeBlocks: geometry.Blocks(f.SB.FreeBlocks), Inodes: f.SB.InodeCount}
	b := make([]byte, 2*g.SectorSize)
	for agno := range g.AGCount {
		if ctx.Err() != nil { // of 8 EiB it takes seconds
			return n, false, context.Cause(ctx)
		}
		if _, err := r.ReadAt(b, int64(g.Offset(agno, 0)+g.SectorSize)); err != nil {
			return n, false, fmt.Errorf("AG %d: %w", agno, err)
		}
		agf, isAGF := ondisk.DecodeAGF(b)
		agi, isAGI := ondisk.DecodeAGI(b[g.SectorSize:])
		if !isAGF || !isAGI {
			tell(fmt.Sprintf("AG %d: there are no AGF and AGI", agno))
			return n, false, nil
		}
		grown := agf.BtreeBlocks
		if g.Features.Rmapbt {
			grown -= min(grown, belowRoot(agf.RmapBlocks))
		}
		n.FreeTrees += geometry.Blocks(grown)
		if g.Features.Reflink {
			n.ReserveUsed += geometry.Blocks(belowRoot(agf.RefcountBlocks))
		}
		if g.Features.Finobt && g.Features.InobtCount {
			n.ReserveUsed += geometry.Blocks(belowRoot(agi.FreeBlocks))
		}
	}
	return n, true, nil
}

// belowRoot is the blocks of a btree without its root.
func belowRoot(n uint32) uint32 { return max(n, 1) - 1 }
