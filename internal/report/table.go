package report

import (
	"github.com/dustin/go-humanize"

	"fmt"
	"io"

	"mkfs/internal/geometry"
)

// Table prints the table that mkfs.xfs and xfs_info print, to the
// byte: scripts parse it. The names are those the user gave.
func Table(w io.Writer, g *geometry.Geometry, data, log, rt string) {
	f := &g.Features
	if !g.Log.External {
		log = "internal log"
	}
	logStripe := g.Log.StripeUnit
	fmt.Fprintf(w, "meta-data=%-22s isize=%-6d agcount=%d, agsize=%d blks\n", data, g.InodeSize, g.AGCount, g.AGBlocks)
	fmt.Fprintf(w, "         =%-22s sectsz=%-5d attr=2, projid32bit=%d\n", "", g.SectorSize, bit(f.Projid32))
	fmt.Fprintf(w, "         =%-22s crc=%-8d finobt=%d, sparse=%d, rmapbt=%d\n", "", bit(f.CRC), bit(f.Finobt),
		bit(f.Sparse), bit(f.Rmapbt))
	fmt.Fprintf(w, "         =%-22s reflink=%-4d bigtime=%d inobtcount=%d nrext64=%d\n", "", bit(f.Reflink),
		bit(f.Bigtime), bit(f.InobtCount), bit(f.Nrext64))
	fmt.Fprintf(w, "         =%-22s exchange=%-3d metadir=%d\n", "", bit(f.Exchange), bit(f.Metadir))
	fmt.Fprintf(w, "data     =%-22s bsize=%-6d blocks=%d, imaxpct=%d\n", "", g.BlockSize, g.Blocks, g.MaxInodePercent)
	fmt.Fprintf(w, "         =%-22s sunit=%-6d swidth=%d blks\n", "", g.StripeUnit, g.StripeWidth)
	fmt.Fprintf(w, "naming   =version %-14d bsize=%-6d ascii-ci=%d, ftype=%d, parent=%d\n", 2, g.DirBlockSize,
		bit(f.CaseFold), bit(f.Ftype), bit(f.Parent))
	fmt.Fprintf(w, "log      =%-22s bsize=%-6d blocks=%d, version=%d\n", log, g.BlockSize, g.Log.Blocks, f.LogVersion)
	fmt.Fprintf(w, "         =%-22s sectsz=%-5d sunit=%d blks, lazy-count=%d\n", "", g.Log.SectorSize, logStripe,
		bit(f.LazyCount))
	r := &g.RT
	switch {
	case r.Blocks == 0:
		rt = "none"
	case !r.Device:
		rt = "internal"
	}
	fmt.Fprintf(w, "realtime =%-22s extsz=%-6d blocks=%d, rtextents=%d\n", rt, g.Bytes(r.Extent), r.Blocks, r.Extents())
	fmt.Fprintf(w, "         =%-22s rgcount=%-4d rgsize=%d extents\n", "", r.GroupCount, r.GroupExtents())
	fmt.Fprintf(w, "         =%-22s zoned=%-6d start=%d reserved=%d\n", "", bit(f.Zoned), r.Start, r.Reserved)
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

// GrowthRow is a row below the table, of what the filesystem is to grow to.
func GrowthRow(w io.Writer, g *geometry.Geometry, n geometry.Bytes) {
	fmt.Fprintf(w, "growth   =%-22s bsize=%-6d blocks=%d, agcount=%d\n", humanize.IBytes(uint64(n)), g.BlockSize,
		n/g.BlockSize, g.AGsAt(n))
}
