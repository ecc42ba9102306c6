package ondisk

import (
	"crypto/subtle"
	"encoding/binary"
	"hash/crc32"
)

// Resealer seals copies of one structure that differ from it only in a few
// bytes at the start, without reading the rest of them.
//
// A CRC is linear: that of x XOR d is that of x XOR what d alone adds. d is
// zero behind the head, and running a CRC over n zero bytes is a fixed linear
// function of its 32 bits, which a table for each of its four bytes computes.
//
// It is not for use by several goroutines at once.
type Resealer struct {
	field int
	sum   uint32 // of the original
	head  []byte // its start
	diff  []byte // scratch
	tail  *zeroRun
}

// NewResealer takes a sealed structure, the offset of its checksum, and the
// length of the head in which copies may differ, which does not reach the checksum.
func NewResealer(sealed []byte, field, head int) *Resealer {
	return &Resealer{
		field: field,
		sum:   binary.LittleEndian.Uint32(sealed[field:]),
		head:  append([]byte(nil), sealed[:head]...),
		diff:  make([]byte, head),
		tail:  newZeroRun(len(sealed) - head),
	}
}

// Seal seals a copy.
func (r *Resealer) Seal(b []byte) {
	subtle.XORBytes(r.diff, b[:len(r.head)], r.head)
	binary.LittleEndian.PutUint32(b[r.field:], r.sum^r.tail.after(plainCRC(0, r.diff)))
}

// plainCRC is the CRC without the inversions that the checksum begins and ends with.
func plainCRC(crc uint32, p []byte) uint32 { return ^crc32.Update(^crc, castagnoli, p) }

// zeroRun tells what a CRC becomes over a run of zero bytes.
type zeroRun [4][256]uint32

func newZeroRun(n int) *zeroRun {
	zeros := make([]byte, n)
	var z zeroRun
	for byteNo := range z {
		for bit := range 8 {
			v := plainCRC(1<<(8*byteNo+bit), zeros)
			for i := range 1 << bit {
				z[byteNo][i|1<<bit] = z[byteNo][i] ^ v
			}
		}
	}
	return &z
}

func (z *zeroRun) after(crc uint32) uint32 {
	return z[0][crc&0xff] ^ z[1][crc>>8&0xff] ^ z[2][crc>>16&0xff] ^ z[3][crc>>24]
}
