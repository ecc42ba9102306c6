package super

import (
	"fmt"
	"math"
	"math/bits"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
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
type superRule = rule.Rule[*Filesystem, ondisk.Superblock]

// shapeRules are the numbers that say where everything is. Nothing else can be
// looked at if one of them is wrong.
var shapeRules = []superRule{
	rule.Of("version", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Within(s.Version&ondisk.VersionMask, ondisk.Version4, ondisk.Version5)
	}),
	rule.Of("block size", func(_ *Filesystem, s *ondisk.Superblock) string {
		least := uint8(9)
		if s.IsV5() {
			least = 10
		}
		return powerOf2(uint64(s.BlockSize), s.BlockLog, least, 16)
	}),
	rule.Of("sector size", func(_ *Filesystem, s *ondisk.Superblock) string {
		return powerOf2(uint64(s.SectorSize), s.SectorLog, 9, 15)
	}),
	rule.Of("inode size", func(_ *Filesystem, s *ondisk.Superblock) string {
		return powerOf2(uint64(s.InodeSize), s.InodeLog, 8, min(11, s.BlockLog))
	}),
	rule.Of("number of inodes per block", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Is(uint32(s.InodesPerBlock), s.BlockSize/max(1, uint32(s.InodeSize)))
	}),
	rule.Of("logarithm of inodes per block", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Is(s.InodeBlockLog, s.BlockLog-s.InodeLog)
	}),
	rule.Of("AG size in bytes", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Within(uint64(s.AGBlocks)*uint64(s.BlockSize), minAGBytes, maxAGBytes)
	}),
	rule.Of("logarithm of the AG size", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Is(s.AGBlockLog, uint8(bits.Len32(s.AGBlocks-1)))
	}),
	rule.Of("number of AGs", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Unless(s.AGCount > 0, "is 0")
	}),
	rule.Of("number of blocks", func(_ *Filesystem, s *ondisk.Superblock) string {
		size, n := uint64(s.AGBlocks), uint64(s.AGCount)
		if text := rule.Within(s.DataBlocks, (n-1)*size+minAGBlocks, n*size); text != "" {
			return text + fmt.Sprintf(", with %d AGs of %d blocks", n, size)
		}
		return rule.Unless(s.DataBlocks <= math.MaxInt64>>min(s.BlockLog, 16), "is more than 8 EiB")
	}),
}

func powerOf2(n uint64, log, least, most uint8) string {
	if least <= log && log <= most && n == 1<<log {
		return ""
	}
	return fmt.Sprintf("is %d with a logarithm of %d; it is 2 to the power of %d to %d", n, log, least, most)
}

