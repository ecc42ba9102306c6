package verify

import "mkfs/internal/ondisk"

// copyRules are the fields that every superblock has from the primary one.
// Counters, quota, the root inode and whether it is complete are not copied.
// The stripe may be changed by a mount option, some feature bits by use, and
// then only the primary superblock knows.
var copyRules = []rule[*ondisk.Superblock, ondisk.Superblock]{
	{"version", func(p, s *ondisk.Superblock) string {
		return is(s.Version&ondisk.VersionMask, p.Version&ondisk.VersionMask)
	}},
	{"UUID", func(p, s *ondisk.Superblock) string { return isUUID(s.UUID, p.UUID) }},
	{"block size", func(p, s *ondisk.Superblock) string { return is(s.BlockSize, p.BlockSize) }},
	{"number of blocks", func(p, s *ondisk.Superblock) string { return is(s.DataBlocks, p.DataBlocks) }},
	{"realtime blocks", func(p, s *ondisk.Superblock) string { return is(s.RealtimeBlocks, p.RealtimeBlocks) }},
	{"realtime extents", func(p, s *ondisk.Superblock) string { return is(s.RealtimeExtents, p.RealtimeExtents) }},
	{"start of the log", func(p, s *ondisk.Superblock) string { return is(s.LogStart, p.LogStart) }},
	{"realtime extent", func(p, s *ondisk.Superblock) string { return is(s.RealtimeExtent, p.RealtimeExtent) }},
	{"AG size", func(p, s *ondisk.Superblock) string { return is(s.AGBlocks, p.AGBlocks) }},
	{"number of AGs", func(p, s *ondisk.Superblock) string { return is(s.AGCount, p.AGCount) }},
	{"realtime bitmap blocks", func(p, s *ondisk.Superblock) string { return is(s.BitmapBlocks, p.BitmapBlocks) }},
	{"size of the log", func(p, s *ondisk.Superblock) string { return is(s.LogBlocks, p.LogBlocks) }},
	{"sector size", func(p, s *ondisk.Superblock) string { return is(s.SectorSize, p.SectorSize) }},
	{"inode size", func(p, s *ondisk.Superblock) string { return is(s.InodeSize, p.InodeSize) }},
	{"number of inodes per block", func(p, s *ondisk.Superblock) string { return is(s.InodesPerBlock, p.InodesPerBlock) }},
	{"logarithm of the block size", func(p, s *ondisk.Superblock) string { return is(s.BlockLog, p.BlockLog) }},
	{"logarithm of the sector size", func(p, s *ondisk.Superblock) string { return is(s.SectorLog, p.SectorLog) }},
	{"logarithm of the inode size", func(p, s *ondisk.Superblock) string { return is(s.InodeLog, p.InodeLog) }},
	{"logarithm of inodes per block", func(p, s *ondisk.Superblock) string { return is(s.InodeBlockLog, p.InodeBlockLog) }},
	{"logarithm of the AG size", func(p, s *ondisk.Superblock) string { return is(s.AGBlockLog, p.AGBlockLog) }},
	{"logarithm of realtime extents", func(p, s *ondisk.Superblock) string { return is(s.RealtimeLog, p.RealtimeLog) }},
	{"percentage of inodes", func(p, s *ondisk.Superblock) string { return is(s.MaxInodePercent, p.MaxInodePercent) }},
	{"shared version", func(p, s *ondisk.Superblock) string { return is(s.SharedVersion, p.SharedVersion) }},
	{"inode alignment", func(p, s *ondisk.Superblock) string { return is(s.InodeAlign, p.InodeAlign) }},
	{"logarithm of the directory block size", func(p, s *ondisk.Superblock) string { return is(s.DirBlockLog, p.DirBlockLog) }},
	{"logarithm of the log sector size", func(p, s *ondisk.Superblock) string { return is(s.LogSectorLog, p.LogSectorLog) }},
	{"log sector size", func(p, s *ondisk.Superblock) string { return is(s.LogSectorSize, p.LogSectorSize) }},
	{"log stripe unit", func(p, s *ondisk.Superblock) string { return is(s.LogStripeUnit, p.LogStripeUnit) }},
	{"sparse inode alignment", func(p, s *ondisk.Superblock) string { return is(s.SparseAlign, p.SparseAlign) }},
	{"compatible features", func(p, s *ondisk.Superblock) string { return hex(s.Compat, p.Compat) }},
	{"read-only compatible features", func(p, s *ondisk.Superblock) string { return hex(s.ROCompat, p.ROCompat) }},
	{"incompatible features", func(p, s *ondisk.Superblock) string { // an upgrade marks only the primary
		return hex(s.Incompat&^ondisk.IncompatNeedsRepair, p.Incompat&^ondisk.IncompatNeedsRepair)
	}},
	{"metadata UUID", func(p, s *ondisk.Superblock) string {
		if p.Incompat&ondisk.IncompatMetaUUID == 0 {
			return ""
		}
		return isUUID(s.MetaUUID, p.MetaUUID)
	}},
	{"realtime groups", func(p, s *ondisk.Superblock) string {
		if p.Incompat&ondisk.IncompatMetadir == 0 {
			return ""
		}
		return is([3]uint32{s.GroupCount, s.GroupExtents, uint32(s.GroupLog)},
			[3]uint32{p.GroupCount, p.GroupExtents, uint32(p.GroupLog)})
	}},
	{"zoned realtime section", func(p, s *ondisk.Superblock) string {
		if p.Incompat&ondisk.IncompatZoned == 0 {
			return ""
		}
		return is([2]uint64{s.RTStart, s.RTReserved}, [2]uint64{p.RTStart, p.RTReserved})
	}},
}
