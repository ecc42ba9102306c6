// Package super reads a superblock: what filesystem it describes, and what is
// wrong with that.
package super

import (
	"fmt"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
	"mkfs/internal/xlog"
)

// Filesystem is what a superblock says.
type Filesystem struct {
	SB       ondisk.Superblock
	Geometry geometry.Geometry
	V5       bool
	Lazy     bool        // the superblock's counters are only right after an unmount
	MetaUUID ondisk.UUID // of all blocks but superblocks
}

// ReadSize is how many bytes Read wants, if the device has as many.
const ReadSize = maxSector

// Read takes a filesystem from the start of its device, which has size bytes.
// tell is told of all that is wrong; without a filesystem in return it is
// something that nothing can be made of.
func Read(b []byte, size int64, tell func(message string)) *Filesystem {
	s, there := ondisk.DecodeSuperblock(b)
	switch {
	case len(b) < minSector:
		tell(fmt.Sprintf("no XFS: there are only %d bytes", len(b)))
		return nil
	case !there:
		tell(fmt.Sprintf("no XFS: the magic number is %#x, not %#x", ondisk.FirstWord(b), ondisk.SuperblockMagic))
		return nil
	}
	sector := min(int(s.SectorSize), len(b))
	if s.IsV5() && (sector < minSector || !ondisk.Sealed(b[:sector], ondisk.SuperblockCRC)) {
		tell(BadChecksum)
	}
	if rule.Apply(shapeRules, nil, &s, tell) > 0 {
		return nil
	}
	f := newFilesystem(&s)
	rule.Apply(superRules, f, &s, tell)
	if end := f.Geometry.Bytes(f.Geometry.Blocks); int64(end) > size {
		tell(fmt.Sprintf("the filesystem has %d bytes, the device %d", end, size))
	}
	return f
}

// BadChecksum is said of a block whose checksum is not that of its contents.
const BadChecksum = "the checksum is wrong"

// newFilesystem takes a superblock that shapeRules approve of.
func newFilesystem(s *ondisk.Superblock) *Filesystem {
	f := Filesystem{SB: *s, Geometry: geometryOf(s), V5: s.IsV5(), MetaUUID: s.UUID}
	f.Lazy = s.Version&ondisk.VersionMore != 0 && s.Features2&ondisk.Features2LazyCount != 0
	if s.Incompat&ondisk.IncompatMetaUUID != 0 {
		f.MetaUUID = s.MetaUUID
	}
	return &f
}

// Split takes the address of n blocks apart, or tells by false that these are
// not within an AG, behind its header.
func (f *Filesystem) Split(addr uint64, n geometry.Blocks) (geometry.AGNumber, geometry.AGBlock, bool) {
	g := &f.Geometry
	agno := addr >> g.AGBlockLog
	if agno >= uint64(g.AGCount) {
		return 0, 0, false
	}
	agbno := geometry.Blocks(addr & (1<<g.AGBlockLog - 1))
	ok := agbno >= g.SectorBlocks() && agbno+n <= g.AGLength(geometry.AGNumber(agno))
	return geometry.AGNumber(agno), geometry.AGBlock(agbno), ok
}

// InternalLog is where the log is within the filesystem; ok is false if it is
// not there, or has no room there.
func (f *Filesystem) InternalLog() (off geometry.Bytes, ok bool) {
	agno, agbno, ok := f.Split(f.SB.LogStart, geometry.Blocks(f.SB.LogBlocks))
	return f.Geometry.Offset(agno, agbno), ok && f.SB.LogStart != 0 && f.SB.LogBlocks != 0
}

// LogSize is the length of the log.
func (f *Filesystem) LogSize() geometry.Bytes {
	return f.Geometry.Bytes(geometry.Blocks(min(f.SB.LogBlocks, maxLogBlocks)))
}

// Log is the shape of the log.
func (f *Filesystem) Log() xlog.Shape {
	return xlog.Shape{
		Blocks: int(f.LogSize() / xlog.BlockSize), Version: uint32(f.Geometry.Features.LogVersion),
		Stripe: int(f.Geometry.Bytes(f.Geometry.Log.StripeUnit)),
		UUID:   f.SB.UUID, V5: f.V5,
	}
}

// RuleNames are the names of all checks of a superblock.
func RuleNames() (names []string) {
	for _, r := range append(slices.Clone(shapeRules), superRules...) {
		names = append(names, r.Name)
	}
	return names
}
