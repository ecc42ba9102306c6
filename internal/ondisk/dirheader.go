package ondisk

import "errors"

// Magic numbers of V4's directory blocks.
const (
	DirBlockMagicV4 = 0x58443242 // "XD2B"
	DirDataMagicV4  = 0x58443244 // "XD2D"
	DirFreeMagicV4  = 0x58443246 // "XD2F"
)

// DirBestSize is the length of a number in the list of free space.
const DirBestSize = 2

// DirDataOwner is where a block of entries or of free space of V5 has its owner.
const DirDataOwner = 40

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
