// Package delwri is the delayed write list: header buffers are queued, and
// later written together in the order of the disk.
//
//	Add, Add, ... ─> queue ── Issue: sort, merge ──> Writer ── Wait ──> empty
//
// Delaying pays three times. Buffers come in the order that suits their maker
// and go out in the order that suits the disk. Neighbours become one request:
// the eleven header blocks of an allocation group are adjacent, and so one
// write instead of eleven. And a buffer that is changed again while it is
// queued is written once.
//
// # Contract
//
// Owner. A List has one owner and does no locking. Several lists may share a
// Writer, if all are used from the goroutine the Writer wants: fill one while
// another is in flight.
//
// Memory. The List does not copy. A buffer's memory may be changed as long as
// it is only queued, and must not be from Issue until Wait has returned.
// Config.MemoryLimit makes Full say when it is time to submit; the memory is
// the caller's, so the List does not enforce it.
//
// Duplicates. Adding a buffer again at the same offset and length replaces the
// one that is queued: it is written once, with the last content. It keeps the
// age and promotion of the first, or a buffer that is always being changed
// would never be written. Buffers that overlap in any other way are a bug of
// the caller, and Add, Promote, Full or Issue panics, naming both.
//
// Order and merging. Issue hands requests to the Writer by ascending offset.
// Buffers whose bytes follow each other on the disk share a request, up to
// MaxPieces pieces and Config.MaxRequest bytes. A buffer is not split unless
// it is larger than that by itself. Buffers that follow each other in memory
// as well, within the capacity of the first slice, become one piece; make
// them by slicing one slab without limiting the capacity.
//
// Errors. After the first error nothing more is issued, everything in flight
// is waited for, and Wait returns that first error as a [*WriteError]: the
// device, what the buffer was and in which allocation group, and the byte at
// which the write stopped.
//
// Afterwards. Between Issue and Wait nothing may be added. When Wait returns,
// what was issued is gone from the list; after an error everything is, also
// what IssueAged had left. The list may then be used again.
//
// Age. For writers that change the same buffer over and over (log recovery,
// populating), the owner counts time with Tick, and IssueAged writes only
// what has been queued for long enough, and what somebody waits for: Promote.
package delwri
