package ondisk

// The core of an inode is logged in the byte order of the machine, field by
// field in its place on disk.
//
// These fields are not taken from the log: the unlinked pointer is logged with
// the block, the checksum has to be made anew, and the LSN is that of the
// change that is replayed.
const (
	InodeUnlinked = 96
	inodeLSN      = 112
)

// Where fields begin whose form depends on others.
const (
	inodeBigExtents = 24
	inodeFlushIter  = 30
	inodeAtime      = 32
	inodeExtents    = 76
	inodeAttrExts   = 80
	inodeFlags2     = 120
	inodeCrtime     = 144
)

// swaps are the other fields of the core: where, and how long.
var swaps = [][2]int{
	{0, 2}, {2, 2}, {4, 1}, {5, 1}, {6, 2}, // magic, mode, version, format, type of metadata
	{8, 4}, {12, 4}, {16, 4}, {20, 2}, {22, 2}, // owners, links, project
	{56, 8}, {64, 8}, {72, 4}, // size, blocks, extent size
	{82, 1}, {83, 1}, {84, 4}, {88, 2}, {90, 2}, {92, 4}, // fork offset and format, flags, generation
}

var swapsV3 = [][2]int{
	{104, 8}, {inodeFlags2, 8}, {128, 4}, // change count, flags, extent size of copy on write
	{152, 8}, // number
}

// LogInodeSize is the length of a logged core.
func LogInodeSize(v5 bool) int {
	if v5 {
		return InodeCore
	}
	return InodeUnlinked
}

// PutLogInode writes a logged core over an inode on disk. It does not seal it.
func PutLogInode(b, logged []byte, lsn uint64) {
	version3 := logged[4] == 3
	swap := func(at, n int) {
		switch n {
		case 1:
			b[at] = logged[at]
		case 2:
			be.PutUint16(b[at:], le.Uint16(logged[at:]))
		case 4:
			be.PutUint32(b[at:], le.Uint32(logged[at:]))
		case 8:
			be.PutUint64(b[at:], le.Uint64(logged[at:]))
		}
	}
	var flags InodeFlags2
	for _, f := range swaps {
		swap(f[0], f[1])
	}
	clear(b[inodeBigExtents:inodeAtime])
	if version3 {
		flags = InodeFlags2(le.Uint64(logged[inodeFlags2:]))
		for _, f := range swapsV3 {
			swap(f[0], f[1])
		}
		clear(b[132:inodeCrtime])
		copy(b[160:InodeCore], logged[160:InodeCore])
		be.PutUint64(b[inodeLSN:], lsn)
	} else {
		swap(inodeFlushIter, 2)
	}
	times := [...]int{inodeAtime, inodeAtime + 8, inodeAtime + 16, inodeCrtime}
	for _, at := range times {
		if at == inodeCrtime && !version3 {
			continue
		}
		if flags&Flag2Bigtime != 0 {
			swap(at, 8)
		} else { // seconds and nanoseconds
			swap(at, 4)
			swap(at+4, 4)
		}
	}
	swap(inodeExtents, 4)
	swap(inodeAttrExts, 2)
	if flags&Flag2Nrext64 != 0 {
		swap(inodeBigExtents, 8)
	}
}

// InodeFlushes reads how often an inode of version 2 was written.
func InodeFlushes(b []byte) uint16 { return be.Uint16(b[inodeFlushIter:]) }

// LogInodeFlushes reads that of a logged one.
func LogInodeFlushes(logged []byte) uint16 { return le.Uint16(logged[inodeFlushIter:]) }

// ResetInodeFlushes makes the count of an inode of version 2 zero.
func ResetInodeFlushes(b []byte) { be.PutUint16(b[inodeFlushIter:], 0) }

// LogInodeIsInode tells whether a logged core begins as one does.
func LogInodeIsInode(logged []byte) bool { return le.Uint16(logged) == InodeMagic }

// PutDevice writes the number of a device node into its data fork.
func PutDevice(fork []byte, dev uint32) { be.PutUint32(fork, dev) }

// NullAGInode ends a list of inodes of an AG.
const NullAGInode = ^uint32(0)

// MetaType says what a file of metadata holds.
type MetaType uint16

// The types in use. The data fork of the last two is the root of a btree of
// their own.
const (
	MetaDirectory  MetaType = 1
	MetaRTBitmap   MetaType = 5
	MetaRTSummary  MetaType = 6
	MetaRTRmap     MetaType = 7
	MetaRTRefcount MetaType = 8
)
