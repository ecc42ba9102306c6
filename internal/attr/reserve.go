package attr

import (
	"mkfs/internal/bmap"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// What operations reserve (xfs_trans_space.h in libxfs): each level of the index may take a block, and the
// btree of extents may split for each.

// mappings is how many blocks the btree of extents may take for n new extents (XFS_NEXTENTADD_SPACE_RES).
func (f *FS) mappings(n geometry.Blocks, fork bmap.ForkID) geometry.Blocks {
	header, record := ondisk.BtreeHeaderV4, 8 // those of the btrees of free space, whatever the reason
	if f.fs.V5 {
		header = ondisk.BtreeHeader
	}
	most := (int(f.fs.G.BlockSize) - header) / record
	each := geometry.Blocks(most - most/2)
	return (n + each - 1) / each * geometry.Blocks(bmap.MaxLevels(f.fs, fork)-1)
}

// reserve is what setting an attribute may take, and whether its value is in a leaf (xfs_attr_calc_size).
func (f *FS) reserve(name, value int) (n geometry.Blocks, local bool) {
	block := f.tree.Bytes
	size, local := entrySize(block, name, value)
	n = da.MaxDepth + da.MaxDepth*f.mappings(1, bmap.Attr)
	switch {
	case !local:
		blocks := f.blocksOf(value)
		n += blocks + f.mappings(blocks, bmap.Attr)
	case size > block/2:
		n *= 2 // a leaf may be split twice
	}
	return n, local
}

// removeReserve is what removing an attribute may take (XFS_ATTRRM_SPACE_RES).
func (f *FS) removeReserve() geometry.Blocks { return da.MaxDepth * f.mappings(1, bmap.Attr) }

// forkReserve is what making an attribute fork may take (XFS_ADDAFORK_SPACE_RES).
func (f *FS) forkReserve() geometry.Blocks {
	n := geometry.Blocks(f.fs.G.DirBlockSize / f.fs.G.BlockSize)
	return n + f.mappings(n, bmap.Data)
}
