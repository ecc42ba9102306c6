package attr

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// The limits of the format: of a name (XATTR_NAME_MAX) and of a value (XFS_XATTR_SIZE_MAX), in bytes.
const (
	MaxName  = 255
	MaxValue = 64 << 10
)

// nameAlign is what names in leaves are aligned to.
const nameAlign = 4

func alignName(n int) int { return (n + nameAlign - 1) &^ (nameAlign - 1) }

// localSize is how many bytes a name takes in a leaf together with its value.
func localSize(name, value int) int { return alignName(ondisk.AttrLocalHeader + name + value) }

// remoteSize is how many bytes a name takes in a leaf whose value has blocks. The format
// has two more than there are fields (xfs_attr_leaf_entsize_remote in libxfs).
func remoteSize(name int) int { return alignName(ondisk.AttrRemoteHeader + 2 + name) }

// entrySize is how many bytes a new attribute takes in a leaf of block bytes, and whether
// with its value: together they are to be shorter than three quarters of the block
// (xfs_attr_leaf_newentsize in libxfs).
func entrySize(block, name, value int) (n int, local bool) {
	if n = localSize(name, value); n < block/2+block/4 {
		return n, true
	}
	return remoteSize(name), false
}

// valuePart is how many bytes of a value a block has.
func valuePart(block int, v5 bool) int {
	if v5 {
		return block - ondisk.AttrBlockHeader
	}
	return block
}

// valueBlocks is how many blocks a value of n bytes takes (xfs_attr3_rmt_blocks in libxfs).
func valueBlocks(block int, v5 bool, n int) geometry.Blocks {
	part := valuePart(block, v5)
	return geometry.Blocks((n + part - 1) / part)
}
