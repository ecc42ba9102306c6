package alloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// FixFreeList makes the free list of an AG as long as it is to be: what is missing is
// allocated, what is too much is freed at the end of the transaction. It is for those who
// free blocks, or enter owners: if nothing is left to fill up the list with, it stays
// short. (xfs_free_extent_fix_freelist in libxfs.)
func FixFreeList(t *live.Trans, agno geometry.AGNumber) error {
	g, err := open(t, agno)
	if err != nil {
		return err
	}
	_, err = g.fixFreeList(true)
	return err
}

// fixFreeList is FixFreeList. freeing tells that it will do if the list stays short, as
// when something is freed in an AG that is full. Otherwise it returns false then.
// (xfs_alloc_fix_freelist in libxfs.)
func (g *group) fixFreeList(freeing bool) (ok bool, err error) {
	need := g.listNeed()
	for g.ListLen() > need {
		at, _, err := g.TakeListed(false)
		if err != nil {
			return false, err
		}
		g.t.Defer(&freeListed, live.Item{Start: g.t.G.FSBlock(g.AG, at), Blocks: 1})
	}
	for g.ListLen() < need {
		r := Request{Min: 1, Max: need - g.ListLen(), Align: 1, Prod: 1, Reserve: ReserveAGFL}
		x, err := g.anywhere(&r, 0)
		if err != nil || !x.ok {
			return freeing, err
		}
		if err := rmap.Map(g.t, g.AG, x.Start, x.Blocks, listOwner); err != nil {
			return false, err
		}
		g.Add(ondisk.AGFFreeBlocks, -int(x.Blocks))
		for at := x.Start; at < x.End(); at++ {
			if err := g.PutListed(at, false); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// listOwner owns the blocks of the free list, and of the trees that take theirs from it.
var listOwner = rmap.Owner{Owner: ondisk.OwnAG}
