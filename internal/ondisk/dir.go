package ondisk

import "errors"

// The magic numbers of directory blocks of V5 and V4.
const (
	DirBlockMagic, DirBlockMagicV4 = 0x58444233, 0x58443242 // "XDB3", "XD2B": all of a directory
	DirDataMagic, DirDataMagicV4   = 0x58444433, 0x58443244 // "XDD3", "XD2D": only entries
	DirFreeMagic, DirFreeMagicV4   = 0x58444633, 0x58443246 // "XDF3", "XD2F": the list of free space
	DirLeafMagic                   = 0x3df1                 // all of an index
	DirLeafNMagic                  = 0x3dff                 // a leaf of many
	DirNodeMagic                   = 0x3ebe
)

// Lengths of parts of directory blocks, and where those of V5 have checksums and owner.
const (
	DirDataHeader  = 64 // of a block of entries
	DirIndexHeader = 64 // of a block of the index
	DirFreeHeader  = 64 // of a block of the list of free space
	DirIndexSize   = 8  // a slot of the index: hash and place of a name
	DirBlockTail   = 8  // of a block that is all of a directory
	DirBestSize    = 2  // a number in the list of free space

	DirDataCRC, DirDataOwner = 4, 40 // of a block of entries or of free space
	DirIndexCRC              = 12
)

// DirDirectory is the type of an entry for a directory.
const DirDirectory = 2

const (
	dirDataHeaderV4, dirFreeHeaderV4 = 16, 16
	dirBlkno, dirUUID                = 8, 24
)

// DirDataHeaderSize is the length of the header of a block of entries.
func DirDataHeaderSize(v5 bool) int {
	if v5 {
		return DirDataHeader
	}
	return dirDataHeaderV4
}

// DirFreeHeaderSize is the length of the header of a block of the list of free space.
func DirFreeHeaderSize(v5 bool) int {
	if v5 {
		return DirFreeHeader
	}
	return dirFreeHeaderV4
}

// PutDirHeader writes what blocks of entries and of free space have in common in V5: the place, a daddr,
// filesystem, owner.
func PutDirHeader(b []byte, blkno uint64, uuid UUID, owner uint64) {
	be.PutUint64(b[dirBlkno:], blkno)
	copy(b[dirUUID:], uuid[:])
	be.PutUint64(b[DirDataOwner:], owner)
}

// CheckDirHeader checks place and filesystem.
func CheckDirHeader(b []byte, blkno uint64, uuid UUID) error {
	switch {
	case UUID(b[dirUUID:][:16]) != uuid:
		return errors.New("it belongs to another filesystem")
	case be.Uint64(b[dirBlkno:]) != blkno:
		return errors.New("it belongs to another place")
	}
	return nil
}