// superRules are the other fields of the primary superblock.
var superRules = []superRule{
	rule.Of("in progress", func(_ *Filesystem, s *ondisk.Superblock) string { return rule.Is(s.InProgress, 0) }),
	rule.Of("features", func(_ *Filesystem, s *ondisk.Superblock) string {
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
	}),
	rule.Of("incompatible features", func(_ *Filesystem, s *ondisk.Superblock) string {
		const known = ondisk.IncompatFtype | ondisk.IncompatSparse | ondisk.IncompatMetaUUID | ondisk.IncompatBigtime |
			ondisk.IncompatNeedsRepair | ondisk.IncompatNrext64 | ondisk.IncompatExchange | ondisk.IncompatParent |
			ondisk.IncompatMetadir | ondisk.IncompatZoned | ondisk.IncompatZoneGaps
		return rule.NoneBut(s.Incompat, known)
	}),
	rule.Of("needs repair", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Unless(s.Incompat&ondisk.IncompatNeedsRepair == 0, "is set: an upgrade or a repair was not finished")
	}),
	rule.Of("read-only compatible features", func(_ *Filesystem, s *ondisk.Superblock) string {
		const known = ondisk.ROCompatFinobt | ondisk.ROCompatRmapbt | ondisk.ROCompatReflink | ondisk.ROCompatInobtCount
		return rule.NoneBut(s.ROCompat, known)
	}),
	rule.Of("percentage of inodes", func(_ *Filesystem,
		s *ondisk.Superblock) string {
		return rule.Within(s.MaxInodePercent, 0, 100)
	}),
	rule.Of("shared version", func(_ *Filesystem, s *ondisk.Superblock) string { return rule.Is(s.SharedVersion, 0) }),
	rule.Of("logarithm of the directory block size", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Within(s.DirBlockLog, 0, 16-s.BlockLog)
	}),
	rule.Of("size of the log", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Within(uint64(s.LogBlocks), 1, min(maxLogBlocks, uint64(maxLogBytes)>>s.BlockLog))
	}),
	rule.Of("start of the log", func(f *Filesystem, s *ondisk.Superblock) string {
		if _, ok := f.InternalLog(); ok || s.LogStart == 0 {
			return ""
		}
		return fmt.Sprintf("is %d, which is no place for %d blocks", s.LogStart, s.LogBlocks)
	}),
	rule.Of("log sector size", func(_ *Filesystem, s *ondisk.Superblock) string {
		if s.Version&ondisk.VersionSector == 0 {
			return rule.Is(uint32(s.LogSectorSize)|uint32(s.LogSectorLog), 0)
		}
		return powerOf2(uint64(s.LogSectorSize), s.LogSectorLog, 9, 15)
	}),
	rule.Of("sector size", func(_ *Filesystem, s *ondisk.Superblock) string {
		if s.Version&ondisk.VersionSector == 0 {
			return rule.Is(s.SectorSize, minSector)
		}
		return ""
	}),
	rule.Of("log stripe unit", func(_ *Filesystem, s *ondisk.Superblock) string {
		if s.LogStripeUnit > 1 && (s.LogStripeUnit%s.BlockSize != 0 || s.LogStripeUnit > maxLogStripe) {
			return fmt.Sprintf("is %d bytes, not a multiple of the block size up to %d", s.LogStripeUnit, maxLogStripe)
		}
		return ""
	}),
	rule.Of("inode alignment", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Unless(inodesAligned(s), fmt.Sprintf("of %d and %d blocks does not go with inodes of %d bytes",
			s.InodeAlign, s.SparseAlign, s.InodeSize))
	}),
	rule.Of("stripe", func(_ *Filesystem, s *ondisk.Superblock) string {
		unit, width := s.StripeUnit, s.StripeWidth
		ok := unit == 0 && width == 0
		if s.Version&ondisk.VersionStripe != 0 {
			ok = unit > 0 && width >= unit && width%unit == 0
		}
		return rule.Unless(ok, fmt.Sprintf("of unit %d and width %d is none", unit, width))
	}),
	rule.Of("realtime extent", func(_ *Filesystem, s *ondisk.Superblock) string {
		if s.Incompat&ondisk.IncompatZoned != 0 {
			return rule.Is(s.RealtimeExtent, 1)
		}
		return rule.Within(uint64(s.RealtimeExtent)*uint64(s.BlockSize), minExtent, maxExtent)
	}),
	rule.Of("realtime section", func(_ *Filesystem, s *ondisk.Superblock) string {
		if s.RealtimeBlocks == 0 {
			return rule.Unless(s.RealtimeExtents == 0 && s.BitmapBlocks == 0 && s.RealtimeLog == 0 && s.FreeExtents == 0,
				"has no blocks, but extents or a bitmap")
		}
		return rule.Against(s.RealtimeExtents, s.RealtimeBlocks/max(1, uint64(s.RealtimeExtent)),
			"not as many extents as its blocks make:")
	}),
	rule.Of("reserve of the realtime section", func(_ *Filesystem, s *ondisk.Superblock) string {
		return rule.Unless(s.RTReserved == 0 || s.RTReserved < s.RealtimeBlocks,
			fmt.Sprintf("is %d blocks, and the section has %d", s.RTReserved, s.RealtimeBlocks))
	}),
	rule.Of("root inode", func(f *Filesystem, s *ondisk.Superblock) string {
		_, _, ok := f.Split(s.RootInode>>s.InodeBlockLog, 1)
		return rule.Unless(ok, fmt.Sprintf("is %d, which is no place for an inode", s.RootInode))
	}),
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
