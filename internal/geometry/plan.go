package geometry

import "fmt"

// Limits of the format.
const (
	minBlockSize   = 512
	minBlockSizeV5 = 1024
	maxBlockSize   = 64 * kib
	minSectorSize  = 512
	maxSectorSize  = 32 * kib
	defaultBlock   = 4096
	minDirBlock    = 4 * kib
)

// Notes are what a plan has to say apart from its result.
type Notes struct {
	Notices  []string // about the filesystem; part of the tool's output
	Warnings []string // about what was asked or found
}

// Refusals is everything that is wrong with what was asked.
type Refusals struct{ List []error }

func (r *Refusals) Error() string {
	text := r.List[0].Error()
	for _, err := range r.List[1:] {
		text += "\n" + err.Error()
	}
	return text
}

// Unwrap gives the single refusals to errors.As.
func (r *Refusals) Unwrap() []error { return r.List }

// plan is a Geometry in the making.
type plan struct {
	spec  *Spec
	dev   *Device
	g     *Geometry
	notes Notes
	errs  []error
	stop  bool // the step that runs has refused something

	stripe    struct{ unit, width Bytes } // of the data section, as asked for
	logStripe Bytes                       // as asked for

	dataSize   Bytes // of the data section's device, or its part of it
	rtSize     Bytes // of the realtime section's
	rtThere    bool  // there is a realtime section, of a size yet to be found
	groupCount Blocks
	atomic     Blocks // that a write is to be atomic of
}

func (p *plan) refuse(option, format string, args ...any) {
	p.fail(refuse(option, format, args...))
}

// refuseLine refuses with a line that scripts look for; see Refusal.Line.
func (p *plan) refuseLine(option, format string, args ...any) {
	p.fail(&Refusal{Option: option, Reason: fmt.Sprintf(format, args...), Line: true})
}

func (p *plan) fail(err error) {
	p.errs = append(p.errs, err)
	p.stop = true
}

// notice is told unless something was refused before: then it is of what would
// not have been looked at.
func (p *plan) notice(format string, args ...any) {
	if len(p.errs) == 0 {
		p.notes.Notices = append(p.notes.Notices, fmt.Sprintf(format, args...))
	}
}

func (p *plan) warn(format string, args ...any) {
	p.notes.Warnings = append(p.notes.Warnings, fmt.Sprintf(format, args...))
}

// size turns an option's length into bytes.
func (p *plan) size(s Size) Bytes {
	n, err := s.bytes(int64(p.g.SectorSize), int64(p.g.BlockSize))
	if err != nil {
		p.fail(err)
	}
	return n
}

func (p *plan) planBlockSize() {
	size := p.spec.BlockSize.or(defaultBlock)
	least := int64(minBlockSize)
	if p.g.Features.CRC {
		least = minBlockSizeV5
	}
	if size < least || size > int64(maxBlockSize) {
		p.refuse("-b size", "%d bytes; blocks have %d to %d bytes, and less than %d only with -m crc=0",
			size, least, maxBlockSize, minBlockSizeV5)
		return
	}
	p.g.BlockSize, p.g.BlockLog = Bytes(size), log2(size)
}

// planSectors settles the sector sizes: what was asked for, else the device's
// physical one, unless blocks are smaller than that and the logical one will do.
func (p *plan) planSectors() {
	g, block := p.g, int64(p.g.BlockSize)
	asked := p.spec.SectorSize
	option, size := "-s size", asked.Value
	if !p.spec.Log.SectorSize.Given { // which -s size gives too
		option = "-d sectsize"
	}
	if !asked.Given {
		option, size = "", p.deviceSector("the device", p.dev.LogicalSector, p.dev.PhysicalSector, p.dev.Misaligned)
		if p.spec.RT.Device { // one size is for both
			rt := &p.dev.RT
			size = max(size, p.deviceSector("the realtime device", rt.LogicalSector, rt.PhysicalSector, rt.Misaligned))
		}
		if block < size && block >= p.dev.LogicalSector {
			p.warn("blocks of %d bytes are less than device physical sectors of %d bytes; using its logical ones of %d bytes",
				block, size, p.dev.LogicalSector)
			size = p.dev.LogicalSector
		}
	}
	switch {
	case size < minSectorSize || size > int64(maxSectorSize):
		p.refuse(option, "sectors of %d bytes; they have %d to %d", size, minSectorSize, maxSectorSize)
		return
	case block < size:
		p.refuseLine("-b size", "block size %d cannot be smaller than sector size %d; -b size=%d would do", block, size, size)
		return
	case size < p.dev.LogicalSector:
		p.refuse(option, "sectors of %d bytes; the device's have %d", size, p.dev.LogicalSector)
		return
	case p.spec.RT.Device && size < p.dev.RT.LogicalSector && !p.dev.File:
		p.refuse("-r rtdev", "its sectors have %d bytes, and the filesystem's would have %d", p.dev.RT.LogicalSector, size)
		return
	}
	if asked.Given && size < p.dev.PhysicalSector && !p.dev.Misaligned && p.dev.PhysicalSector <= int64(maxSectorSize) {
		p.warn("%s: sectors of %d bytes are smaller than the device's physical ones of %d bytes; a disk that has no "+
			"smaller ones would not mount it",
			option, size, p.dev.PhysicalSector)
	}
	g.SectorSize, g.SectorLog = Bytes(size), log2(size)
}

