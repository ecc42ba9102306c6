// Package bmap maps the blocks of a file's forks: which run of the file is in which run of the data section.
//
// A fork has one of these forms (inode.Fork). The extents are all in memory in either of the last two.
//
//	local     the contents are in the inode
//	extents   the extents are in the inode, as many as fit
//	btree     the extents are in the leaves of a btree whose root is in the inode
//
// # Changes
//
// What changes a mapping is one of three changes at one place (change.go): blocks are added in a hole, blocks change
// their state (written or not), or blocks are removed. What the change does to the records of the btree depends
// on how the blocks meet their neighbours; each case is a row of a table. The rules are those of
// xfs_bmap_add_extent_hole_real, xfs_bmap_add_extent_unwritten_real and xfs_bmap_del_extent_real in libxfs. A
// fork that has more extents than fit the inode gets a btree, and one that has no more than fit loses it, at the end
// of the operation (tree.go).
//
// The owner of blocks is entered in the rmapbt, or removed from it, at the end of the transaction, and blocks
// that were removed are freed after that. A block of the btree itself is entered at once.
//
// # Places
//
// Where new blocks are taken is decided by place.go, as xfs_bmap_btalloc does: behind the extent before them, at
// the same distance as in the file; else before the extent behind them; else near the inode. Data is rather taken from
// an AG that has room for all of it; data at the end of a file that is as long as the stripe unit begins at
// one; a file with an extent size hint gets blocks in multiples of it (align.go).
package bmap
