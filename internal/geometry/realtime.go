package geometry

import "math/bits"

// Realtime is the realtime section: a second place for the contents of files,
// with an allocator of its own and its metadata in files of the data section.
type Realtime struct {
	Device   bool   // on a device of its own
	Start    Blocks // of a section behind the data section, on its device
	Blocks   Blocks // 0 for none
	Extent   Blocks // what is allocated as one
	Reserved Blocks // that only garbage collection may take
	// BitmapBlocks is the length of the file that has a bit for each free
	// extent, and SummaryBlocks that of the file that counts free runs: of the
	// whole section or, with groups, of each.
	BitmapBlocks, SummaryBlocks Blocks

	GroupCount  GroupNumber // 0 without the metadata directory
	GroupBlocks Blocks      // of every group but a shorter last one
}

// GroupNumber numbers the groups of a realtime section from 0.
type GroupNumber uint32

const (
	maxRealtimeExtent = gib
	maxGroupBlocks    = 1<<31 - 1
	maxGroupCount     = 1<<31 - 1
	// rtBlockHeader heads the blocks of bitmap and summary where there are groups.
	rtBlockHeader = 48
	rtWord        = 4 // bytes of a word of bitmap or summary
)

// Extents is the number of allocation units in the section.
func (r *Realtime) Extents() uint64 { return uint64(r.Blocks / r.Extent) }

// GroupExtents is the number of allocation units in a full group.
func (r *Realtime) GroupExtents() uint64 { return uint64(r.GroupBlocks / r.Extent) }

// ExtentsOf is the number of allocation units in a group.
func (r *Realtime) ExtentsOf(n GroupNumber) uint64 {
	first := uint64(n) * r.GroupExtents()
	return min(r.GroupExtents(), r.Extents()-min(first, r.Extents()))
}

// ExtentsLog is the base-2 logarithm of the number of allocation units, 0 for none.
func (r *Realtime) ExtentsLog() uint { return floorLog(r.Extents()) }

// GroupLog is the number of bits that address a block within a group: 0 where
// groups are as long as a power of two has units.
func (r *Realtime) GroupLog() uint {
	return uint(bits.Len64(uint64(r.GroupBlocks) - 1))
}

// floorLog is the base-2 logarithm, rounded down, and 0 of 0.
func floorLog(n uint64) uint { return uint(max(bits.Len64(n), 1)) - 1 }

// planRealtimeExtent settles the allocation unit: what was asked for, else the
// device's stripe, else a block, of at least 4 KiB.
func (p *plan) planRealtimeExtent() {
	g, s := p.g, &p.spec.RT
	g.RT.Device = s.Device
	if s.ExtentSize.Given && !g.Features.Zoned { // zones drop a default
		n := p.size(s.ExtentSize.Value)
		if n%g.BlockSize != 0 && !p.stop {
			p.refuse("-r extsize", "%d bytes is no multiple of the block size, %d", n, g.BlockSize)
		}
		g.RT.Extent = blocksIn(n, g.BlockLog)
		return
	}
	g.RT.Extent = max(1, blocksIn(minRealtimeExtent, g.BlockLog))
	if !g.Features.Reflink && !g.Features.Zoned && !s.NoAlign.Value {
		if width := p.deviceExtent(); width != 0 {
			g.RT.Extent = blocksIn(width, g.BlockLog)
		}
	}
	if g.Features.Zoned {
		g.RT.Extent = 1
	}
}

