// Package delwri is the delayed write list: buffers are queued, and later
// written together in the order of the disk.
//
//	Add, Add, ... ─> queue ── Issue: choose, sort, merge ──> batch ──> Writer
//	                   ^                                       │
//	                   └── changed again: Add                  └──> done: Wait
//
// Delaying pays three times. Buffers come in the order that suits their maker
// and go out in the order that suits the disk. Neighbours become one request:
// the eleven header blocks of an allocation group are adjacent, and so one
// write instead of eleven. And a buffer that is changed again while it is
// queued is written once.
//
// # Contract
//
// Owner. A List has one owner and does no locking. It is used from the
// goroutine that its Writer wants.
//
// Buffers. A [Buffer] belongs to the owner, and is queued by its address. It must
// stay as it is while it is queued; from Issue on the List has what it needs, and
// the Buffer may be queued again, or become one of another place. The memory that
// is written belongs to the Writer until its batch is done. That is the Buffer's
// own, which must not be changed for so long, or what Config.Take gives instead:
// a copy, so that the buffer may be changed while it is in flight.
//
// Again. Adding a queued buffer is harmless: it is written once, with its last
// content. It keeps its age and its promotion, or a buffer that is always being
// changed would never be written. Two Buffers whose places overlap must not be
// queued together: Issue panics if it meets them, naming both.
//
// Batches. What an Issue hands to the Writer is a batch. Any number of them may be
// in flight, while more is added and issued. They are counted in the order in which
// they were issued: one that is done before an older one counts when that is.
//
// A place is in flight once. A buffer whose place overlaps one that is being
// written is left in the queue by Issue, so that no write overtakes an older one.
//
// Order and merging. Issue hands requests to the Writer by ascending offset.
// Buffers whose bytes follow each other on the disk share a request, up to
// MaxPieces pieces and Config.MaxRequest bytes. A buffer is not split unless
// it is larger than that by itself. Buffers that follow each other in memory
// as well, within the capacity of the first slice, become one piece; make
// them by slicing one slab without limiting the capacity. If Config.Take ends a
// batch, the next one begins where it ended, and behind the last buffer at the
// first again, as an elevator goes, so that no place waits for ever.
//
// Age. The owner counts time with Tick. A buffer is due when it has been queued
// for Config.Age ticks, or was promoted because somebody waits for it; IssueDue
// writes those, and Due tells how many bytes they are. All of that costs the same
// however much is queued.
//
// Errors. After the first error nothing more is issued. Wait then waits for
// everything in flight, empties the queue, and returns that error as a
// [*WriteError]: the device, what the buffer was and in which allocation group, and
// the byte at which the write stopped. After that the List may be used again.
package delwri
