package geometry

// planAtomicWrites checks how large writes are to be atomic. A larger log, and
// AGs that are multiples of it, are all that follows.
func (p *plan) planAtomicWrites() {
	g, asked := p.g, p.spec.Inode.MaxAtomicWrite
	if !asked.Given {
		return
	}
	switch n := p.size(asked.Value); {
	case p.stop:
	case n&(n-1) != 0:
		p.refuse("-i max_atomic_write", "%d bytes is no power of two", n)
	case n%g.BlockSize != 0:
		p.refuse("-i max_atomic_write", "%d bytes is no multiple of the block size, %d", n, g.BlockSize)
	default:
		p.atomic = blocksIn(n, g.BlockLog)
	}
}

// checkAtomicWrites refuses writes that no group could hold.
func (p *plan) checkAtomicWrites() {
	if most := max(p.g.AGBlocks, p.g.RT.GroupBlocks); p.atomic > most {
		p.refuse("-i max_atomic_write", "%d blocks; the largest group has %d", p.atomic, most)
	}
}