// planInternalRealtime splits the data device if the realtime section is on it
// too. It lies behind the data section: where it was said, where the data
// section ends, or leaving 1/100 of the device, a power of two, for metadata.
func (p *plan) planInternalRealtime() {
	g, s := p.g, &p.spec.RT
	if d := &p.spec.Data; d.Whole && !s.Device && (s.Zoned.Value || s.Start.Given) {
		whole := g.Bytes(p.askedBlocks(d.Size.Value))
		if p.stop {
			return
		}
		if whole > p.dev.Size && !p.dev.Grows {
			p.refuse("--size", "%s is %d bytes, and the device has %d", d.Size.Value.Text, whole, p.dev.Size)
			return
		}
		p.dev.Size, d.Size = whole, Opt[Size]{}
	}
	size := Blocks(p.dev.Size / BasicBlock)
	var start Blocks // in basic blocks
	if s.Start.Given {
		start = Blocks(p.size(s.Start.Value) / BasicBlock)
	}
	if s.Zoned.Value && start == 0 && !s.Device {
		start = p.zonedStart(size)
	}
	if start == 0 || p.stop {
		return
	}
	if start >= size {
		option := "-r zoned" // which settles where it is
		if s.Start.Given {
			option = "-r start"
		}
		p.refuse(option, "a device of %d bytes is too small for zoned allocator data at byte %d", p.dev.Size,
			Bytes(start)*BasicBlock)
		return
	}
	p.rtSize = Bytes(size-start) * BasicBlock
	p.dataSize = Bytes(start) * BasicBlock
	p.rtThere = true
	g.RT.Start = blocksIn(p.dataSize, g.BlockLog)
}

func (p *plan) zonedStart(size Blocks) Blocks {
	if asked := p.spec.Data.Size; asked.Given {
		if n := p.size(asked.Value); !p.stop {
			return Blocks(blocksIn(n, p.g.BlockLog)) << (p.g.BlockLog - 9)
		}
		return 0
	}
	want := max(divUp(size, 100), Blocks(300*mib/BasicBlock))
	start := Blocks(1)
	for start < want {
		start <<= 1
	}
	return start
}

// planRealtime settles the size of the section and of its files.
func (p *plan) planRealtime() {
	g, s := p.g, &p.spec.RT
	if s.Device {
		p.rtSize, p.rtThere = p.dev.RT.Size, true
	}
	var asked Blocks
	if s.Size.Given {
		if asked = p.askedBlocks(s.Size.Value); p.stop {
			return
		}
	}
	if !p.rtThere {
		if s.Size.Given {
			p.refuse("-r size", "there is no realtime section; -r rtdev=DEVICE puts one on a device")
		}
		return
	}
	if p.dev.RT.Grows && s.Device {
		p.rtSize = max(p.rtSize, g.Bytes(asked))
	}
	there := blocksIn(Usable(p.rtSize, g.SectorSize), g.BlockLog)
	switch {
	case Usable(p.rtSize, g.SectorSize) == 0:
		p.refuse("-r rtdev", "the realtime device is empty")
		return
	case asked > there:
		p.refuse("-r size", "%s is %d blocks, and there are %d for the realtime section", s.Size.Value.Text, asked, there)
		return
	}
	g.RT.Blocks = there
	if s.Size.Given {
		g.RT.Blocks = asked
	}
	if g.Features.Reflink && g.RT.Blocks > 0 && g.RT.Extent > 1 {
		p.refuse("-r extsize", "an allocation unit of %d blocks; blocks can only be shared (reflink=1) if it is one",
			g.RT.Extent)
		return
	}
	if g.RT.Extents() == 0 {
		p.refuse("-r size", "a realtime section of %d blocks has no unit of %d", g.RT.Blocks, g.RT.Extent)
	}
}

// planRealtimeFiles settles the lengths of bitmap and summary.
func (p *plan) planRealtimeFiles() {
	g := p.g
	r := &g.RT
	extents, payload := r.Extents(), Blocks(g.BlockSize)
	if g.Features.Metadir {
		extents, payload = r.GroupExtents(), payload-rtBlockHeader
	}
	if g.Features.Zoned || r.Blocks == 0 {
		return
	}
	r.BitmapBlocks = Blocks(divUp(extents, uint64(payload)*8))
	// For each block of the bitmap it counts the free runs of each length, by
	// powers of two.
	words := r.BitmapBlocks * Blocks(floorLog(extents)+1)
	r.SummaryBlocks = divUp(words, payload/rtWord)
}

// FreeExtents is the number of allocation units that files may take: all but
// that of the section's own superblock. Zones are not counted.
func (g *Geometry) FreeExtents() uint64 {
	n := g.RT.Extents()
	switch {
	case n == 0 || g.Features.Zoned:
		return 0
	case g.Features.Metadir:
		return n - 1
	}
	return n
}
