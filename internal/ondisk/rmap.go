package ondisk

// The offset of a record of the rmapbt has flags above the offset within the file's fork:
// RmapAttr, RmapBmbt and RmapUnwritten. A key has all but the last.
const (
	RmapAttr   = 1 << 63 // of the attribute fork
	RmapOffset = 1<<54 - 1
)

// Owners from OwnLowest on are no inodes. OwnUnknown is none: of blocks whose owner is not
// known, and not looked at.
const (
	OwnUnknown = ^uint64(1) // -2
	OwnLowest  = ^uint64(9) // -10
)
