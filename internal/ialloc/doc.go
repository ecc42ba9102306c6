// Package ialloc hands out inodes, and takes them back, by the rules of libxfs
// (xfs_ialloc.c, xfs_inode_util.c), so that it takes the inodes that libxfs takes,
// and leaves the bytes of their btrees and clusters as libxfs does.
//
// Inodes are allocated in chunks of 64, or of a block if that has more. An AG has a
// record of each 64 inodes in its inobt, and of those with free ones among them in
// its finobt, if it has that too. Where no room is left for a chunk a part of one
// will do (sparse): its record has holes, which later parts may fill.
//
// Alloc chooses
//   - an AG: the next one for each directory, and that of the directory for other
//     files; then those behind it that have a free inode, or room for a chunk;
//   - within the AG of the directory, of records with free inodes that nearest to the
//     directory, in any other one that of the newest chunk, else the first;
//   - in a record the first free inode.
//
// If the AG has no free inode a chunk is made: behind the newest one, else near the
// root of the inobt, at a multiple of the stripe unit if there is one, else where
// chunks are aligned, else a part of a chunk.
//
// Create makes a file of what Alloc gave. Free gives it back, and the blocks of its
// chunk once that is empty.
//
// Nobody else works on the filesystem: there are no locks, no quotas, and an AG that
// was found good remains so.
package ialloc
