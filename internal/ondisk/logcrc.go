package ondisk

import (
	"encoding/binary"
	"hash/crc32"
)

// What the checksum of a log record covers: the header up to its padding, on
// some 32-bit machines without that, then of each header extension in use the
// cycle words, and then the data.
const (
	logCRC           = 32
	logHeaderSealed  = LogRecordSize
	logHeaderSealed2 = LogRecordSize - 4
	logExtSealed     = 4 + 4*cyclesPerHeader
)

// LogSealed tells whether crc is the checksum of a log record with these
// header blocks and data.
func LogSealed(headers, data []byte, crc uint32) bool {
	return logSum(headers, data, logHeaderSealed) == crc || logSum(headers, data, logHeaderSealed2) == crc
}

// SealLog puts the checksum of a log record into its header.
func SealLog(headers, data []byte) {
	binary.LittleEndian.PutUint32(headers[logCRC:], logSum(headers, data, logHeaderSealed))
}

func logSum(headers, data []byte, covered int) uint32 {
	crc := sum(headers[:covered], logCRC)
	for at := bytesPerHeader; at < len(data); at += bytesPerHeader {
		ext := at / bytesPerHeader * logBlock
		crc = crc32.Update(crc, castagnoli, headers[ext:ext+logExtSealed])
	}
	return crc32.Update(crc, castagnoli, data)
}

// The words that a record's headers keep stand behind these.
const (
	logWords    = 44 // in the header
	logExtWords = 4  // in an extension
)

// logWord is where the headers keep the first word of data block i.
func logWord(headers []byte, i int) []byte {
	if i < cyclesPerHeader {
		return headers[logWords+4*i:][:4]
	}
	return headers[i/cyclesPerHeader*logBlock+logExtWords+4*(i%cyclesPerHeader):][:4]
}

// UnpackLog puts the words back that cycle numbers stand in the place of.
// data is whole blocks.
func UnpackLog(headers, data []byte) {
	for i := range len(data) / logBlock {
		copy(data[i*logBlock:], logWord(headers, i))
	}
}
