// Package target is the thing a file system is written to: a block device or
// an image file. It opens it, says what it is, says what is on it already, and
// keeps it from being written to while something else uses it.
//
// The usual order is
//
//	info, err := Probe(path)          size, sectors; nothing is opened for writing
//	t, err := Open(path, Options{})   read-only, to look:
//	sigs, err := Signatures(t, info.Size)
//	t, err := Open(path, Options{Write: true, Direct: true})
//	t.Zero / t.Discard / t.WriteAt    or the descriptor t.Fd() with a ring on it
//	t.Sync, t.Close
//
// Offsets and lengths are bytes in int64, so a target has at most 8 EiB - 1.
// The package knows nothing of what is written. It never exits, never prints,
// and all its errors name the target.
//
// A Target has no locks: ReadAt, WriteAt, Zero, Discard and Sync may be called
// from several goroutines at once, Grow, Truncate and Close only by one while
// no other call is under way. Only Linux is supported.
package target
