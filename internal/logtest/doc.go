// Package logtest writes logs for tests: records as a kernel writes them, or
// as it leaves them when all ends in the middle. It is not used by the program,
// and shares no code with the packages that read logs, so that an error in one
// does not hide in the other.
package logtest

import (
	"encoding/binary"
	"hash/crc32"
)

// Block is the length of a basic block.
const Block = 512

var (
	be  = binary.BigEndian
	le  = binary.LittleEndian
	crc = crc32.MakeTable(crc32.Castagnoli)
)
