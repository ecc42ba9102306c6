package geometry

import (
	"testing"

	"mkfs/internal/ondisk"
)

// Geometry computes with lengths of structures, and ondisk writes the structures.
// Neither imports the other, so this holds them together.
func TestSizesAreThoseOnDisk(t *testing.T) {
	g := &Geometry{BlockSize: 4096, SectorSize: 512, InodeSize: 512, AGBlocks: 1 << 20}
	for _, v5 := range []bool{false, true} {
		g.Features.CRC = v5
		short, long := 4096-ondisk.BtreeHeaderV4, 4096-ondisk.LongBtreeHeaderV4
		if v5 {
			short, long = 4096-ondisk.BtreeHeader, 4096-ondisk.LongBtreeHeader
		}
		n := newTrees(g)
		for _, c := range []struct {
			name                         string
			tree                         tree
			space, record, keys, pointer int
		}{
			{"alloc", n.alloc, short, ondisk.AllocRecordSize, ondisk.AllocRecordSize, ondisk.BtreePointerSize},
			{"inode", n.inode, short, ondisk.InodeRecordSize, ondisk.InodeKeySize, ondisk.BtreePointerSize},
			{"rmap", n.rmap, short, ondisk.RmapRecordSize, 2 * ondisk.RmapKeySize, ondisk.BtreePointerSize},
			{"refcount", n.refcount, short, ondisk.RefcountRecordSize, 4, ondisk.BtreePointerSize},
			{"bmap", n.bmap, long, ondisk.FileExtentSize, ondisk.BmbtKeySize, ondisk.LongPointerSize},
		} {
			if leaf, node := c.space/c.record, c.space/(c.keys+c.pointer); c.tree.maxLeaf != uint64(leaf) || c.tree.maxNode != uint64(node) {
				t.Errorf("V5 %v: %s: %d records and %d pointers to a block, on disk %d and %d", v5, c.name, c.tree.maxLeaf, c.tree.maxNode, leaf, node)
			}
		}
	}
	for _, c := range []struct {
		name             string
		geometry, ondisk int
	}{
		{"btree header", shortHeaderV5, ondisk.BtreeHeader},
		{"btree header, V4", shortHeaderV4, ondisk.BtreeHeaderV4},
		{"realtime block's header", rtBlockHeader, ondisk.RTBlockHeader},
		{"realtime word", rtWord, ondisk.RTWordSize},
		{"log: inode's format", inodeFormat, ondisk.InodeItemSize},
		{"log: transaction header", transHeader, ondisk.TransactionHeader},
	} {
		if c.geometry != c.ondisk {
			t.Errorf("%s: %d bytes in geometry, %d on disk", c.name, c.geometry, c.ondisk)
		}
	}
}
