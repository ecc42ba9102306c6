package geometry

// planGrowth checks the size that the filesystem is to grow to.
func (p *plan) planGrowth() {
	at := p.spec.PlanFor
	if !at.Given {
		return
	}
	if n := p.size(at.Value); !p.stop && blocksIn(n, p.g.BlockLog) < p.g.Blocks {
		p.refuse("--plan-for", "%s is %d blocks, and the filesystem has %d from the start", at.Value.Text, blocksIn(n,
			p.g.BlockLog), p.g.Blocks)
	}
	if p.g.RT.Start > 0 {
		p.refuse("--plan-for", "the data section cannot grow where the realtime section is behind it")
	}
	d := &p.spec.Data
	for _, other := range []struct {
		option string
		asked  bool
	}{{"-d agcount", d.AGCount.asked()}, {"-d agsize", d.AGSize.asked()}, {"-d concurrency", d.Concurrency.asked()}} {
		if other.asked {
			p.refuse("--plan-for", "does not go together with %s", other.option)
		}
	}
}

// finalBlocks is the size that the filesystem will grow to, in blocks.
func (p *plan) finalBlocks() Blocks {
	if at := p.spec.PlanFor; at.Given {
		return blocksIn(at.Value.On(p.g), p.g.BlockLog)
	}
	return p.g.Blocks
}

// growingAGSize is the AG size that suits the final size, as far as there is
// room for it now: there are two AGs at least, and the second has room for the
// log. It may be short: growing makes it longer.
func (p *plan) growingAGSize() Blocks {
	g := p.g
	final := p.finalBlocks()
	size := p.defaultAGSize(final)
	if p.dev.SolidState {
		size = p.concurrentAGSize(Blocks(p.spec.CPUs), final)
	}
	least := p.agMin()
	if !g.Log.External {
		least += max(g.Log.Blocks, p.growingLog())
	}
	if g.Blocks < 2*least {
		return min(size, divUp(g.Blocks, 2))
	}
	size = min(size, g.Blocks-least)
	if unit := g.StripeUnit; unit > 0 && size > unit {
		size = roundDown(size, unit)
	}
	return size
}

// growingLog is the size of a log that suits the final size, but no more than a
// sixteenth of what there is now.
func (p *plan) growingLog() Blocks {
	g := p.g
	n := blocksIn(g.Bytes(p.finalBlocks())/logRatio, g.BlockLog)
	return max(min(n, g.Blocks/16, maxLogBlocks, blocksIn(maxLogBytes, g.BlockLog)), blocksIn(supportedLog, g.BlockLog))
}

// AGsAt is the number of AGs that the filesystem has when it has grown to n bytes.
func (g *Geometry) AGsAt(n Bytes) Blocks {
	blocks := blocksIn(n, g.BlockLog)
	count := blocks / g.AGBlocks
	if blocks%g.AGBlocks >= blocksIn(minAGBytes, g.BlockLog) {
		count++
	}
	return count
}
