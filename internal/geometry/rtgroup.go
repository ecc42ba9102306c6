package geometry

const (
	zoneBytes     = 256 * mib // of a zone, as disks have them
	minZones      = 5
	ReservedZones = 4       // that writing takes besides what is there for files
	unusedGroup   = tib     // of a section that does not exist
	threadedGroup = 4 * gib // no smaller groups for the sake of concurrency
)

// planGroups splits the realtime section, if there is a metadata directory
// that can hold the files of many.
func (p *plan) planGroups() {
	g := p.g
	r, s := &g.RT, &p.spec.RT
	switch grouped := g.Features.Zoned || g.Features.Metadir; {
	case !grouped:
		return
	case s.GroupSize.Default && s.GroupCount.asked():
		p.refuse("-r rgcount", "does not go together with -r rgsize, %s by default", s.GroupSize.Value.Text)
	case s.GroupSize.Default && s.Concurrency.asked():
		p.refuse("-r concurrency", "does not go together with -r rgsize, %s by default", s.GroupSize.Value.Text)
	case g.Features.Zoned:
		p.planZones()
	case s.GroupSize.Given:
		p.askedGroupSize()
	case s.GroupCount.Given:
		p.setGroups(divUp(r.Blocks, Blocks(s.GroupCount.Value)), Blocks(s.GroupCount.Value))
	case r.Blocks == 0:
		size := blocksIn(unusedGroup, g.BlockLog)
		p.setGroups(size-size%r.Extent, 0)
	case r.Blocks < 2*r.Extent:
		p.setGroups(r.Blocks, 0)
	default:
		size, ok := p.defaultGroupSize()
		if !ok {
			return
		}
		if threads := p.groupThreads(); threads > 0 {
			size = p.concurrentGroupSize(threads, size)
		}
		p.setGroups(size, divUp(r.Blocks, size))
	}
	if !p.stop {
		p.checkGroups()
	}
}

func (p *plan) setGroups(size, count Blocks) {
	p.g.RT.GroupBlocks, p.groupCount = size, count
}

func (p *plan) askedGroupSize() {
	g := p.g
	n := p.size(p.spec.RT.GroupSize.Value)
	switch size := blocksIn(n, g.BlockLog); {
	case p.stop:
	case n%g.BlockSize != 0:
		p.refuse("-r rgsize", "%d bytes is no multiple of the block size, %d", n, g.BlockSize)
	case size == 0:
		p.refuse("-r rgsize", "a group of 0 bytes")
	default:
		p.setGroups(size, divUp(g.RT.Blocks, size))
	}
}

// planZones makes groups of zones. Of the size asked for, all is there for
// files; what garbage collection takes comes on top, as far as there is room.
func (p *plan) planZones() {
	g := p.g
	r, s := &g.RT, &p.spec.RT
	switch {
	case r.Blocks == 0:
		p.refuse("-r zoned", "there is no room for a realtime section")
		return
	case s.GroupSize.Given:
		if p.askedGroupSize(); p.stop {
			return
		}
	case s.GroupCount.Given:
		p.setGroups(divUp(r.Blocks, Blocks(s.GroupCount.Value)), Blocks(s.GroupCount.Value))
	default:
		size := blocksIn(zoneBytes, g.BlockLog)
		p.setGroups(size, divUp(r.Blocks, size))
	}
	if s.Size.Given {
		p.groupCount += ReservedZones
	}
	if most := blocksIn(Usable(p.rtSize, g.SectorSize), g.BlockLog) / r.GroupBlocks; p.groupCount > most {
		if s.Size.Given {
			p.warn("-r size: there is room for %d zones, and %s with what garbage collection takes would need %d",
				most, s.Size.Value.Text, p.groupCount)
		}
		p.groupCount = most
	}
	if p.groupCount < minZones {
		p.refuse("-r zoned", "there would be %d zones of %d blocks, whose number must be greater than the minimum "+
			"zone count; the least is %d", p.groupCount, r.GroupBlocks, minZones)
		return
	}
	blocks := p.groupCount * r.GroupBlocks
	slack := (blocks - r.Blocks) % r.GroupBlocks
	r.Blocks = blocks
	reserved := g.Bytes(slack)
	if s.Reserved.Given {
		reserved += p.size(s.Reserved.Value)
	}
	r.Reserved = blocksIn(reserved, g.BlockLog)
	if r.Reserved >= r.Blocks {
		p.refuse("-r reserved", "%d blocks; the realtime section has %d, and some must be left for files", r.Reserved,
			r.Blocks)
	}
}

