package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// superblock writes an AG's copy. All are marked in progress: the primary one
// becomes complete last of all, with Primary, and the others stay so.
func (b *Builder) superblock(_ *placed, a *ag, dst []byte) {
	s := b.secondary()
	if b.namesRoot(a.number) {
		b.nameRoots(&s)
	}
	s.Put(dst)
}

// namesRoot tells whether an AG's superblock names the root inode, so that a
// checker finds it without the primary: the last one does and one in the middle.
func (b *Builder) namesRoot(agno geometry.AGNumber) bool {
	last := b.g.AGCount - 1
	return agno == last || agno == last/2
}

func (b *Builder) nameRoots(s *ondisk.Superblock) {
	s.RootInode = uint64(b.g.RootInode())
	if b.g.Features.Metadir {
		s.MetadirInode = uint64(b.g.MetadirInode())
	}
}

// Made is what has been made in a filesystem since it had only headers.
type Made struct {
	Bitmap, Summary    geometry.Inode // of the realtime section, where no metadata directory names them
	Inodes, FreeInodes uint64
	FreeBlocks         geometry.Blocks
	Attrs              bool // some inode has attributes
	AttrLists          bool // some inode had them in itself
}

// Primary is the primary superblock as it ends, one sector.
func (b *Builder) Primary(made Made) []byte {
	s := b.secondary()
	b.nameRoots(&s)
	s.InProgress = 0
	s.FreeExtents = b.g.FreeExtents()
	s.InodeCount, s.FreeInodes, s.FreeBlocks = made.Inodes, made.FreeInodes, uint64(made.FreeBlocks)
	if !b.g.Features.Metadir {
		s.BitmapInode, s.SummaryInode = uint64(made.Bitmap), uint64(made.Summary)
	}
	if made.Attrs { // (xfs_bmap_add_attrfork in libxfs)
		s.Version |= ondisk.VersionAttr
	}
	if made.AttrLists { // (xfs_sbversion_add_attr2, which only changes of lists call)
		s.Version |= ondisk.VersionMore
		s.Features2 |= ondisk.Features2Attr2
		s.BadFeatures2 = s.Features2
	}
	sector := make([]byte, b.g.SectorSize)
	s.Put(sector)
	b.seal(&b.table[0], sector)
	return sector
}

// secondary is a filesystem before its first inode.
func (b *Builder) secondary() ondisk.Superblock {
	g := b.g
	s := ondisk.Superblock{
		BlockSize:       uint32(g.BlockSize),
		DataBlocks:      uint64(g.Blocks),
		UUID:            b.id.UUID,
		RootInode:       uint64(geometry.NullInode),
		BitmapInode:     uint64(geometry.NullInode),
		SummaryInode:    uint64(geometry.NullInode),
		RealtimeExtent:  uint32(g.RT.Extent),
		AGBlocks:        uint32(g.AGBlocks),
		AGCount:         uint32(g.AGCount),
		LogBlocks:       uint32(g.Log.Blocks),
		Version:         b.version(),
		SectorSize:      uint16(g.SectorSize),
		InodeSize:       uint16(g.InodeSize),
		InodesPerBlock:  uint16(g.InodesPerBlock()),
		BlockLog:        uint8(g.BlockLog),
		SectorLog:       uint8(g.SectorLog),
		InodeLog:        uint8(g.InodeLog),
		InodeBlockLog:   uint8(g.InodeBlockLog()),
		AGBlockLog:      uint8(g.AGBlockLog),
		InProgress:      1,
		MaxInodePercent: uint8(g.MaxInodePercent),
		FreeBlocks:      uint64(g.FreeBlocks()),
		InodeAlign:      uint32(g.InodeAlign),
		StripeUnit:      uint32(g.StripeUnit),
		StripeWidth:     uint32(g.StripeWidth),
		DirBlockLog:     uint8(g.DirBlockLog - g.BlockLog),
		Features2:       b.features2(),
		BadFeatures2:    b.features2(),
		SparseAlign:     uint32(g.SparseAlign),
	}
	r := &g.RT
	s.RealtimeBlocks, s.RealtimeExtents = uint64(r.Blocks), r.Extents()
	s.BitmapBlocks, s.RealtimeLog = uint32(r.BitmapBlocks), uint8(r.ExtentsLog())
	s.RTStart, s.RTReserved = uint64(r.Start), uint64(r.Reserved)
	s.QuotaFlags = uint16(g.Features.Quota)
	if g.Features.Metadir {
		s.BitmapInode, s.SummaryInode, s.MetadirInode = 0, 0, uint64(geometry.NullInode)
		s.GroupCount, s.GroupExtents, s.GroupLog = uint32(r.GroupCount), uint32(r.GroupExtents()), uint8(r.GroupLog())
	}
	copy(s.Label[:], g.Label)
	if !g.Log.External {
		s.LogStart = uint64(g.FSBlock(g.Log.AG, g.Log.Start))
	}
	if s.Version&ondisk.VersionSector != 0 {
		s.LogSectorLog, s.LogSectorSize = uint8(g.Log.SectorLog), uint16(g.Log.SectorSize)
	}
	if g.Features.LogVersion == 2 {
		s.LogStripeUnit = max(1, uint32(g.Bytes(g.Log.StripeUnit)))
	}
	if b.v5() {
		s.ROCompat, s.Incompat = b.roCompat(), b.incompat()
	}
	return s
}

