package geometry

// Capacity is how much a filesystem holds, as statfs, and with it df, tells once
// it is mounted. Realtime sections are not in it.
type Capacity struct {
	Total  Blocks // all but an internal log
	Usable Blocks // that files may still take
	// Reserved is what is free and not for files: a mount keeps it for btrees to
	// grow, and for transactions that must not fail.
	Reserved Blocks
	Inodes   uint64 // the most there can be, those in use included
}

const (
	// setAsideBlocks of each AG no file gets: four for the free list to be
	// refilled, four for the btrees of a file's extents to split.
	// (xfs_alloc_set_aside in the kernel.)
	setAsideBlocks = 8
	// The reserve pool is a twentieth of the data section, and never more blocks
	// than that. (xfs_default_resblks in the kernel.)
	poolRatio, maxPool = 20, 8192
	// maxInode is the largest number that an inode may have. (XFS_MAXINUMBER.)
	maxInode = 1<<56 - 1
)

// Counts are what a filesystem counts.
type Counts struct {
	FreeBlocks Blocks // those of free lists and of the free-space btrees are among them
	Inodes     uint64 // allocated, in use or not
	// FreeTrees is what the btrees of free space have grown by since they were new,
	// and ReserveUsed what those have grown by that blocks are reserved for: of
	// free inodes and of shared blocks.
	FreeTrees, ReserveUsed Blocks
}

// Capacity computes what a mount for writing makes of what there is (xfs_mountfs
// and xfs_fs_statfs in the kernel): of what is free it sets aside a few blocks of
// each AG, a pool, what the btrees of the AGs may still come to take
// (xfs_ag_resv_init), and with a metadata directory those of the realtime groups
// (xfs_metafile_resv_init), all of it, as if they were new.
func (g *Geometry) Capacity(n Counts) Capacity {
	c := Capacity{Total: g.Blocks}
	if !g.Log.External {
		c.Total -= g.Log.Blocks
	}
	want := Blocks(g.AGCount)*setAsideBlocks + n.FreeTrees + min(g.Blocks/poolRatio, maxPool)
	most := g.agReserves() // no tree outgrows its reserve
	want += most - min(most, n.ReserveUsed)
	if g.Features.Metadir {
		want += g.groupReserves()
	}
	c.Reserved = min(want, n.FreeBlocks)
	c.Usable = n.FreeBlocks - c.Reserved
	c.Inodes = min(n.Inodes+uint64(c.Usable)<<g.InodeBlockLog(), maxInode)
	if ceiling := g.maxInodes(); ceiling > 0 {
		c.Inodes = min(c.Inodes, ceiling)
	}
	c.Inodes = max(c.Inodes, n.Inodes)
	return c
}

// agReserves is what is reserved for the btrees of all AGs. Most are alike.
func (g *Geometry) agReserves() Blocks {
	others := map[AGNumber]bool{g.AGCount - 1: true} // which may be shorter
	if !g.Log.External {
		others[g.Log.AG] = true
	}
	n := g.reserve(reserveOf{blocks: g.AGBlocks, finobt: 1}).all() * (Blocks(g.AGCount) - Blocks(len(others)))
	for agno := range others {
		n += g.reserve(g.reserveOf(agno)).all()
	}
	return n
}
