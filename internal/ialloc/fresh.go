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
	}
	core := g.core[:ondisk.CoreSize(t.V5)]
	i.Put(core)
	ino := uint64(geo.InodeOf(g.agno, uint32(at)<<geo.InodeBlockLog()))
	for ; n >= cluster; n, at = n-cluster, at+geometry.AGBlock(cluster) {
		b, err := t.Fresh(t.Offset(g.agno, at), int(geo.Bytes(cluster)), kind)
		if err != nil {
			return err
		}
		for off := 0; off < len(b.Data); off += size {
			copy(b.Data[off:], core)
			if t.V5 {
				ondisk.SetInodeNumber(b.Data[off:], ino)
			}
			ino++
		}
	}
	return nil
}
