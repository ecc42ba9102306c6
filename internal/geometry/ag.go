package geometry

const (
	minAGBytes  = 16 * mib
	maxAGBytes  = tib - 1
	maxAGCount  = 1<<32 - 1
	threadedAG  = 4 * gib // no smaller AGs for the sake of concurrency
	singleShift = 2       // 4 AGs on one disk
	multiShift  = 5       // 32 AGs on many
)

func (p *plan) agMin() Blocks { return blocksIn(minAGBytes, p.g.BlockLog) }
func (p *plan) agMax() Blocks { return blocksIn(maxAGBytes, p.g.BlockLog) }

// planAGs settles the number and the size of AGs.
func (p *plan) planAGs() {
	g, s := p.g, &p.spec.Data
	var count Blocks
	switch {
	case s.AGCount.Given && s.AGCount.Value < 1:
		p.refuse("-d agcount", "%d; there is at least one", s.AGCount.Value)
		return
	case p.spec.PlanFor.Given:
		g.AGBlocks = p.growingAGSize()
	case s.AGCount.asked() && s.AGSize.Default:
		p.refuse("-d agcount", "does not go together with -d agsize, %s by default", s.AGSize.Value.Text)
		return
	case s.Concurrency.asked() && s.Concurrency.Value == 0 && s.AGSize.Default:
		p.refuse("-d concurrency", "does not go together with -d agsize, %s by default", s.AGSize.Value.Text)
		return
	case s.Concurrency.Given && s.Concurrency.Value > 0:
		g.AGBlocks = p.concurrentAGSize(p.threads(s.Concurrency.Value), g.Blocks)
	case s.AGSize.Given:
		n := p.size(s.AGSize.Value)
		if n%g.BlockSize != 0 && !p.stop {
			p.refuse("-d agsize", "%s is no multiple of the block size, %d", s.AGSize.Value.Text, g.BlockSize)
		}
		g.AGBlocks = blocksIn(n, g.BlockLog)
	case s.AGCount.Given:
		count = Blocks(s.AGCount.Value)
		g.AGBlocks = divUp(g.Blocks, count)
	case !s.Concurrency.Given && p.dev.SolidState:
		g.AGBlocks = p.concurrentAGSize(Blocks(p.spec.CPUs), g.Blocks)
	default:
		g.AGBlocks = p.defaultAGSize(g.Blocks)
	}
	if p.stop {
		return
	}
	if g.AGBlocks == 0 {
		p.refuse("-d agcount", "that many AGs leave no block to each")
		return
	}
	if count == 0 {
		count = divUp(g.Blocks, g.AGBlocks)
	}
	count = p.alignAGs(count)
	p.checkAGs(count)
	g.AGCount = AGNumber(count)
	g.AGBlockLog = log2(uint64(g.AGBlocks))
	if 1<<g.AGBlockLog < g.AGBlocks {
		g.AGBlockLog++
	}
}

// defaultAGSize is four AGs on a single disk, as large as can be from 4 TiB
// on; on a striped device more, by size.
func (p *plan) defaultAGSize(n Blocks) Blocks {
	log := p.g.BlockLog
	in := func(b Bytes) Blocks { return blocksIn(b, log) }
	if n >= in(32*tib) || p.g.StripeUnit == 0 && n >= in(4*tib) {
		return p.agMax()
	}
	shift := singleShift
	if p.g.StripeUnit > 0 || n < in(128*mib) {
		shift = multiShift
		for _, below := range []bool{
			n <= in(512*gib), n <= in(8*gib), n < in(128*mib), n < in(64*mib), n < in(32*mib),
		} {
			if below {
				shift--
			}
		}
	}
	size := n >> shift
	if n&(1<<shift-1) != 0 && size < p.agMax() {
		size++ // the last AG holds the rest
	}
	return size
}

// threads is a concurrency option's number of threads; 1 stands for the number of CPUs.
func (p *plan) threads(n int64) Blocks {
	if n == 1 {
		return Blocks(p.spec.CPUs)
	}
	return Blocks(n)
}

