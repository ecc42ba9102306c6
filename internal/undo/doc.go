// Package undo keeps what formatting overwrites in a file, and puts it back.
//
//	Create ── Save, Save, ... ── Finish ── format ── Mark(Made)
//	Open ── Check ── Restore
//
// Everything that is saved is durable before the first byte of a target
// changes. The file has a state, a file header, and records:
//
//	byte 0     "mkfsundo", version, state, zeros; checksum at 508
//	byte 512   length, checksum, that many bytes of JSON: see Header
//	then       kind, device, offset, length, checksum of the data, checksum
//	           of the record so far; the data, if it is of that kind
//	           ...
//	last       a record of kind "end", with the number of those before it and
//	           where it is itself
//
// Numbers are big-endian; checksums are CRC32C and have 32 bits, as have kind,
// device, version and state. Offsets and lengths have 64. Zeros and holes are
// records without data, so that of an empty disk hardly anything is kept. A
// range may be saved twice: both records hold the same.
//
// # States
//
// The state is in a sector of its own, which is written in place and flushed:
//
//	saving ─> saved ─> made ─> undoing ─> undone
//
// A file in state saving is of no use, and nothing has been overwritten. From
// saved to made the target is being formatted; a run that is killed leaves it
// so. Then, the target's start tells what has become of it: its first sectors
// are those that are kept here, or zeros, or the first one is the new
// filesystem's superblock, in progress or complete. Anything else is not ours to
// overwrite. A filesystem that is complete must also have the log that mkfs
// wrote: mounting it leaves another.
//
// Restore writes everything but the first sector, flushes, writes that, and
// flushes again. If it is killed it can be run again.
//
// Targets are opened, locked and closed by the caller.
package undo