func (p *plan) planLogSectors() {
	s, log := &p.spec.Log, &p.g.Log
	log.External = s.External
	def := int64(p.g.SectorSize)
	if log.External {
		def = p.dev.Log.LogicalSector
	}
	size := s.SectorSize.or(def)
	switch {
	case !log.External && size != int64(p.g.SectorSize):
		p.refuse("-l sectsize", "%d bytes; an internal log has the data section's sectors of %d bytes", size, p.g.SectorSize)
	case size < minSectorSize || size > min(int64(maxSectorSize), int64(p.g.BlockSize)):
		p.refuse("-l sectsize", "%d bytes; log sectors have %d bytes to the size of a block, %d", size, minSectorSize,
			p.g.BlockSize)
	case log.External && int64(p.g.SectorSize) < p.dev.Log.LogicalSector && !p.dev.File:
		p.refuse("-l logdev", "its sectors have %d bytes, and the filesystem's would have %d; try -s size=%d",
			p.dev.Log.LogicalSector, p.g.SectorSize, p.dev.Log.LogicalSector)
	case log.External && size < p.dev.Log.LogicalSector && !p.dev.Log.File:
		p.refuse("-l sectsize", "%d bytes; the sectors of the log's device have %d", size, p.dev.Log.LogicalSector)
	case size > minSectorSize && p.spec.Features.LogVersion.or(2) < 2:
		p.refuse("-l version", "version 1 logs have sectors of %d bytes, not %d", minSectorSize, size)
	}
	log.SectorSize, log.SectorLog = Bytes(size), log2(max(size, 1))
}

func (p *plan) planDirBlocks() {
	g := p.g
	size := max(g.BlockSize, minDirBlock)
	if asked := p.spec.DirBlockSize; asked.Given {
		if size = p.size(asked.Value); p.stop {
			return
		}
		if size < g.BlockSize || size > maxBlockSize {
			p.refuse("-n size", "%d bytes; directory blocks have at least the size of a block, %d, and at most %d",
				size, g.BlockSize, maxBlockSize)
			return
		}
	}
	g.DirBlockSize, g.DirBlockLog = size, log2(int64(max(size, 1)))
}

// askedBlocks turns a section's size into blocks; a part of a block is dropped.
func (p *plan) askedBlocks(s Size) Blocks {
	n := p.size(s)
	if p.stop {
		return 0
	}
	if n%minBlockSize != 0 {
		p.refuse(s.Limits.Option, "%d bytes is no multiple of %d", n, minBlockSize)
		return 0
	}
	if rest := n % p.g.BlockSize; rest != 0 {
		p.warn("%s: %d bytes is no multiple of the block size; using %d", s.Limits.Option, n, n-rest)
	}
	return blocksIn(n, p.g.BlockLog)
}

// Usable is what of a device of n bytes can be addressed: whole sectors, and
// whole KiB, because that was once the resolution of device sizes.
func Usable(n, sector Bytes) Bytes { return n &^ (max(sector, kib) - 1) }

// planSize settles the size of the data section.
func (p *plan) planSize() {
	g := p.g
	there := blocksIn(Usable(p.dataSize, g.SectorSize), g.BlockLog)
	g.Blocks = there
	if asked := p.spec.Data.Size; asked.Given {
		if g.Blocks = p.askedBlocks(asked.Value); p.stop {
			return
		}
		if g.Blocks > there && !p.dev.Grows {
			p.refuse("-d size", "%s is %d blocks, and the device has %d", asked.Value.Text, g.Blocks, there)
			return
		}
	}
	if least := p.agMin(); g.Blocks < least {
		p.refuse("", "%d blocks of data are too few, the least is %d (16 MiB)", g.Blocks, least)
	}
}

