// Package rescue copies a filesystem from a device that may be much larger than
// what is in use of it.
//
//	source ──> recovery, a dry run: the log is replayed in memory
//	              │ Look
//	              v
//	           free space: bnobt and cntbt of each AG, as the replayed log leaves them
//	              │
//	              v
//	           Plan: what must be copied ──> Copy: reads and writes at queue depth
//
// # What is not copied
//
// Free extents, and the part of a log that was never written. All else is: AG
// headers, free lists, inodes free or not, the log, what lies behind the last
// AG. Zeros are left out of the copy, which is sparse.
//
// # Why that is right with a dirty log
//
// The free space btrees on disk may be older than the log, and each of their
// blocks of another time, so they tell nothing. They do once the log has been
// replayed, which is what their AG's AGF, in the same transactions, goes with. What is free
// then was freed by a transaction in the log or before it, and nothing behind
// the log's head counts. Intents that have no done item free nothing: their
// extents are in no free space btree yet, and are copied.
//
// Replaying the log in the copy has to come to the same as in the source. It
// reads the blocks that its items are about, some of which may be free in the
// end. So all places that the dry run has looked at are copied too.
//
// # What is not certain
//
// An AG is copied as a whole if anything about its free space is wrong: a
// checksum, an address, an owner, the order of records, or if the sums of both
// btrees and of the AGF are not the same. If the log is too much for a dry run
// all of the device is copied.
package rescue
