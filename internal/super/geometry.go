package super

import (
	"math/bits"
	"strings"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// geometryOf is the geometry that a superblock records. What it does not say
// is left out: how small the log could be, and what the root's inode inherits.
func geometryOf(s *ondisk.Superblock) geometry.Geometry {
	dirLog := uint(s.BlockLog + s.DirBlockLog)
	g := geometry.Geometry{
		BlockSize: geometry.Bytes(s.BlockSize), BlockLog: uint(s.BlockLog),
		SectorSize: geometry.Bytes(s.SectorSize), SectorLog: uint(s.SectorLog),
		InodeSize: geometry.Bytes(s.InodeSize), InodeLog: uint(s.InodeLog),
		DirBlockSize: 1 << min(dirLog, 62), DirBlockLog: dirLog,
		Blocks: geometry.Blocks(s.DataBlocks), AGBlocks: geometry.Blocks(s.AGBlocks),
		AGCount: geometry.AGNumber(s.AGCount), AGBlockLog: uint(s.AGBlockLog),
		StripeUnit: geometry.Blocks(s.StripeUnit), StripeWidth: geometry.Blocks(s.StripeWidth),
		MaxInodePercent: int(s.MaxInodePercent),
		InodeAlign:      geometry.Blocks(s.InodeAlign), SparseAlign: geometry.Blocks(s.SparseAlign),
		Features: featuresOf(s),
		Label:    strings.TrimRight(string(s.Label[:]), "\x00"),
	}
	agBlock := func(addr uint64) (geometry.AGNumber, geometry.AGBlock) {
		return geometry.AGNumber(addr >> g.AGBlockLog), geometry.AGBlock(addr & (1<<g.AGBlockLog - 1))
	}
	_, g.Root.Start = agBlock(s.RootInode >> s.InodeBlockLog)
	g.Root.Blocks = geometry.Blocks(g.ChunkInodes()) >> s.InodeBlockLog
	g.RT = realtimeOf(s)
	l := &g.Log
	l.External, l.Blocks = s.LogStart == 0, geometry.Blocks(s.LogBlocks)
	if !l.External {
		l.AG, l.Start = agBlock(s.LogStart)
	}
	l.SectorSize = max(minSector, geometry.Bytes(s.LogSectorSize))
	l.SectorLog = uint(bits.TrailingZeros64(uint64(l.SectorSize)))
	if s.LogStripeUnit > 1 {
		l.StripeUnit = geometry.Blocks(s.LogStripeUnit >> s.BlockLog)
	}
	return g
}

func realtimeOf(s *ondisk.Superblock) geometry.Realtime {
	r := geometry.Realtime{
		Device: s.RealtimeBlocks > 0 && s.RTStart == 0,
		Start:  geometry.Blocks(s.RTStart), Blocks: geometry.Blocks(s.RealtimeBlocks),
		Extent: geometry.Blocks(max(1, s.RealtimeExtent)), Reserved: geometry.Blocks(s.RTReserved),
		BitmapBlocks: geometry.Blocks(s.BitmapBlocks),
	}
	if s.Incompat&ondisk.IncompatMetadir != 0 && s.IsV5() {
		r.GroupCount = geometry.GroupNumber(s.GroupCount)
		r.GroupBlocks = geometry.Blocks(s.GroupExtents) * r.Extent
	}
	return r
}

func featuresOf(s *ondisk.Superblock) geometry.Features {
	more := s.Features2
	if s.Version&ondisk.VersionMore == 0 {
		more = 0
	}
	f := geometry.Features{
		CRC:        s.IsV5(),
		Ftype:      more&ondisk.Features2Ftype != 0,
		CaseFold:   s.Version&ondisk.VersionCaseFold != 0,
		Align:      s.Version&ondisk.VersionAlign != 0,
		LazyCount:  more&ondisk.Features2LazyCount != 0,
		Projid32:   more&ondisk.Features2Projid32 != 0,
		LogVersion: 1,
	}
	if s.Version&ondisk.VersionLogV2 != 0 {
		f.LogVersion = 2
	}
	switch {
	case more&ondisk.Features2Attr2 != 0:
		f.Attr = 2
	case s.Version&ondisk.VersionAttr != 0:
		f.Attr = 1
	}
	if !f.CRC {
		return f
	}
	f.Finobt = s.ROCompat&ondisk.ROCompatFinobt != 0
	f.Rmapbt = s.ROCompat&ondisk.ROCompatRmapbt != 0
	f.Reflink = s.ROCompat&ondisk.ROCompatReflink != 0
	f.InobtCount = s.ROCompat&ondisk.ROCompatInobtCount != 0
	f.Ftype = s.Incompat&ondisk.IncompatFtype != 0
	f.Sparse = s.Incompat&ondisk.IncompatSparse != 0
	f.Bigtime = s.Incompat&ondisk.IncompatBigtime != 0
	f.Nrext64 = s.Incompat&ondisk.IncompatNrext64 != 0
	f.Exchange = s.Incompat&ondisk.IncompatExchange != 0
	f.Parent = s.Incompat&ondisk.IncompatParent != 0
	f.Metadir = s.Incompat&ondisk.IncompatMetadir != 0
	f.Zoned = s.Incompat&ondisk.IncompatZoned != 0
	if s.Version&ondisk.VersionQuota != 0 {
		f.Quota = geometry.QuotaFlags(s.QuotaFlags)
	}
	return f
}
