package target

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"
)

// sparseDisk is a target of zeros with pieces on it, of any size. It counts what is
// read outside of it.
type sparseDisk struct {
	size   int64
	pieces []piece
}

type piece struct {
	off  int64
	data []byte
}

func (d *sparseDisk) ReadAt(p []byte, off int64) (int, error) {
	n := len(p)
	var err error
	if off+int64(n) > d.size {
		n, err = int(max(0, d.size-off)), io.EOF
	}
	clear(p[:n])
	for _, pc := range d.pieces {
		from, to := max(off, pc.off), min(off+int64(n), pc.off+int64(len(pc.data)))
		if from < to {
			copy(p[from-off:to-off], pc.data[from-pc.off:])
		}
	}
	return n, err
}

// flip changes one bit at off.
func (d *sparseDisk) flip(off int64) *sparseDisk {
	b := make([]byte, 1)
	_, _ = d.ReadAt(b, off)
	b[0] ^= 0x20
	return &sparseDisk{d.size, append(d.pieces[:len(d.pieces):len(d.pieces)], piece{off, b})}
}

// sample is a target that has one format.
type sample struct {
	name  string // of the format
	disk  sparseDisk
	magic int64  // where the magic number is
	bytes string // and what it is
}

// set is one field of a structure: bytes at an offset.
type set struct {
	off  int
	data any // string, or a number of the right width in little-endian order
}

// bigEndian numbers are written the other way round.
type (
	be16 uint16
	be32 uint32
	be64 uint64
)

// structure builds n bytes from fields.
func structure(n int, fields ...set) []byte {
	b := make([]byte, n)
	for _, f := range fields {
		switch x := f.data.(type) {
		case string:
			copy(b[f.off:], x)
		case byte:
			b[f.off] = x
		case uint16:
			le.PutUint16(b[f.off:], x)
		case uint32:
			le.PutUint32(b[f.off:], x)
		case uint64:
			le.PutUint64(b[f.off:], x)
		case be16:
			be.PutUint16(b[f.off:], uint16(x))
		case be32:
			be.PutUint32(b[f.off:], uint32(x))
		case be64:
			be.PutUint64(b[f.off:], uint64(x))
		default:
			panic("unknown kind of field")
		}
	}
	return b
}

// at is a sample with one structure, whose magic number is at skip.
func at(name string, size, off int64, skip int64, bytes string, b []byte) sample {
	return sample{name: name, disk: sparseDisk{size, []piece{{off, b}}}, magic: off + skip, bytes: bytes}
}

// plain is a sample of a format that is only a magic number.
func plain(name string, size, off, skip int64, bytes string) sample {
	return at(name, size, off, skip, bytes, structure(4096, set{int(skip), bytes}))
}

// put stores a checksum and returns b.
func put(b []byte, off int, order binary.ByteOrder, sum uint32) []byte {
	order.PutUint32(b[off:], sum)
	return b
}

// crcC and crcI are the usual checksums, made in another way than the code does.
func crcC(b []byte) uint32 { return crc32.Update(0, crc32.MakeTable(crc32.Castagnoli), b) }
func crcI(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

// bitCRC is the reflected CRC-32 with the polynomial poly, bit by bit.
func bitCRC(seed, poly uint32, b []byte) uint32 {
	for _, c := range b {
		seed ^= uint32(c)
		for range 8 {
			seed = seed>>1 ^ -(seed&1)&poly
		}
	}
	return seed
}

func TestRawCRC(t *testing.T) {
	data := []byte("123456789")
	if got, want := rawCRC(77, crc32.IEEETable, data), bitCRC(77, 0xedb88320, data); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	if got, want := rawCRC(1<<31, castagnoli, data), bitCRC(1<<31, 0x82f63b78, data); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	if got := crc64(data); got != 0x62ec59e3f1a4f00a { // the published check value of CRC-64/WE
		t.Errorf("crc64 %#x", got)
	}
}
