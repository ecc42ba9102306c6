package verify

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// filesystem is what the superblock and the log say of all AGs.
type filesystem struct {
	sb       ondisk.Superblock
	g        geometry.Geometry
	v5, lazy bool
	metaUUID ondisk.UUID // of all blocks but superblocks
	sectors  uint32      // blocks that an AG's header sectors take
	listSize uint32      // entries of an AGFL
	heights  geometry.Heights

	// settled says that everything in the log is in its place, so that blocks
	// may be checked against each other.
	settled bool
	// head is the log sequence number that the next record will have: no block
	// can have a later one. 0 if that is not known.
	head uint64
	// uncounted says that the counters of some AG were not to be had.
	uncounted bool
}

// newFilesystem takes a superblock that shapeRules approve of.
func newFilesystem(s *ondisk.Superblock) filesystem {
	f := filesystem{sb: *s, g: geometryOf(s), v5: s.IsV5(), metaUUID: s.UUID}
	f.lazy = s.Version&ondisk.VersionMore != 0 && s.Features2&ondisk.Features2LazyCount != 0
	if s.Incompat&ondisk.IncompatMetaUUID != 0 {
		f.metaUUID = s.MetaUUID
	}
	sector := make([]byte, s.SectorSize)
	f.listSize = uint32(len(ondisk.FreeList(sector, f.v5)) / 4)
	f.sectors = uint32(f.g.SectorBlocks())
	f.heights = f.g.Heights()
	return f
}

// geometryOf is the part of a filesystem's geometry that says where things are.
func geometryOf(s *ondisk.Superblock) geometry.Geometry {
	g := geometry.Geometry{
		BlockSize: geometry.Bytes(s.BlockSize), BlockLog: uint(s.BlockLog),
		SectorSize: geometry.Bytes(s.SectorSize), SectorLog: uint(s.SectorLog),
		InodeSize: geometry.Bytes(s.InodeSize), InodeLog: uint(s.InodeLog),
		Blocks: geometry.Blocks(s.DataBlocks), AGBlocks: geometry.Blocks(s.AGBlocks),
		AGCount: geometry.AGNumber(s.AGCount), AGBlockLog: uint(s.AGBlockLog),
		InodeAlign: geometry.Blocks(s.InodeAlign), SparseAlign: geometry.Blocks(s.SparseAlign),
	}
	if s.IsV5() {
		g.Features = geometry.Features{
			CRC:        true,
			Finobt:     s.ROCompat&ondisk.ROCompatFinobt != 0,
			Rmapbt:     s.ROCompat&ondisk.ROCompatRmapbt != 0,
			Reflink:    s.ROCompat&ondisk.ROCompatReflink != 0,
			InobtCount: s.ROCompat&ondisk.ROCompatInobtCount != 0,
			Sparse:     s.Incompat&ondisk.IncompatSparse != 0,
		}
	}
	return g
}

// split takes the address of n blocks apart, or tells by false that these are
// not within an AG, behind its header.
func (f *filesystem) split(addr uint64, n geometry.Blocks) (geometry.AGNumber, geometry.AGBlock, bool) {
	agno := addr >> f.g.AGBlockLog
	if agno >= uint64(f.g.AGCount) {
		return 0, 0, false
	}
	agbno := geometry.Blocks(addr & (1<<f.g.AGBlockLog - 1))
	ok := agbno >= f.g.SectorBlocks() && agbno+n <= f.g.AGLength(geometry.AGNumber(agno))
	return geometry.AGNumber(agno), geometry.AGBlock(agbno), ok
}

// logBlock is where an internal log begins, if it has room there.
func (f *filesystem) logBlock() (off geometry.Bytes, ok bool) {
	agno, agbno, ok := f.split(f.sb.LogStart, geometry.Blocks(f.sb.LogBlocks))
	return f.g.Offset(agno, agbno), ok && f.sb.LogStart != 0 && f.sb.LogBlocks != 0
}

// isLSN checks a log sequence number.
func (f *filesystem) isLSN(lsn uint64) string {
	return unless(f.head == 0 || lsn <= f.head || lsn == ondisk.NullLSN, "is later than the log's head")
}
