package geometry

// The units of an XFS filesystem. They are distinct types so that a block
// count cannot be passed for a byte count; conversions are methods of Geometry.
type (
	// AGNumber numbers allocation groups from 0.
	AGNumber uint32
	// AGBlock is a block's number within its allocation group.
	AGBlock uint32
	// Blocks counts filesystem blocks.
	Blocks uint64
	// FSBlock addresses a filesystem block as it is stored on disk: the AG
	// number above the AG block, which takes AGBlockLog bits.
	FSBlock uint64
	// Daddr addresses the device in 512-byte basic blocks.
	Daddr uint64
	// Bytes is a byte offset or a length in bytes. A device of 8 EiB ends at
	// the largest value.
	Bytes int64
	// Inode is an inode number: AG number, AG block and index in the block.
	Inode uint64
)

// NullAGBlock, NullAGInode and NullInode stand for "none" on disk.
const (
	NullAGBlock = ^uint32(0)
	NullAGInode = ^uint32(0)
	NullInode   = ^Inode(0)
)

// BasicBlock is the unit of a Daddr, of the log and of stripe options, in bytes.
const BasicBlock = 512

const (
	kib Bytes = 1 << (10 * (iota + 1))
	mib
	gib
	tib
)

// blocksIn is n bytes in whole blocks of 1<<blockLog bytes, rounded down.
func blocksIn(n Bytes, blockLog uint) Blocks { return Blocks(n) >> blockLog }

func divUp[T ~int | ~uint | ~int64 | ~uint64 | ~uint32](a, b T) T { return (a + b - 1) / b }

func roundUp[T ~int | ~uint | ~int64 | ~uint64 | ~uint32](a, b T) T { return divUp(a, b) * b }

func roundDown[T ~int | ~uint | ~int64 | ~uint64 | ~uint32](a, b T) T { return a / b * b }
