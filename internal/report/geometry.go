package report

import "mkfs/internal/geometry"

// Space is what df shows once the filesystem is mounted.
type Space struct {
	Total     int64  `json:"total_bytes"`
	Usable    int64  `json:"usable_bytes"`
	Reserved  int64  `json:"reserved_bytes"`
	MaxInodes uint64 `json:"max_inodes"`
}

type Geometry struct {
	BlockSize       int64  `json:"block_size"`
	SectorSize      int64  `json:"sector_size"`
	InodeSize       int64  `json:"inode_size"`
	DirBlockSize    int64  `json:"dir_block_size"`
	Blocks          uint64 `json:"blocks"`
	Bytes           int64  `json:"bytes"`
	AGCount         uint32 `json:"ag_count"`
	AGBlocks        uint64 `json:"ag_blocks"`
	AGBytes         int64  `json:"ag_bytes"`
	StripeUnit      int64  `json:"stripe_unit_bytes"`
	StripeWidth     int64  `json:"stripe_width_bytes"`
	MaxInodePercent int    `json:"max_inode_percent"`
	RootInode       uint64 `json:"root_inode"`
	Log             Log    `json:"log"`

	Realtime *Realtime `json:"realtime,omitempty"` // none without such a section
}

type Realtime struct {
	Device     string `json:"device,omitempty"`
	Start      int64  `json:"start_bytes"` // on the target, 0 on a device of its own
	Blocks     uint64 `json:"blocks"`
	Bytes      int64  `json:"bytes"`
	Extent     int64  `json:"extent_bytes"`
	Extents    uint64 `json:"extents"`
	GroupCount uint32 `json:"group_count"`
	GroupBytes int64  `json:"group_bytes"`
	Reserved   int64  `json:"reserved_bytes"`
}

type Log struct {
	External   bool   `json:"external"`
	Device     string `json:"device,omitempty"`
	AG         uint32 `json:"ag"`
	Start      int64  `json:"start_bytes"`
	Blocks     uint64 `json:"blocks"`
	Bytes      int64  `json:"bytes"`
	MinBlocks  uint64 `json:"min_blocks,omitempty"`
	SectorSize int64  `json:"sector_size"`
	StripeUnit int64  `json:"stripe_unit_bytes"`
	Version    int    `json:"version"`
}

type Features struct {
	CRC        bool   `json:"crc"`
	Finobt     bool   `json:"finobt"`
	InobtCount bool   `json:"inobtcount"`
	Rmapbt     bool   `json:"rmapbt"`
	Reflink    bool   `json:"reflink"`
	Bigtime    bool   `json:"bigtime"`
	Sparse     bool   `json:"sparse"`
	Nrext64    bool   `json:"nrext64"`
	Exchange   bool   `json:"exchange"`
	Parent     bool   `json:"parent"`
	Metadir    bool   `json:"metadir"`
	Zoned      bool   `json:"zoned"`
	Quota      uint16 `json:"quota_flags"`
	Ftype      bool   `json:"ftype"`
	CaseFold   bool   `json:"ascii_ci"`
	LazyCount  bool   `json:"lazy_count"`
	Projid32   bool   `json:"projid32bit"`
	Autofsck   string `json:"autofsck,omitempty"`
}

func NewGeometry(g *geometry.Geometry, log, rt string) Geometry {
	r := Geometry{
		BlockSize: int64(g.BlockSize), SectorSize: int64(g.SectorSize),
		InodeSize: int64(g.InodeSize), DirBlockSize: int64(g.DirBlockSize),
		Blocks: uint64(g.Blocks), Bytes: int64(g.Bytes(g.Blocks)),
		AGCount: uint32(g.AGCount), AGBlocks: uint64(g.AGBlocks), AGBytes: int64(g.Bytes(g.AGBlocks)),
		StripeUnit: int64(g.Bytes(g.StripeUnit)), StripeWidth: int64(g.Bytes(g.StripeWidth)),
		MaxInodePercent: g.MaxInodePercent, RootInode: uint64(g.RootInode()),
		Log: Log{
			External: g.Log.External, Device: log, AG: uint32(g.Log.AG),
			Blocks: uint64(g.Log.Blocks), Bytes: int64(g.Bytes(g.Log.Blocks)), MinBlocks: uint64(g.Log.MinBlocks),
			SectorSize: int64(g.Log.SectorSize), StripeUnit: int64(g.Bytes(g.Log.StripeUnit)), Version: g.Features.LogVersion,
		},
	}
	if !g.Log.External {
		r.Log.Start = int64(g.Offset(g.Log.AG, g.Log.Start))
	}
	if t := &g.RT; t.Blocks > 0 {
		r.Realtime = &Realtime{
			Device: rt, Start: int64(g.Bytes(t.Start)), Blocks: uint64(t.Blocks), Bytes: int64(g.Bytes(t.Blocks)),
			Extent: int64(g.Bytes(t.Extent)), Extents: t.Extents(),
			GroupCount: uint32(t.GroupCount), GroupBytes: int64(g.Bytes(t.GroupBlocks)), Reserved: int64(g.Bytes(t.Reserved)),
		}
	}
	return r
}

func NewSpace(g *geometry.Geometry, n geometry.Counts) *Space {
	c := g.Capacity(n)
	return &Space{int64(g.Bytes(c.Total)), int64(g.Bytes(c.Usable)), int64(g.Bytes(c.Reserved)), c.Inodes}
}

func NewFeatures(g *geometry.Geometry) Features {
	f := &g.Features
	return Features{
		CRC: f.CRC, Finobt: f.Finobt, InobtCount: f.InobtCount, Rmapbt: f.Rmapbt, Reflink: f.Reflink,
		Bigtime: f.Bigtime, Sparse: f.Sparse, Nrext64: f.Nrext64, Exchange: f.Exchange, Parent: f.Parent,
		Metadir: f.Metadir, Zoned: f.Zoned, Quota: uint16(f.Quota),
		Ftype: f.Ftype, CaseFold: f.CaseFold, LazyCount: f.LazyCount, Projid32: f.Projid32,
		Autofsck: string(f.Autofsck),
	}
}
