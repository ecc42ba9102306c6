package bmap

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Fill maps n blocks of a file's data from off on, with a transaction for each new extent, and marks the file as one
// that blocks were asked for. ok is false if there was no room for all. (libxfs_alloc_file_space.)
func Fill(fs *live.FS, ip *inode.Inode, off uint64, n geometry.Blocks, flags Flags) (ok bool, err error) {
	for n > 0 {
		t := fs.Begin(FillReserve(fs, ip, off, n))
		if t.Reserve > fs.Counts.FreeBlocks {
			return false, t.Commit()
		}
		got, err := Write(t, ip, Data, off, n, flags, 0)
		if err != nil {
			return false, err
		}
		if len(got) == 0 {
			return false, t.Commit()
		}
		ip.Core.Flags |= ondisk.FlagPrealloc
		ip.Log(t)
		if err := t.Commit(); err != nil {
			return false, err
		}
		off, n = off+uint64(got[0].Blocks), n-got[0].Blocks
	}
	return true, nil
}

// FillReserve is how many blocks a transaction of Fill may take: what it is to map, as far as that is one extent, and a
// block of the btree of each level. Where there is an extent size hint the start is rounded down to it, and the end,
// from
// as much further behind, up.
func FillReserve(fs *live.FS, ip *inode.Inode, off uint64, n geometry.Blocks) geometry.Blocks {
	if unit := uint64(extentSize(ip)); unit > 0 {
		over := off % unit
		end := (off + uint64(n) + over + unit - 1) / unit * unit
		n = geometry.Blocks(end - (off - over))
	}
	return min(n, maxLength) + geometry.Blocks(MaxLevels(fs, Data)) - 1
}

// MaxLevels is the greatest height of a btree of extents, its root included.
func MaxLevels(fs *live.FS, id ForkID) int {
	if id == Attr {
		return int(fs.Heights().AttrFork)
	}
	return int(fs.Heights().DataFork)
}
