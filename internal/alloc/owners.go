package alloc

import (
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// The owner of blocks that a file gets or loses is entered at the end of the transaction,
// since its rmapbt may have to grow, and the free list to be filled up for that.

// MapLater puts off entering the blocks that a fork of a file has got, UnmapLater
// removing those that it has lost, and ConvertLater that they are written now, or not.
// Without an rmapbt they do nothing. (xfs_rmap_map_extent, xfs_rmap_unmap_extent and
// xfs_rmap_convert_extent in libxfs.)
func MapLater(t *live.Trans, ip *inode.Inode, attr bool, e inode.Extent) { panic("to be written") }

// UnmapLater: see MapLater.
func UnmapLater(t *live.Trans, ip *inode.Inode, attr bool, e inode.Extent) { panic("to be written") }

// ConvertLater: see MapLater. The extent is as it is to be.
func ConvertLater(t *live.Trans, ip *inode.Inode, attr bool, e inode.Extent) { panic("to be written") }
