package verify

import (
	"fmt"
	"math"
	"math/bits"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// Limits of the format.
const (
	minSector, maxSector = 512, 32 << 10
	minAGBytes           = 16 << 20
	maxAGBytes           = 1 << 40
	minAGBlocks          = 64 // of a shorter last AG
	maxLogBlocks         = 1 << 20
	maxLogBytes          = 2<<30 - 10<<20
	maxLogStripe         = 256 << 10
	inodeCluster         = 8 << 10
	minInode             = 256
	minExtent, maxExtent = 4 << 10, 1 << 30 // of the realtime section, in bytes
)

// superRule is a check of a superblock by itself. Those that follow
// shapeRules may rely on what these have established.
type superRule = rule[*filesystem, ondisk.Superblock]

// shapeRules are the numbers that say where everything is. Nothing else can be
// looked at if one of them is wrong.
var shapeRules = []superRule{
	{"version", func(_ *filesystem, s *ondisk.Superblock) string {
		return within(s.Version&ondisk.VersionMask, ondisk.Version4, ondisk.Version5)
	}},
	{"block size", func(_ *filesystem, s *ondisk.Superblock) string {
		least := uint8(9)
		if s.IsV5() {
			least = 10
		}
		return powerOf2(uint64(s.BlockSize), s.BlockLog, least, 16)
	}},
	{"sector size", func(_ *filesystem, s *ondisk.Superblock) string {
		return powerOf2(uint64(s.SectorSize), s.SectorLog, 9, 15)
	}},
	{"inode size", func(_ *filesystem, s *ondisk.Superblock) string {
		return powerOf2(uint64(s.InodeSize), s.InodeLog, 8, min(11, s.BlockLog))
	}},
	{"number of inodes per block", func(_ *filesystem, s *ondisk.Superblock) string {
		return is(uint32(s.InodesPerBlock), s.BlockSize/max(1, uint32(s.InodeSize)))
	}},
	{"logarithm of inodes per block", func(_ *filesystem, s *ondisk.Superblock) string {
		return is(s.InodeBlockLog, s.BlockLog-s.InodeLog)
	}},
	{"AG size in bytes", func(_ *filesystem, s *ondisk.Superblock) string {
		return within(uint64(s.AGBlocks)*uint64(s.BlockSize), minAGBytes, maxAGBytes)
	}},
	{"logarithm of the AG size", func(_ *filesystem, s *ondisk.Superblock) string {
		return is(s.AGBlockLog, uint8(bits.Len32(s.AGBlocks-1)))
	}},
	{"number of AGs", func(_ *filesystem, s *ondisk.Superblock) string {
		return unless(s.AGCount > 0, "is 0")
	}},
	{"number of blocks", func(_ *filesystem, s *ondisk.Superblock) string {
		size, n := uint64(s.AGBlocks), uint64(s.AGCount)
		if text := within(s.DataBlocks, (n-1)*size+minAGBlocks, n*size); text != "" {
			return text + fmt.Sprintf(", with %d AGs of %d blocks", n, size)
		}
		return unless(s.DataBlocks <= math.MaxInt64>>min(s.BlockLog, 16), "is more than 8 EiB")
	}},
}

func powerOf2(n uint64, log, least, most uint8) string {
	if least <= log && log <= most && n == 1<<log {
		return ""
	}
	return fmt.Sprintf("is %d with a logarithm of %d; it is 2 to the power of %d to %d", n, log, least, most)
}

// superRules are the other fields of the primary superblock.
var superRules = []superRule{
	{"in progress", func(_ *filesystem, s *ondisk.Superblock) string { return is(s.InProgress, 0) }},
	{"features", func(_ *filesystem, s *ondisk.Superblock) string {
		const v2 = ondisk.Features2LazyCount | ondisk.Features2Attr2 | ondisk.Features2Projid32 | ondisk.Features2Ftype
		need, need2, known2 := ondisk.VersionDirV2|ondisk.VersionUnwrit, ondisk.Features2(0), v2
		if s.IsV5() {
			need |= ondisk.VersionNlink | ondisk.VersionAlign | ondisk.VersionLogV2 | ondisk.VersionMore
			need2 = ondisk.Features2LazyCount | ondisk.Features2Attr2 | ondisk.Features2Projid32 | ondisk.Features2CRC
			known2 |= ondisk.Features2CRC
		}
		switch more := s.Version&ondisk.VersionMore != 0; {
		case s.Version&need != need || s.Features2&need2 != need2:
			return fmt.Sprintf("are %#x and %#x, and lack bits of %#x and %#x", s.Version, s.Features2, need, need2)
		case s.Version&ondisk.VersionShared != 0 || more && s.Features2&^known2 != 0:
			return fmt.Sprintf("are %#x and %#x, which has unknown bits", s.Version, s.Features2)
		}
		return ""
	}},
	{"incompatible features", func(_ *filesystem, s *ondisk.Superblock) string {
		const known = ondisk.IncompatFtype | ondisk.IncompatSparse | ondisk.IncompatMetaUUID | ondisk.IncompatBigtime |
			ondisk.IncompatNeedsRepair | ondisk.IncompatNrext64 | ondisk.IncompatExchange | ondisk.IncompatParent |
			ondisk.IncompatMetadir | ondisk.IncompatZoned | ondisk.IncompatZoneGaps
		return unknownBits(s.Incompat, known)
	}},
	{"needs repair", func(_ *filesystem, s *ondisk.Superblock) string {
		return unless(s.Incompat&ondisk.IncompatNeedsRepair == 0, "is set: an upgrade or a repair was not finished")
	}},
	{"read-only compatible features", func(_ *filesystem, s *ondisk.Superblock) string {
		const known = ondisk.ROCompatFinobt | ondisk.ROCompatRmapbt | ondisk.ROCompatReflink | ondisk.ROCompatInobtCount
		return unknownBits(s.ROCompat, known)
	}},
	{"percentage of inodes", func(_ *filesystem, s *ondisk.Superblock) string { return within(s.MaxInodePercent, 0, 100) }},
	{"shared version", func(_ *filesystem, s *ondisk.Superblock) string { return is(s.SharedVersion, 0) }},
	{"logarithm of the directory block size", func(_ *filesystem, s *ondisk.Superblock) string {
		return within(s.DirBlockLog, 0, 16-s.BlockLog)
	}},
	{"size of the log", func(_ *filesystem, s *ondisk.Superblock) string {
		return within(uint64(s.LogBlocks), 1, min(maxLogBlocks, uint64(maxLogBytes)>>s.BlockLog))
	}},
	{"start of the log", func(f *filesystem, s *ondisk.Superblock) string {
		if _, ok := f.logBlock(); ok || s.LogStart == 0 {
			return ""
		}
		return fmt.Sprintf("is %d, which is no place for %d blocks", s.LogStart, s.LogBlocks)
	}},
	{"log sector size", func(_ *filesystem, s *ondisk.Superblock) string {
		if s.Version&ondisk.VersionSector == 0 {
			return is(uint32(s.LogSectorSize)|uint32(s.LogSectorLog), 0)
		}
		return powerOf2(uint64(s.LogSectorSize), s.LogSectorLog, 9, 15)
	}},
	{"sector size", func(_ *filesystem, s *ondisk.Superblock) string {
		if s.Version&ondisk.VersionSector == 0 {
			return is(s.SectorSize, minSector)
		}
		return ""
	}},
	{"log stripe unit", func(_ *filesystem, s *ondisk.Superblock) string {
		if s.LogStripeUnit > 1 && (s.LogStripeUnit%s.BlockSize != 0 || s.LogStripeUnit > maxLogStripe) {
			return fmt.Sprintf("is %d bytes, not a multiple of the block size up to %d", s.LogStripeUnit, maxLogStripe)
		}
		return ""
	}},
	{"inode alignment", func(_ *filesystem, s *ondisk.Superblock) string {
		return unless(inodesAligned(s), fmt.Sprintf("of %d and %d blocks does not go with inodes of %d bytes",
			s.InodeAlign, s.SparseAlign, s.InodeSize))
	}},
	{"stripe", func(_ *filesystem, s *ondisk.Superblock) string {
		unit, width := s.StripeUnit, s.StripeWidth
		ok := unit == 0 && width == 0
		if s.Version&ondisk.VersionStripe != 0 {
			ok = unit > 0 && width >= unit && width%unit == 0
		}
		return unless(ok, fmt.Sprintf("of unit %d and width %d is none", unit, width))
	}},
	{"realtime extent", func(_ *filesystem, s *ondisk.Superblock) string {
		if s.Incompat&ondisk.IncompatZoned != 0 {
			return is(s.RealtimeExtent, 1)
		}
		return within(uint64(s.RealtimeExtent)*uint64(s.BlockSize), minExtent, maxExtent)
	}},
	{"realtime section", func(_ *filesystem, s *ondisk.Superblock) string {
		if s.RealtimeBlocks == 0 {
			return unless(s.RealtimeExtents == 0 && s.BitmapBlocks == 0 && s.RealtimeLog == 0 && s.FreeExtents == 0,
				"has no blocks, but extents or a bitmap")
		}
		return against(s.RealtimeExtents, s.RealtimeBlocks/max(1, uint64(s.RealtimeExtent)), "not as many extents as its blocks make:")
	}},
	{"root inode", func(f *filesystem, s *ondisk.Superblock) string {
		_, _, ok := f.split(s.RootInode>>s.InodeBlockLog, 1)
		return unless(ok, fmt.Sprintf("is %d, which is no place for an inode", s.RootInode))
	}},
}

func unknownBits[T ~uint32](have, known T) string {
	if have&^known == 0 {
		return ""
	}
	return fmt.Sprintf("are %#x, of which %#x are unknown", have, have&^known)
}

// inodesAligned tells whether chunks of inodes are aligned to the IO unit of
// inodes, in V5 one that grows with them, or with sparse chunks to whole ones.
func inodesAligned(s *ondisk.Superblock) bool {
	plain := uint32(inodeCluster >> s.BlockLog)
	scaled := uint32(inodeCluster*int(s.InodeSize)/minInode) >> s.BlockLog
	chunk := uint32(geometry.InodesPerChunk*int(s.InodeSize)) >> s.BlockLog
	switch {
	case s.Version&ondisk.VersionAlign == 0:
		return s.InodeAlign == 0
	case !s.IsV5():
		return s.InodeAlign == plain
	case s.Incompat&ondisk.IncompatSparse != 0:
		a := s.SparseAlign
		return s.InodeAlign == chunk && (a == 0 || a <= chunk && chunk%a == 0)
	}
	return s.SparseAlign == 0 && (s.InodeAlign == plain || s.InodeAlign == scaled)
}

// superblock reads and checks the primary superblock and takes the geometry
// from it; ok is false if there is none to be had.
func (v *verifier) superblock() (ok bool, err error) {
	b, err := v.read(&v.Data, 0, min(maxSector, v.Data.Size))
	if err != nil {
		return false, fmt.Errorf("superblock: %w", err)
	}
	tell := func(message string) { v.fault(0, placeSuperblock, 0, message) }
	s, there := ondisk.DecodeSuperblock(b)
	switch {
	case len(b) < minSector:
		tell(fmt.Sprintf("no XFS: there are only %d bytes", len(b)))
		return false, nil
	case !there:
		tell(fmt.Sprintf("no XFS: the magic number is %#x, not %#x", ondisk.FirstWord(b), ondisk.SuperblockMagic))
		return false, nil
	}
	sector := min(int(s.SectorSize), len(b))
	if s.IsV5() && (sector < minSector || !ondisk.Sealed(b[:sector], ondisk.SuperblockCRC)) {
		tell(badChecksum)
	}
	if apply(shapeRules, nil, &s, tell) > 0 {
		return false, nil
	}
	v.fs = newFilesystem(&s)
	apply(superRules, &v.fs, &s, tell)
	if end := v.fs.g.Bytes(v.fs.g.Blocks); int64(end) > v.Data.Size {
		tell(fmt.Sprintf("the filesystem has %d bytes, the device %d", end, v.Data.Size))
	}
	return true, nil
}

const badChecksum = "the checksum is wrong"
