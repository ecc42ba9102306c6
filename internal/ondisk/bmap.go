package ondisk

// FileExtent is a run of a file's blocks, as an inode has it.
type FileExtent struct {
	Offset uint64 // in blocks; 54 bits
	Start  uint64 // FSBlock; 52 bits
	Blocks uint32 // 21 bits
	// Unwritten space reads as zeros.
	Unwritten bool
}

// FileExtentSize is its length in bytes.
const FileExtentSize = 16

const (
	extentStartLow  = 43 // bits of the start in the second word
	extentUnwritten = 1 << 63
)

// Put writes the extent.
func (e FileExtent) Put(b []byte) {
	hi := e.Offset<<9 | e.Start>>extentStartLow
	if e.Unwritten {
		hi |= extentUnwritten
	}
	be.PutUint64(b, hi)
	be.PutUint64(b[8:], e.Start<<(64-extentStartLow)|uint64(e.Blocks))
}

// DecodeFileExtent reads an extent.
func DecodeFileExtent(b []byte) FileExtent {
	hi, lo := be.Uint64(b), be.Uint64(b[8:])
	return FileExtent{
		Offset: hi << 1 >> 10, Start: hi&(1<<9-1)<<extentStartLow | lo>>(64-extentStartLow),
		Blocks:    uint32(lo & (1<<(64-extentStartLow) - 1)),
		Unwritten: hi&extentUnwritten != 0,
	}
}
