package da

import (
	"errors"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Space is where the blocks of forks come from.
type Space interface {
	// Map gives blocks to a fork: n from off on, or fewer from there; with whole all of
	// them in one extent, or none. total is what the whole operation may take. It tells
	// how many from off on are mapped then, 0 if there is no room.
	Map(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks, whole bool,
		total geometry.Blocks) (geometry.Blocks, error)
	// Unmap takes them back. It returns false, and they stay, if that would need a block
	// for the btree of extents and there is none.
	Unmap(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks) (bool, error)
}

// Grow gives a fork a block, at the first place from low on where it has none
// (xfs_da_grow_inode_int in libxfs). It is contiguous if there is such room, else
// in pieces. total is what the whole operation may take, and loses what was taken.
// ok is false if there is no room; the transaction is to be given up then, since it
// may have a part of the block.
func (tr *Tree) Grow(t *live.Trans, ip *inode.Inode, low Block, total *geometry.Blocks) (at Block, ok bool, err error) {
	n := tr.Blocks
	off, err := bmap.FirstUnused(t, ip, tr.Fork, n, uint64(low))
	if err != nil || off > uint64(^Block(0))-uint64(n) {
		return 0, false, err
	}
	had := ip.Core.Blocks
	got, err := tr.Space.Map(t, ip, tr.Fork, off, n, true, *total)
	for got < n && n > 1 && err == nil {
		var more geometry.Blocks
		more, err = tr.Space.Map(t, ip, tr.Fork, off+uint64(got), n-got, false, *total)
		if more == 0 {
			break
		}
		got += more
	}
	if got < n || err != nil {
		return 0, false, err
	}
	*total -= min(*total, geometry.Blocks(ip.Core.Blocks-had))
	return Block(off), true, nil
}

// GrowIndex gives the fork a block for the btree (xfs_da_grow_inode in libxfs).
func (s *State) GrowIndex() (at Block, ok bool, err error) {
	at, ok, err = s.Grow(s.T, s.IP, s.Root, &s.Total)
	if ok && s.End-at < Block(s.Blocks) {
		return 0, false, s.Damaged(s.IP, at, "there is no place below it for the index")
	}
	return at, ok, err
}

// Shrink takes a block out of a fork (xfs_bunmapi and xfs_trans_binval in
// libxfs). ok is false, and it is still there, if the btree of extents would need a
// block for that and there is none.
func (tr *Tree) Shrink(t *live.Trans, ip *inode.Inode, at Block, b *buffer.Buf) (ok bool, err error) {
	ok, err = tr.Space.Unmap(t, ip, tr.Fork, uint64(at), tr.Blocks)
	if ok && err == nil {
		t.Cache.Drop(b)
	}
	return ok, err
}

// mapped is the Space of a filesystem.
type mapped struct{}

// most is how many extents are made at once (XFS_BMAP_MAX_NMAP in libxfs).
const most = 4

func (mapped) Map(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks, whole bool,
	total geometry.Blocks) (got geometry.Blocks, err error) {
	flags, pieces := bmap.Metadata, min(most, int(n))
	if whole {
		flags, pieces = bmap.Metadata|bmap.Contiguous, 1
	}
	list, err := bmap.WriteMany(t, ip, f, off, n, flags, total, pieces)
	for _, e := range list {
		got += e.Blocks
	}
	return got, err
}

func (mapped) Unmap(t *live.Trans, ip *inode.Inode, f bmap.ForkID, off uint64, n geometry.Blocks) (bool, error) {
	_, err := bmap.Unmap(t, ip, f, off, n, bmap.Metadata, 0)
	if errors.Is(err, bmap.ErrNoRoom) {
		return false, nil
	}
	return true, err
}
