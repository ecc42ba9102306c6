package geometry

import "cmp"

const (
	minLogBlocks = 512
	maxLogBlocks = 1 << 20
	minLogBytes  = 10 * mib
	maxLogBytes  = 2*gib - 10*mib
	logRatio     = 2048 // of the filesystem's size to the log's
	freeReserve  = 4    // blocks of an AG that only btree splits may take
)

// planLog settles the size and the place of the log.
func (p *plan) planLog() {
	g, s := p.g, &p.spec.Log
	least := max(minLogBlocks, minLog(g, g.Log.StripeUnit, 0))
	if p.atomic > 0 {
		least = max(least, minLog(g, g.Log.StripeUnit, p.atomic))
	}
	if !s.Size.Given && g.Blocks >= blocksIn(gib, g.BlockLog) {
		least = max(least, blocksIn(minLogBytes, g.BlockLog))
	}
	g.Log.MinBlocks = least
	if g.Log.External {
		p.planExternalLog(least)
	} else {
		p.planInternalLog(least)
	}
}

func (p *plan) planExternalLog(least Blocks) {
	g := p.g
	if unit := g.Log.StripeUnit; unit > 0 {
		most := min(blocksIn(Usable(p.dev.Log.Size, g.Log.SectorSize), g.BlockLog), maxLogBlocks)
		if p.alignLogSize(unit, most); p.stop {
			return
		}
	}
	p.checkLogSize(least)
}

func (p *plan) planInternalLog(least Blocks) {
	g, s := p.g, &p.spec.Log
	most := g.logRoom()
	if most < least {
		p.refuse("-d agcount", "AGs of %d blocks have room for a log of %d, and it needs %d; use fewer or larger AGs",
			g.AGBlocks, most, least)
		return
	}
	if !s.Size.Given || g.Log.Blocks == 0 {
		p.defaultLogSize(least, most)
	} else if g.Log.Blocks > most {
		p.refuse("-l size", "%d blocks; an AG has room for at most %d", g.Log.Blocks, most)
		return
	}
	g.Log.AG = g.AGCount / 2
	if s.AG.asked() {
		g.Log.AG = AGNumber(s.AG.Value)
	}
	if s.AG.asked() && s.AG.Value >= int64(g.AGCount) {
		p.refuse("-l agnum", "there is no AG %d; the last is %d", s.AG.Value, g.AGCount-1)
		return
	}
	if g.Log.AG == 0 {
		if most = p.leaveRootRoom(most); p.stop {
			return
		}
	}
	g.Log.Start = AGBlock(g.HeaderBlocks())
	if unit := cmp.Or(g.Log.StripeUnit, g.StripeUnit); unit > 0 {
		if p.alignInternalLog(unit, most); p.stop {
			return
		}
	}
	if end := Blocks(g.Log.Start) + g.Log.Blocks; end > g.AGLength(g.Log.AG) {
		p.refuse("-l agnum", "a log of %d blocks does not fit AG %d, which has %d", g.Log.Blocks, g.Log.AG,
			g.AGLength(g.Log.AG))
		return
	}
	p.checkLogSize(least)
}

// logRoom is the size of the largest log that an AG holds: all but its
// headers, the reserve and one more block.
func (g *Geometry) logRoom() Blocks {
	taken := g.HeaderBlocks() + freeReserve + 1
	if taken > g.AGBlocks {
		return 0
	}
	return g.AGBlocks - taken
}

// defaultLogSize is 1/2048 of the filesystem, within the limits.
func (p *plan) defaultLogSize(least, most Blocks) {
	g := p.g
	n := blocksIn(g.Bytes(g.Blocks)/logRatio, g.BlockLog)
	if threads := p.logThreads(); threads > 0 && g.Blocks >= blocksIn(gib, g.BlockLog) {
		// Room for a largest transaction of each thread, and half as much again.
		bytes := Blocks(newReserver(g).largest(0).total()) * 3 * threads / 2
		n = max(n, min(blocksIn(maxLogBytes, g.BlockLog), bytes>>g.BlockLog))
	}
	if p.spec.PlanFor.Given {
		n = max(n, p.growingLog())
	}
	n = max(n, blocksIn(supportedLog, g.BlockLog))
	if g.Blocks < blocksIn(300*mib, g.BlockLog) {
		n = least
	}
	n = min(max(least, n), most, maxLogBlocks, blocksIn(maxLogBytes, g.BlockLog))
	g.Log.Blocks = n
}

func (p *plan) logThreads() Blocks {
	s := p.spec.Log.Concurrency
	switch {
	case s.Given:
		return p.threads(s.Value)
	case p.dev.SolidState:
		return Blocks(p.spec.CPUs)
	}
	return 0
}

// leaveRootRoom keeps the log in AG 0 from taking the room of the root
// inode's chunk, with its alignment, and returns the largest size left.
func (p *plan) leaveRootRoom(most Blocks) Blocks {
	g := p.g
	back := max(4*(Blocks(InodesPerChunk*g.InodeSize)>>g.BlockLog), 2*g.StripeUnit)
	most -= min(most, back)
	if p.spec.Log.Size.Given && g.Log.Blocks > most {
		p.refuse("-l size", "%d blocks; AG 0 has room for at most %d beside the root inode", g.Log.Blocks, most)
	}
	g.Log.Blocks = min(g.Log.Blocks, most)
	return most
}

// alignInternalLog moves the log's start to a multiple of unit, as an FSBlock,
// and makes its size one.
func (p *plan) alignInternalLog(unit, most Blocks) {
	g := p.g
	start := FSBlock(roundUp(uint64(g.FSBlock(g.Log.AG, g.Log.Start)), uint64(unit)))
	agbno := Blocks(start - g.FSBlock(g.Log.AG, 0))
	length := g.AGLength(g.Log.AG)
	if agbno >= length {
		p.refuse("-l su", "the log cannot start at a multiple of %d blocks within AG %d of %d blocks", unit, g.Log.AG, length)
		return
	}
	g.Log.Start = AGBlock(agbno)
	p.alignLogSize(unit, most)
	if agbno+g.Log.Blocks > length && g.Log.Blocks > unit {
		g.Log.Blocks -= unit
	}
}

// alignLogSize makes the log's size a multiple of unit: up, or down where it
// would become too large.
func (p *plan) alignLogSize(unit, most Blocks) {
	g := p.g
	if g.Log.Blocks%unit == 0 {
		return
	}
	if p.spec.Log.Size.Given {
		p.refuse("-l size", "%d blocks is no multiple of the log stripe unit of %d blocks", g.Log.Blocks, unit)
		return
	}
	n := roundUp(g.Log.Blocks, unit)
	if n > maxLogBlocks || g.Bytes(n) > maxLogBytes || n > most {
		n = roundDown(g.Log.Blocks, unit)
	}
	g.Log.Blocks = n
}

func (p *plan) checkLogSize(least Blocks) {
	g := p.g
	switch n := g.Log.Blocks; {
	case n < least && g.Log.External: // scripts take the number at the end of the line
		p.refuse("-l size", "external log device size %d blocks too small, must be at least %d blocks", n, least)
	case n < least:
		p.refuse("-l size", "log size %d blocks too small, minimum size is %d blocks", n, least)
	case n > maxLogBlocks:
		p.refuse("-l size", "a log of %d blocks is too large; the most is %d", n, maxLogBlocks)
	case g.Bytes(n) > maxLogBytes:
		p.refuse("-l size", "a log of %d bytes is too large; the most is %d", g.Bytes(n), maxLogBytes)
	}
}
