package live

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// SpaceCounts are the number of blocks in the free extents of an AG, the length of the
// longest, and the length of its free list, as the AGF has them. It does not stay.
func (fs *FS) SpaceCounts(agno geometry.AGNumber) (free, longest, listed geometry.Blocks, err error) {
	k := fs.kindAGF()
	b, err := fs.Cache.Get(fs.sector(agno, agfSector), int(fs.G.SectorSize), k)
	if err != nil {
		return 0, 0, 0, err
	}
	defer fs.Cache.Unpin(b)
	get := func(f ondisk.Field32) geometry.Blocks { return geometry.Blocks(f.Get(b.Data)) }
	return get(ondisk.AGFFreeBlocks), get(ondisk.AGFLongest), get(ondisk.AGFFreeCount), nil
}
