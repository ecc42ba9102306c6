package ialloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/ondisk"
)

// writeFree writes the free inodes of a new chunk, which share a generation number
// drawn for it (xfs_ialloc_inode_init).
func (g *group) writeFree(at geometry.AGBlock, n geometry.Blocks) error {
	t := g.t
	geo, cluster := t.G, t.InodeChunk().ClusterBlocks
	size, kind := int(geo.InodeSize), inode.ClusterKind(t.FS)
	i := ondisk.Inode{Version: 2, NextUnlinked: geometry.NullAGInode, Generation: t.Generation()}
	if t.V5 {
		i.Version, i.UUID = 3, t.UUID
		i.Number = uint64(geo.InodeOf(g.agno, uint32(at)<<geo.InodeBlockLog()))
	}
	for ; n >= cluster; n, at = n-cluster, at+geometry.AGBlock(cluster) {
		b, err := t.Fresh(t.Offset(g.agno, at), int(geo.Bytes(cluster)), kind)
		if err != nil {
			return err
		}
		for off := 0; off < len(b.Data); off += size {
			i.Put(b.Data[off:])
			i.Number++
		}
	}
	return nil
}