// flags ors the bits of all rows that are on.
func flags[T ~uint16 | ~uint32](rows []flag[T]) (bits T) {
	for _, r := range rows {
		if r.on {
			bits |= r.bit
		}
	}
	return bits
}

type flag[T any] struct {
	bit T
	on  bool
}

func (b *Builder) version() ondisk.Version {
	g, f := b.g, &b.g.Features
	v := ondisk.Version4
	if b.v5() {
		v = ondisk.Version5
	}
	return v | flags([]flag[ondisk.Version]{
		{ondisk.VersionNlink | ondisk.VersionUnwrit | ondisk.VersionDirV2, true},
		{ondisk.VersionAttr, f.Attr == 1 || f.Parent},
		{ondisk.VersionAlign, f.Align},
		{ondisk.VersionStripe, g.StripeUnit > 0},
		{ondisk.VersionLogV2, f.LogVersion == 2},
		{ondisk.VersionSector, g.SectorSize > geometry.BasicBlock || g.Log.SectorSize > geometry.BasicBlock},
		{ondisk.VersionCaseFold, f.CaseFold},
		{ondisk.VersionMore, b.features2() != 0},
		{ondisk.VersionQuota, f.Quota != 0},
	})
}

func (b *Builder) features2() ondisk.Features2 {
	f := &b.g.Features
	return flags([]flag[ondisk.Features2]{
		{ondisk.Features2LazyCount, f.LazyCount},
		{ondisk.Features2Attr2, f.Attr == 2},
		{ondisk.Features2Projid32, f.Projid32},
		{ondisk.Features2CRC, f.CRC},
		{ondisk.Features2Ftype, f.Ftype && !f.CRC}, // V5 has a bit of its own
	})
}

func (b *Builder) roCompat() ondisk.ROCompat {
	f := &b.g.Features
	return flags([]flag[ondisk.ROCompat]{
		{ondisk.ROCompatFinobt, f.Finobt},
		{ondisk.ROCompatRmapbt, f.Rmapbt},
		{ondisk.ROCompatReflink, f.Reflink},
		{ondisk.ROCompatInobtCount, f.InobtCount},
	})
}

func (b *Builder) incompat() ondisk.Incompat {
	f := &b.g.Features
	return flags([]flag[ondisk.Incompat]{
		{ondisk.IncompatFtype, f.Ftype},
		{ondisk.IncompatSparse, f.Sparse},
		{ondisk.IncompatBigtime, f.Bigtime},
		{ondisk.IncompatNrext64, f.Nrext64},
		{ondisk.IncompatExchange, f.Exchange},
		{ondisk.IncompatParent, f.Parent},
		{ondisk.IncompatMetadir, f.Metadir},
		{ondisk.IncompatZoned, f.Zoned},
	})
}