func (p *plan) checkGroups() {
	r, option := &p.g.RT, p.groupsOption()
	switch size := r.GroupBlocks; {
	case size > maxGroupBlocks:
		p.refuse(option, "groups would have %d blocks; the most is %d", size, maxGroupBlocks)
	case size%r.Extent != 0:
		p.refuse(option, "groups would have %d blocks, no multiple of the allocation unit of %d", size, r.Extent)
	case size <= r.Extent:
		p.refuse(option, "groups would have %d blocks; the least is two allocation units of %d", size, r.Extent)
	case p.groupCount > maxGroupCount:
		p.refuse(option, "there would be %d groups; the most is %d", p.groupCount, maxGroupCount)
	}
	if p.stop {
		return
	}
	r.GroupCount = GroupNumber(p.groupCount)
	if n := divUp(r.Extents(), r.GroupExtents()); n != uint64(p.groupCount) {
		p.refuse(option, "%d groups of %d blocks; %d of them hold all allocation units", p.groupCount, r.GroupBlocks, n)
	}
}

// defaultGroupSize is a quarter of the section, but for whole allocation units
// and, where these are powers of two, a power of two. A last group of fewer than
// two units is avoided by making groups larger, else smaller.
func (p *plan) defaultGroupSize() (Blocks, bool) {
	r := &p.g.RT
	size := p.quarterGroup()
	unit := r.Extent
	steps := []func(Blocks) Blocks{
		func(n Blocks) Blocks { return n + unit },
		func(n Blocks) Blocks { return n - unit },
	}
	if unit&(unit-1) == 0 {
		// The next lower one, also of what is a power of two itself.
		size = min(maxGroupBlocks, Blocks(1)<<floorLog(uint64(size-1)))
		steps = append([]func(Blocks) Blocks{
			func(n Blocks) Blocks { return n << 2 },
			func(n Blocks) Blocks { return n >> 2 },
		}, steps...)
	} else {
		size = min(maxGroupBlocks, size-size%unit)
	}
	for _, next := range steps {
		for n := size; n > 0; n = next(n) {
			if up := next(n) > n; up && n > maxGroupBlocks-unit || !up && n <= 2*unit {
				break
			}
			if r.Blocks%n >= 2*unit {
				return n, true
			}
		}
	}
	p.refuse("-r extsize", "there is no size of groups that goes with an allocation unit of %d blocks", unit)
	return 0, false
}

// quarterGroup is a quarter of the section, rounded up: all of a small one, and
// the most there can be of a large one.
func (p *plan) quarterGroup() Blocks {
	n, log := p.g.RT.Blocks, p.g.BlockLog
	switch {
	case n >= blocksIn(4*tib, log):
		return maxGroupBlocks
	case n >= blocksIn(128*mib, log):
		return divUp(n, 4)
	}
	return n
}

func (p *plan) groupThreads() Blocks {
	s := p.spec.RT.Concurrency
	switch {
	case s.Given:
		return p.threads(s.Value)
	case p.dev.RT.SolidState:
		return Blocks(p.spec.CPUs)
	}
	return 0
}

// concurrentGroupSize gives each of so many threads a group of its own, as
// concurrentAGSize does with AGs.
func (p *plan) concurrentGroupSize(threads, def Blocks) Blocks {
	n := p.g.RT.Blocks
	defCount := divUp(n, def)
	if threads < defCount {
		return def
	}
	least := blocksIn(threadedGroup, p.g.BlockLog)
	if n/threads < least {
		count := min(threads-1, n/least)
		if count <= defCount {
			return def
		}
		return n / count
	}
	count, size := threads, n/threads
	for size > maxGroupBlocks && size > def {
		count += threads
		size = p.g.Blocks / count // of the data section: an old error that is kept
	}
	return size
}
