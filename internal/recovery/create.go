package recovery

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// replayInodeCreate initialises the blocks of new inodes. They are written
// whatever is there: what happened to the inodes since is in the log behind
// this.
func replayInodeCreate(r *replay, it *item) error {
	f, ok := ondisk.DecodeInodeCreate(it.regions[0])
	g := &r.fs.Geometry
	shape := g.InodeChunk()
	switch {
	case !ok || it.want != 1:
		return corrupt(it.block, "an inode creation of %d regions and %d bytes", it.want, len(it.regions[0]))
	case geometry.AGNumber(f.AG) >= g.AGCount,
		f.Block == 0, geometry.Blocks(f.Block)+geometry.Blocks(f.Blocks) > g.AGLength(geometry.AGNumber(f.AG)):
		return corrupt(it.block, "inodes at block %d of AG %d", f.Block, f.AG)
	case geometry.Bytes(f.InodeSize) != g.InodeSize:
		return corrupt(it.block, "inodes of %d bytes in a filesystem with those of %d", f.InodeSize, g.InodeSize)
	case geometry.Blocks(f.Blocks) != shape.Blocks && geometry.Blocks(f.Blocks) != shape.SparseBlocks,
		f.Inodes == 0 || f.Inodes>>g.InodeBlockLog() != f.Blocks:
		return corrupt(it.block, "%d inodes in %d blocks", f.Inodes, f.Blocks)
	}
	var blocks []span
	for at := geometry.Blocks(0); at+shape.ClusterBlocks <= geometry.Blocks(f.Blocks); at += shape.ClusterBlocks {
		s := span{
			int64(g.Daddr(geometry.AGNumber(f.AG), geometry.AGBlock(f.Block)+geometry.AGBlock(at))),
			int(g.Bytes(shape.ClusterBlocks) / geometry.BasicBlock),
		}
		if r.cancelled[s] > 0 { // the chunk was freed later
			r.stats.Cancelled++
			return nil
		}
		blocks = append(blocks, s)
	}
	number := uint64(f.AG)<<(g.AGBlockLog+g.InodeBlockLog()) | uint64(f.Block)<<g.InodeBlockLog()
	for _, s := range blocks {
		b, err := r.cache.fresh(s.daddr*geometry.BasicBlock, s.length*geometry.BasicBlock)
		if err != nil {
			return err
		}
		for at := 0; at < len(b.Data); at += int(g.InodeSize) {
			in := ondisk.Inode{Version: 2, Generation: f.Generation, NextUnlinked: ondisk.NullAGInode}
			if r.fs.V5 {
				in.Version, in.Number, in.UUID = 3, number, r.fs.MetaUUID
			}
			inode := b.Data[at:][:g.InodeSize]
			in.Put(inode)
			if r.fs.V5 {
				ondisk.Seal(inode, ondisk.InodeCRC)
			}
			number++
		}
		r.cache.mark(b, it.lsn, nil)
	}
	return nil
}
