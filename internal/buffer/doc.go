// Package buffer is a cache of metadata blocks by their place on the device. It
// is the only reader and writer of metadata of a filesystem that is worked on.
//
//	Get, Ahead <── frames <── read ── Ring
//	               │    ^
//	Dirty ────────>│    └── evicted when memory is short, read again when wanted
//	               v
//	            delwri: old, or promoted ── sealed copies in slabs ──> Ring
//
// # Blocks
//
// A block ([Buf]) is a place and a length. It is in memory once, and whoever asks for
// it gets the same bytes, pinned: they stay where they are until it is unpinned.
// What is changed is changed in those bytes. [Cache.Get] reads a block, unless it is
// there; [Cache.Fresh] gives one of zeros, which is not read; [Cache.Ahead] begins to
// read one that will be wanted. A block may lie in several places, a large
// directory block in several extents: [Cache.GetSpans].
//
// A [Kind] says what a block is. Check looks at what comes from disk, so that
// no operation meets a block that is none of its kind, and at a block in memory that
// is asked for as another kind than before. Errors name kind, AG and byte.
//
// # Other sizes
//
// An inode cluster that is freed may become directory blocks of another size. What
// lies across a block that is asked for is written, if it was changed, and let go of.
// [Cache.Forget] tells that blocks are freed: what was changed in them is of no use,
// and not written.
//
// # Writing
//
// [Cache.Dirty] says that a pinned block is changed, or about to be. The block goes on
// the delayed-write list with the tick of its first change. An operation ends with a
// [Cache.Tick]. Blocks that have been dirty for [Config.Age] ticks are issued when they are
// enough for a batch that keeps the device busy, so that a block that many operations
// change is written once for all of them, and neighbours together.
//
// What is issued is a copy, sealed by [Kind.Seal], in one of a few slabs that take
// turns. So a block may be changed again at once, while its copy is in flight, and
// there is no waiting but for the oldest slab, when all of them are in flight. A
// pinned block is not issued, since it may be half changed, but by [Cache.Flush], which
// needs no copies as it waits.
//
// A place is never in flight twice, so that nothing overtakes what was written
// before it: not the next content of a block, and not what becomes of a freed block's
// place. Nor is a place read while something is in flight to it.
//
// # Memory
//
// The frames of blocks take [Config.Limit] bytes at most, unless more are pinned. When
// one is wanted the least recently used that is not pinned goes. If it is dirty it is
// promoted, together with as many that follow it as make a batch, and written first.
// Memory comes in slabs that are fit for direct IO, which are cut into frames of one
// size; one that holds no block any more may be cut anew.
//
// # Errors
//
// A write that has failed is told of by each call from then on, as a
// [*delwri.WriteError]. Nothing is written after it, and what was changed is lost.
//
// A Cache has one owner and does no locking.
package buffer