// planLogAsked takes the size of the log that was asked for.
func (p *plan) planLogAsked() {
	s := &p.spec.Log
	if !s.Size.Given {
		return
	}
	p.g.Log.Blocks = p.askedBlocks(s.Size.Value)
	if s.Concurrency.asked() {
		p.refuse("-l concurrency", "does not go together with -l size, %s by default", s.Size.Value.Text)
	}
}

// planLogDevice settles the size of an external log.
func (p *plan) planLogDevice() {
	g, s := p.g, &p.spec.Log
	if !g.Log.External {
		return
	}
	there := blocksIn(Usable(p.dev.Log.Size, g.Log.SectorSize), g.BlockLog)
	switch {
	case g.Log.Blocks == 0:
		g.Log.Blocks = there
	case g.Log.Blocks > there && !p.dev.Log.Grows:
		p.refuse("-l size", "%s is %d blocks, and the log device has %d", s.Size.Value.Text, g.Log.Blocks, there)
	}
}

// checkLogWithin refuses an internal log that takes all of the data section.
func (p *plan) checkLogWithin() {
	if g, s := p.g, &p.spec.Log; !s.External && s.Size.Given && g.Log.Blocks >= g.Blocks {
		p.refuse("-l size", "%s is %d blocks, and the data section that would hold it has %d", s.Size.Value.Text,
			g.Log.Blocks, g.Blocks)
	}
}

// checkInherit bounds the extent size hints: one extent, half an AG, and whole
// realtime extents where files are to lie in the realtime section.
func (p *plan) checkInherit() {
	const maxExtent = 1<<21 - 1
	most := min(maxExtent, p.g.AGBlocks/2)
	in := &p.g.Inherit
	unit := Blocks(1)
	if in.Realtime.Value {
		unit = p.g.RT.Extent
	}
	for _, hint := range []struct {
		option string
		blocks Blocks
	}{
		{"-d extszinherit", Blocks(in.ExtentSize.Value)},
		{"-d cowextsize", Blocks(in.CowExtent.Value)},
	} {
		if hint.blocks > most || hint.blocks%unit != 0 {
			p.refuse(hint.option, "%d blocks; it is %sat most %d", hint.blocks, multipleOf(unit), most)
		}
	}
}

// multipleOf says that something is a multiple of a number of blocks, if that says anything.
func multipleOf(unit Blocks) string {
	if unit == 1 {
		return ""
	}
	return fmt.Sprintf("a multiple of %d and ", unit)
}

// The least that is supported, unless more was asked for.
const (
	supportedSize = 300 * mib
	supportedLog  = 64 * mib
	supportedAGs  = 2
)

// checkSize refuses a filesystem that is too small to be of use.
func (p *plan) checkSize() {
	if g := p.g; !p.spec.SmallAllowed && g.Blocks < blocksIn(supportedSize, g.BlockLog) {
		p.refuse("", "the filesystem would have %d MiB; the least that is supported is %d MiB, "+
			"and --unsupported makes a smaller one", g.Bytes(g.Blocks)/mib, supportedSize/mib)
	}
}

// checkLogAsked refuses such a log, if its size was asked for.
func (p *plan) checkLogAsked() {
	if p.spec.Log.Size.Given && p.g.Log.Blocks != 0 {
		p.checkLog()
	}
}

func (p *plan) checkLog() {
	if g := p.g; !p.spec.SmallAllowed && g.Log.Blocks < blocksIn(supportedLog, g.BlockLog) {
		option, hint := "-l size", ""
		if !p.spec.Log.Size.Given { // it is as large as there is room
			option, hint = "", "; use larger AGs"
		}
		p.refuse(option, "the log would have %d MiB; the least that is supported is %d MiB%s", g.Bytes(g.Log.Blocks)/mib,
			supportedLog/mib, hint)
	}
}

func (p *plan) checkAGCount() {
	s := &p.spec.Data
	small := p.g.Blocks < blocksIn(supportedSize, p.g.BlockLog) // which is refused for that
	if p.spec.SmallAllowed || small && !s.AGCount.Given && !s.AGSize.Given {
		return
	}
	if p.g.AGCount < supportedAGs {
		p.refuse("-d agcount", "one AG has no second superblock to recover from; the least that is supported is %d",
			supportedAGs)
	}
}