// concurrentAGSize gives each of so many threads an AG of its own, but makes
// neither fewer AGs than by default nor any under 4 GiB. Where AGs would be
// too large it makes a multiple of the threads.
func (p *plan) concurrentAGSize(threads, n Blocks) Blocks {
	def := p.defaultAGSize(n)
	defCount := divUp(n, def)
	if threads == 0 || threads < defCount {
		return def
	}
	least := blocksIn(threadedAG, p.g.BlockLog)
	if n/threads < least {
		count := min(threads-1, n/least)
		if count <= defCount {
			return def
		}
		return n / count
	}
	count := threads
	for n/count > p.agMax() && n/count > def {
		count += threads
	}
	return n / count
}

// alignAGs makes AGs start at stripe units, and at multiples of atomic writes,
// but, since their headers would all
// lie on one disk, not at whole stripes; and it drops a last AG that is too
// small. It returns the number of AGs.
func (p *plan) alignAGs(count Blocks) Blocks {
	g, s := p.g, &p.spec.Data
	unit := g.StripeUnit
	if p.atomic < g.AGBlocks {
		unit = max(unit, p.atomic)
	}
	if unit > 0 && g.AGBlocks%unit != 0 {
		size := roundUp(g.AGBlocks, unit)
		if size > p.agMax() {
			size = roundDown(g.AGBlocks, unit)
		}
		g.AGBlocks = size
		if !s.AGCount.asked() {
			count = divUp(g.Blocks, size)
		}
		if s.AGSize.Given {
			p.warn("-d agsize: rounded to %d blocks, a multiple of the stripe unit of %d", size, unit)
		}
	}
	if g.StripeUnit > 0 && g.StripeWidth != g.StripeUnit && g.AGBlocks%g.StripeWidth == 0 && count > 1 {
		if s.AGCount.asked() || s.AGSize.Given {
			p.notice("Warning: AG size is a multiple of stripe width.  This can cause performance\n"+
				"problems by aligning all AGs on the same disk.  To avoid this, run mkfs with\n"+
				"an AG size that is one stripe unit smaller or larger, for example %d.", g.AGBlocks-unit)
		} else {
			size := g.AGBlocks - unit
			if size < p.agMin() {
				size = g.AGBlocks + unit
				if g.Blocks < g.AGBlocks {
					size = g.AGBlocks
				}
			}
			g.AGBlocks = size
			count = divUp(g.Blocks, size)
		}
	}
	if rest := g.Blocks % g.AGBlocks; rest != 0 && rest < p.agMin() && count > 1 && count == divUp(g.Blocks, g.AGBlocks) {
		count--
		g.Blocks = count * g.AGBlocks
	}
	return count
}

func (p *plan) checkAGs(count Blocks) {
	g := p.g
	option := "-d agcount"
	if p.spec.Data.AGSize.Given {
		option = "-d agsize"
	}
	rest := g.Blocks % g.AGBlocks
	switch {
	case g.AGBlocks < p.agMin():
		p.refuse(option, "AGs would have %d blocks; the least is %d (16 MiB)", g.AGBlocks, p.agMin())
	case g.AGBlocks > p.agMax():
		p.refuse(option, "AGs would have %d blocks; the most is %d (1 TiB less a block)", g.AGBlocks, p.agMax())
	case g.AGBlocks > g.Blocks:
		p.refuse(option, "AGs would have %d blocks; the data section has %d", g.AGBlocks, g.Blocks)
	case rest != 0 && rest < p.agMin():
		p.refuse(option, "the last AG would have %d blocks; the least is %d", rest, p.agMin())
	case count > maxAGCount:
		p.refuse(option, "there would be %d AGs; the most is %d", count, int64(maxAGCount))
	case count != divUp(g.Blocks, g.AGBlocks):
		p.refuse(option, "%d AGs of %d blocks, a multiple of the stripe unit, do not fit %d blocks; %d would", count,
			g.AGBlocks, g.Blocks, divUp(g.Blocks, g.AGBlocks))
	}
}
