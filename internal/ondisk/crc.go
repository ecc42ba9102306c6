package ondisk

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// noChecksum stands for a checksum while it is computed.
var noChecksum = make([]byte, 4)

// Seal computes the CRC32C of a whole V5 structure, with its checksum at
// offset field counted as zero, and stores it there, little-endian as the
// only field of the format.
func Seal(b []byte, field int) {
	binary.LittleEndian.PutUint32(b[field:], sum(b, field))
}

// Sealed tells whether the checksum at offset field is that of b.
func Sealed(b []byte, field int) bool {
	return binary.LittleEndian.Uint32(b[field:]) == sum(b, field)
}

func sum(b []byte, field int) uint32 {
	crc := crc32.Update(0, castagnoli, b[:field])
	crc = crc32.Update(crc, castagnoli, noChecksum)
	return crc32.Update(crc, castagnoli, b[field+4:])
}
