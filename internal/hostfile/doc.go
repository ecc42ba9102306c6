// Package hostfile reads files of the host that are to be copied into a new filesystem: what they
// hold, piece by piece, and their extended attributes. Sources of trees stand on it.
//
// # What is copied
//
// A file is as long as it was when it was first looked at. One that grows later is copied up to
// that length; one that shrinks is an error, ErrShrunk. Holes stay holes, as far as the host tells
// them (SEEK_DATA and SEEK_HOLE): where it does not, all is data. Data that only looks like a
// hole, zeros, is copied.
//
// Extended attributes come in the order in which the host lists them. Those without a value are
// left out, as mkfs.xfs leaves them out (writeattr in mkfs/proto.c), and so are those that the host
// lists but cannot give (EOPNOTSUPP).
//
// # Errors and memory
//
// Errors say what failed, and not of which file: who opened it knows its path. Data and Attrs are
// for one goroutine each; they keep their memory from one file to the next and allocate nothing
// for a file without attributes, once they have been used. Files larger than Small are never held.
package hostfile
