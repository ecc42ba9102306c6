// Package inode has inodes in memory, while something works on them, with what
// their forks hold.
//
// An inode is read from its cluster, the blocks that are read and written together
// for inodes, and checked there as xfs_dinode_verify in libxfs does: whatever is on
// disk, what Read returns keeps the promises of this package's types. Who changes it
// says so with Log, and at the end of the transaction Flush puts it back into the
// bytes of the cluster. Only what it has is written: what a fork held before it
// became shorter, or of another form, stays in the bytes behind
// (xfs_inode_to_disk, xfs_iflush_fork).
//
// The change count of a V5 inode is the number of transactions that flushed it, and
// 1 when it is new (libxfs_iflush_int).
//
//	the core               what Core has, 176 bytes, 100 of V4
//	the data fork          Room(false) bytes
//	the attribute fork     from ForkOffset on, to the end of the inode; if that is not 0
//
// A fork has one of these forms:
//
//	FormatDev        a device number
//	FormatLocal      the contents
//	FormatExtents    a list of extents
//	FormatBtree      the root of a btree of extents, all of which are in memory
//	FormatMetaBtree  the root of a btree of the realtime section
package inode
