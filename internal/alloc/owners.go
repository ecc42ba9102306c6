package alloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// The owner of blocks that a file gets or loses is entered at the end of the transaction,
// since its rmapbt may have to grow, and the free list to be filled up for that.

// MapLater puts off entering the blocks that a fork of a file has got, UnmapLater
// removing those that it has lost, and ConvertLater that they are written now, or not.
// Without an rmapbt they do nothing. (xfs_rmap_map_extent, xfs_rmap_unmap_extent and
// xfs_rmap_convert_extent in libxfs.)
func MapLater(t *live.Trans, ip *inode.Inode, attr bool, e inode.Extent) {
	ownLater(t, ownerMap, ip, attr, e)
}

// UnmapLater: see MapLater.
func UnmapLater(t *live.Trans, ip *inode.Inode, attr bool, e inode.Extent) {
	ownLater(t, ownerUnmap, ip, attr, e)
}

// ConvertLater: see MapLater. The extent is as it is to be.
func ConvertLater(t *live.Trans, ip *inode.Inode, attr bool, e inode.Extent) {
	ownLater(t, ownerConvert, ip, attr, e)
}

// MapOwnerLater puts off entering an owner of blocks that is no file, one of the ondisk.Own values, and UnmapOwnerLater
// removing one. (xfs_rmap_alloc_extent and xfs_rmap_free_extent in libxfs.)
func MapOwnerLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks, owner uint64) {
	deferOwner(t, live.Item{Op: ownerMap, Start: at, Blocks: n, Owner: owner})
}

// UnmapOwnerLater: see MapOwnerLater.
func UnmapOwnerLater(t *live.Trans, at geometry.FSBlock, n geometry.Blocks, owner uint64) {
	deferOwner(t, live.Item{Op: ownerUnmap, Start: at, Blocks: n, Owner: owner})
}

// What is to be done to owners.
const (
	ownerMap uint8 = iota
	ownerUnmap
	ownerConvert
)

// ownerOps are the functions for it: those for blocks of one owner, and those for blocks that others may have, too.
var ownerOps = [...][2]func(*live.Trans, geometry.AGNumber, geometry.AGBlock, geometry.Blocks, rmap.Owner) error{
	ownerMap:     {rmap.Map, rmap.MapShared},
	ownerUnmap:   {rmap.Unmap, rmap.UnmapShared},
	ownerConvert: {rmap.Convert, rmap.ConvertShared},
}

func ownLater(t *live.Trans, op uint8, ip *inode.Inode, attr bool, e inode.Extent) {
	flags := flagsOf(attr, false, e.Unwritten)
	if !attr && ip.Core.Flags2&ondisk.Flag2Reflink != 0 {
		flags |= flagShared
	}
	deferOwner(t, live.Item{
		Op: op, Flags: flags, Start: e.Start, Blocks: e.Blocks, Owner: uint64(ip.Ino),
		Offset: e.Offset,
	})
}

func deferOwner(t *live.Trans, i live.Item) {
	if t.G.Features.Rmapbt {
		t.Defer(&owners, i)
	}
}

// owners are changes of owners that are made at the end of a transaction. The free list
// is filled up once for each AG of a piece of work. (xfs_rmap_finish_one in libxfs.)
var owners = live.Deferral{
	Name: "rmap",
	Finish: func(t *live.Trans, i *live.Item, first bool) (bool, error) {
		agno, agbno := t.G.BlockAddress(i.Start)
		if first {
			if err := FixFreeList(t, agno); err != nil {
				return false, err
			}
		}
		shared := 0
		if i.Flags&flagShared != 0 {
			shared = 1
		}
		return true, ownerOps[i.Op][shared](t, agno, agbno, i.Blocks, ownerOf(i))
	},
}

// The flags of an item's owner.
const (
	flagAttr uint8 = 1 << iota
	flagBmbt
	flagUnwritten
	flagShared // other files may have the blocks, too
)

func flagsOf(attr, bmbt, unwritten bool) (f uint8) {
	for i, on := range [...]bool{attr, bmbt, unwritten} {
		if on {
			f |= 1 << i
		}
	}
	return f
}

// ownerOf is the owner of the blocks of an item.
func ownerOf(i *live.Item) rmap.Owner {
	return rmap.Owner{
		Owner: i.Owner, Offset: i.Offset, Attr: i.Flags&flagAttr != 0, Bmbt: i.Flags&flagBmbt != 0,
		Unwritten: i.Flags&flagUnwritten != 0,
	}
}
