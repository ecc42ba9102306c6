package verify

import (
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
)

// copyRules are the fields that every superblock has from the primary one.
// Counters, quota, the root inode and whether it is complete are not copied.
// The stripe may be changed by a mount option, some feature bits by use, and
// then only the primary superblock knows.
var copyRules = []rule.Rule[*ondisk.Superblock, ondisk.Superblock]{
	rule.Of("version", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.Version&ondisk.VersionMask, p.Version&ondisk.VersionMask)
	}),
	rule.Of("UUID", func(p, s *ondisk.Superblock) string { return rule.IsUUID(s.UUID, p.UUID) }),
	rule.Of("block size", func(p, s *ondisk.Superblock) string { return rule.Is(s.BlockSize, p.BlockSize) }),
	rule.Of("number of blocks", func(p, s *ondisk.Superblock) string { return rule.Is(s.DataBlocks, p.DataBlocks) }),
	rule.Of("realtime blocks", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.RealtimeBlocks,
			p.RealtimeBlocks)
	}),
	rule.Of("realtime extents", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.RealtimeExtents,
			p.RealtimeExtents)
	}),
	rule.Of("start of the log", func(p, s *ondisk.Superblock) string { return rule.Is(s.LogStart, p.LogStart) }),
	rule.Of("realtime extent", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.RealtimeExtent,
			p.RealtimeExtent)
	}),
	rule.Of("AG size", func(p, s *ondisk.Superblock) string { return rule.Is(s.AGBlocks, p.AGBlocks) }),
	rule.Of("number of AGs", func(p, s *ondisk.Superblock) string { return rule.Is(s.AGCount, p.AGCount) }),
	rule.Of("realtime bitmap blocks", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.BitmapBlocks,
			p.BitmapBlocks)
	}),
	rule.Of("size of the log", func(p, s *ondisk.Superblock) string { return rule.Is(s.LogBlocks, p.LogBlocks) }),
	rule.Of("sector size", func(p, s *ondisk.Superblock) string { return rule.Is(s.SectorSize, p.SectorSize) }),
	rule.Of("inode size", func(p, s *ondisk.Superblock) string { return rule.Is(s.InodeSize, p.InodeSize) }),
	rule.Of("number of inodes per block", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.InodesPerBlock,
			p.InodesPerBlock)
	}),
	rule.Of("logarithm of the block size", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.BlockLog,
			p.BlockLog)
	}),
	rule.Of("logarithm of the sector size", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.SectorLog,
			p.SectorLog)
	}),
	rule.Of("logarithm of the inode size", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.InodeLog,
			p.InodeLog)
	}),
	rule.Of("logarithm of inodes per block", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.InodeBlockLog,
			p.InodeBlockLog)
	}),
	rule.Of("logarithm of the AG size", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.AGBlockLog,
			p.AGBlockLog)
	}),
	rule.Of("logarithm of realtime extents", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.RealtimeLog,
			p.RealtimeLog)
	}),
	rule.Of("percentage of inodes", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.MaxInodePercent,
			p.MaxInodePercent)
	}),
	rule.Of("shared version", func(p, s *ondisk.Superblock) string { return rule.Is(s.SharedVersion, p.SharedVersion) }),
	rule.Of("inode alignment", func(p, s *ondisk.Superblock) string { return rule.Is(s.InodeAlign, p.InodeAlign) }),
	rule.Of("logarithm of the directory block size", func(p,
		s *ondisk.Superblock) string {
		return rule.Is(s.DirBlockLog, p.DirBlockLog)
	}),
	rule.Of("logarithm of the log sector size", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.LogSectorLog,
			p.LogSectorLog)
	}),
	rule.Of("log sector size", func(p, s *ondisk.Superblock) string { return rule.Is(s.LogSectorSize, p.LogSectorSize) }),
	rule.Of("log stripe unit", func(p, s *ondisk.Superblock) string { return rule.Is(s.LogStripeUnit, p.LogStripeUnit) }),
	rule.Of("sparse inode alignment", func(p, s *ondisk.Superblock) string {
		return rule.Is(s.SparseAlign,
			p.SparseAlign)
	}),
	rule.Of("compatible features", func(p, s *ondisk.Superblock) string { return rule.Hex(s.Compat, p.Compat) }),
	rule.Of("read-only compatible features", func(p, s *ondisk.Superblock) string {
		return rule.Hex(s.ROCompat,
			p.ROCompat)
	}),
	rule.Of("incompatible features", func(p, s *ondisk.Superblock) string { // an upgrade marks only the primary
		return rule.Hex(s.Incompat&^ondisk.IncompatNeedsRepair, p.Incompat&^ondisk.IncompatNeedsRepair)
	}),
	rule.Of("metadata UUID", func(p, s *ondisk.Superblock) string {
		if p.Incompat&ondisk.IncompatMetaUUID == 0 {
			return ""
		}
		return rule.IsUUID(s.MetaUUID, p.MetaUUID)
	}),
	rule.Of("realtime groups", func(p, s *ondisk.Superblock) string {
		if p.Incompat&ondisk.IncompatMetadir == 0 {
			return ""
		}
		return rule.Is([3]uint32{s.GroupCount, s.GroupExtents, uint32(s.GroupLog)},
			[3]uint32{p.GroupCount, p.GroupExtents, uint32(p.GroupLog)})
	}),
	rule.Of("zoned realtime section", func(p, s *ondisk.Superblock) string {
		if p.Incompat&ondisk.IncompatZoned == 0 {
			return ""
		}
		return rule.Is([2]uint64{s.RTStart, s.RTReserved}, [2]uint64{p.RTStart, p.RTReserved})
	}),
}
