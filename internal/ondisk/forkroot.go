package ondisk

// ForkRoot is the shape of a btree whose root is in an inode's fork: level and
// number of records, then keys and, behind room for all of them, pointers.
// Memory, and so the log, has it as a block with a header.
type ForkRoot struct {
	Magic, MagicV4 uint32
	Key            int // length of a key
	Leaf           int // length of a record of a root that is a leaf; 0 if none is
}

// The trees in forks: the extents of a file, and two of the realtime section.
var (
	BmbtRoot  = ForkRoot{Magic: BmbtMagic, MagicV4: BmbtMagicV4, Key: 8}
	MetaRoots = map[MetaType]ForkRoot{
		MetaRTRmap:     {Magic: RTRmapMagic, Key: 40, Leaf: 24},
		MetaRTRefcount: {Magic: RTRefcountMagic, Key: 4, Leaf: 12},
	}
)

// Lengths of the header of a btree block of an inode's tree.
const (
	LongBtreeHeaderV4 = 24
	LongBtreeHeader   = 72
)

const (
	forkRootHeader = 4
	forkPointer    = 8
	longBtreeOwner = 56
	btreeLevelAt   = 4
	btreeRecordsAt = 6
)

// Put writes a root that was logged as a block into a fork, or tells by false
// that it is none or does not fit.
func (r ForkRoot) Put(fork, block []byte, v5 bool) bool {
	magic, header := r.Magic, LongBtreeHeader
	if !v5 {
		magic, header = r.MagicV4, LongBtreeHeaderV4
	}
	if len(block) < header || be.Uint32(block) != magic || len(fork) < forkRootHeader {
		return false
	}
	level, n := be.Uint16(block[btreeLevelAt:]), int(be.Uint16(block[btreeRecordsAt:]))
	src, dst := block[header:], fork[forkRootHeader:]
	if level == 0 {
		if n *= r.Leaf; r.Leaf == 0 || n > len(src) || n > len(dst) {
			return false
		}
		copy(dst, src[:n])
	} else {
		has, most := len(src)/(r.Key+forkPointer), len(dst)/(r.Key+forkPointer)
		if n > has || n > most {
			return false
		}
		copy(dst, src[:n*r.Key])
		copy(dst[most*r.Key:], src[has*r.Key:][:n*forkPointer])
	}
	copy(fork, block[btreeLevelAt:][:forkRootHeader])
	return true
}

// Children reads the level of a root in a fork and the blocks below it.
func (r ForkRoot) Children(fork []byte) (level int, blocks []uint64, ok bool) {
	if len(fork) < forkRootHeader {
		return 0, nil, false
	}
	level, n := int(be.Uint16(fork)), int(be.Uint16(fork[2:]))
	most := (len(fork) - forkRootHeader) / (r.Key + forkPointer)
	if level == 0 || level > maxBtreeLevels || n > most {
		return level, nil, false
	}
	return level, pointers(fork[forkRootHeader+most*r.Key:], n), true
}

// maxBtreeLevels is more than any tree has.
const maxBtreeLevels = 16

func pointers(b []byte, n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = be.Uint64(b[i*forkPointer:])
	}
	return list
}

// BmbtChildren reads the blocks below a V5 node of an extent btree.
func BmbtChildren(b []byte) ([]uint64, bool) {
	if len(b) < LongBtreeHeader {
		return nil, false
	}
	n, most := int(be.Uint16(b[btreeRecordsAt:])), (len(b)-LongBtreeHeader)/(BmbtRoot.Key+forkPointer)
	if n > most {
		return nil, false
	}
	return pointers(b[LongBtreeHeader+most*BmbtRoot.Key:], n), true
}

// BtreeLevel reads the level of a btree block.
func BtreeLevel(b []byte) int { return int(be.Uint16(b[btreeLevelAt:])) }

// SetBmbtOwner makes an inode the owner of a V5 block of an extent btree, and
// tells whether it was not before.
func SetBmbtOwner(b []byte, inode uint64) bool {
	if be.Uint64(b[longBtreeOwner:]) == inode {
		return false
	}
	be.PutUint64(b[longBtreeOwner:], inode)
	return true
}

// ForkRootHeader reads level and number of entries of a root in a fork.
func ForkRootHeader(fork []byte) (level, records int) {
	return int(be.Uint16(fork)), int(be.Uint16(fork[2:]))
}

// PutForkRootHeader writes what ForkRootHeader reads.
func PutForkRootHeader(fork []byte, level, records int) {
	be.PutUint16(fork, uint16(level))
	be.PutUint16(fork[2:], uint16(records))
}
