package geometry

// LogSpace is what transactions reserve of the log, as the kernel computes it when it mounts.
type LogSpace struct {
	Write, Truncate Bytes // writing to a file, and truncating one (tr_write and tr_itruncate in libxfs)
	// AllocFree is how many blocks of btrees may be dirtied where an extent is allocated or freed.
	// (xfs_allocfree_block_count in libxfs.)
	AllocFree Blocks
}

// LogSpace computes it.
func (g *Geometry) LogSpace() LogSpace {
	r := newReserver(g)
	return LogSpace{
		Write: Bytes(r.write(false)), Truncate: Bytes(r.truncate(false)), AllocFree: Blocks(r.allocFree(1)),
	}
}
