// Package ondisk encodes and decodes the structures of an XFS filesystem. All
// numbers on disk are big-endian. Each type keeps the order of the format's
// fields ("XFS Algorithms & Data Structures"); PutX writes a structure at the
// start of a buffer whose rest it leaves alone, and X reads it back.
//
// The package knows where a field lies within a structure, but not where a
// structure lies on a device.
package ondisk

import "encoding/binary"

var be = binary.BigEndian

// cursor writes or reads fields one after the other. The buffer must hold
// them all: a short one is the caller's bug.
type cursor struct {
	b  []byte
	at int
}

func (c *cursor) next(n int) []byte {
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) u8(v uint8)     { c.next(1)[0] = v }
func (c *cursor) u16(v uint16)   { be.PutUint16(c.next(2), v) }
func (c *cursor) u32(v uint32)   { be.PutUint32(c.next(4), v) }
func (c *cursor) u64(v uint64)   { be.PutUint64(c.next(8), v) }
func (c *cursor) bytes(v []byte) { copy(c.next(len(v)), v) }
func (c *cursor) zero(n int)     { clear(c.next(n)) }

func (c *cursor) get8() uint8   { return c.next(1)[0] }
func (c *cursor) get16() uint16 { return be.Uint16(c.next(2)) }
func (c *cursor) get32() uint32 { return be.Uint32(c.next(4)) }
func (c *cursor) get64() uint64 { return be.Uint64(c.next(8)) }

func (c *cursor) crc(v uint32) { binary.LittleEndian.PutUint32(c.next(4), v) }

// getCRC reads a checksum, the only little-endian field there is.
func (c *cursor) getCRC() uint32 { return binary.LittleEndian.Uint32(c.next(4)) }

func (c *cursor) uuid(u *UUID)  { c.bytes(u[:]) }
func (c *cursor) getUUID() UUID { return UUID(c.next(16)) }

// UUID is a filesystem's identity, which every V5 metadata block carries.
type UUID [16]byte
