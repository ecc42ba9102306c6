package alloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Reserve is the reservation that blocks come from.
type Reserve uint8

// The reservations of an AG. Blocks of the free list, and of the rmapbt, which come from
// it, count as free in the superblock.
const (
	ReserveNone Reserve = iota
	ReserveAGFL
	ReserveMetadata
	ReserveRmap
)

// counted tells whether the superblock counts blocks as used.
func (r Reserve) counted() bool { return r == ReserveNone || r == ReserveMetadata }

// of is the reservation in an AG; nil for none.
func (r Reserve) of(all *live.Reserves) *live.Reserve {
	switch r {
	case ReserveMetadata:
		return &all.Metadata
	case ReserveRmap:
		return &all.Rmap
	}
	return nil
}

// reserves are what is set aside in the AG; nil if nothing is.
func (g *group) reserves() *live.Reserves {
	if int(g.AG) >= len(g.t.Reserves) {
		return nil
	}
	return &g.t.Reserves[g.AG]
}

// reserved is how many blocks of the AG are set aside for others than who asks.
// (xfs_ag_resv_needed in libxfs.)
func (g *group) reserved(r Reserve) geometry.Blocks {
	all := g.reserves()
	if all == nil {
		return 0
	}
	n := all.Metadata.Left + all.Rmap.Left
	if own := r.of(all); own != nil {
		n -= own.Left
	}
	return n
}

// account counts n blocks that were taken, or freed if n is negative.
// (xfs_ag_resv_alloc_extent and xfs_ag_resv_free_extent in libxfs.)
func (g *group) account(r Reserve, n int64) {
	if all := g.reserves(); all != nil {
		switch own := r.of(all); {
		case own == nil:
		case n > 0:
			own.Take(geometry.Blocks(n))
		default:
			own.Give(geometry.Blocks(-n))
		}
	}
	if r.counted() {
		g.t.Counts.FreeBlocks -= geometry.Blocks(n)
	}
}

// SetAside sets aside in each AG what its btrees may come to take, as a mount does where
// there is room for it: what is allocated from then on is what the kernel would allocate. The blocks of the
// finobt are known only where the AGI counts them. (xfs_ag_resv_init in libxfs.)
func SetAside(fs *live.FS) error {
	fs.Reserves = make([]live.Reserves, fs.G.AGCount)
	for agno := range fs.Reserves {
		t := fs.Begin(0)
		agf, err := t.AGF(geometry.AGNumber(agno))
		if err != nil {
			return err
		}
		agi, err := t.AGI(geometry.AGNumber(agno))
		if err != nil {
			return err
		}
		most, has := fs.G.TreeSpace(geometry.AGNumber(agno)), &fs.G.Features
		var metadata, owners geometry.Blocks
		if has.Reflink {
			metadata += geometry.Blocks(agf.Get(ondisk.AGFRefcountBlocks))
		}
		if has.Finobt {
			metadata += geometry.Blocks(max(agi.FreeBlocks(), 1))
		}
		if has.Rmapbt {
			owners = geometry.Blocks(agf.Get(ondisk.AGFRmapBlocks))
		}
		fs.Reserves[agno] = live.Reserves{
			Metadata: setAside(most.Refcount+most.Finobt, metadata), Rmap: setAside(most.Rmap, owners),
		}
		if err := t.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// setAside is a reserve for trees that may come to take so many blocks, and have some.
func setAside(most, have geometry.Blocks) live.Reserve {
	most = max(most, have)
	return live.Reserve{Asked: most, Left: most - have}
}
