package logtest

// The types of items.
const (
	typeInode  = 0x123b
	typeBuffer = 0x123c
	typeDquot  = 0x123d
	typeQuota  = 0x123e
	typeCreate = 0x123f
)

// Flags of buffers.
const (
	Inodes    = 1 << 0
	Cancelled = 1 << 1
	UserQuota = 1 << 2
)

// Chunk is how much of a block a bit of its map stands for.
const Chunk = 128

func numbers16(v ...uint16) (b []byte) {
	for _, n := range v {
		b = le.AppendUint16(b, n)
	}
	return b
}

// Buffer is the item of a block, of which the chunks that want says are logged.
// Each run of them is a region.
func Buffer(kind uint8, flags uint16, daddr int64, block []byte, want func(chunk int) bool) Item {
	chunks := len(block) / Chunk
	var regions Item
	bits := make([]byte, (chunks+31)/32*4)
	for i, open := 0, false; i < chunks; i++ {
		if flags&Cancelled != 0 || want != nil && !want(i) {
			open = false
			continue
		}
		bits[i/8] |= 1 << (i % 8)
		if open {
			last := &regions[len(regions)-1]
			*last = append(*last, block[i*Chunk:][:Chunk]...)
			continue
		}
		open = true
		regions = append(regions, append([]byte(nil), block[i*Chunk:][:Chunk]...))
	}
	head := numbers16(typeBuffer, uint16(1+len(regions)), flags|uint16(kind)<<11, uint16(len(block)/Block))
	head = le.AppendUint64(head, uint64(daddr))
	head = le.AppendUint32(head, uint32(len(bits)/4))
	return append(Item{append(head, bits...)}, regions...)
}

// Cancel is the item of a block that was freed.
func Cancel(daddr int64, size int) Item {
	return Buffer(0, Cancelled, daddr, make([]byte, size), nil)
}

// InodeAt says where an inode is.
type InodeAt struct {
	Number uint64
	Daddr  int64 // of the block that holds it
	Blocks int   // basic blocks of that
	Offset int   // of the inode in it, in bytes
}

// Inode is the item of an inode: its core in the form of the log, and forks.
func Inode(at InodeAt, fields uint32, device uint32, core []byte, forks ...[]byte) Item {
	head := numbers16(typeInode, uint16(2+len(forks)))
	head = le.AppendUint32(head, fields|1)
	head = append(head, 0, 0, 0, 0, 0, 0, 0, 0)
	head = le.AppendUint64(head, at.Number)
	head = le.AppendUint32(head, device)
	head = append(head, make([]byte, 12)...)
	head = le.AppendUint64(head, uint64(at.Daddr))
	head = le.AppendUint32(head, uint32(at.Blocks))
	head = le.AppendUint32(head, uint32(at.Offset))
	return append(Item{head, core}, forks...)
}

// Packed makes the description of an inode one of a 32-bit machine.
func Packed(it Item) Item {
	head := append([]byte(nil), it[0][:12]...)
	return append(Item{append(head, it[0][16:]...)}, it[1:]...)
}

// coreFields lists the lengths of the fields of an inode's core. Negative ones are
// bytes that are the same in both forms. Those of classic times are two each.
func coreFields(version3, bigtime bool) []int {
	times := []int{4, 4}
	if bigtime {
		times = []int{8}
	}
	f := []int{2, 2, 1, 1, 2, 4, 4, 4, 2, 2}
	if version3 {
		f = append(f, 8)
	} else {
		f = append(f, -6, 2)
	}
	for range 3 {
		f = append(f, times...)
	}
	f = append(f, 8, 8, 4, 4, 2, 1, 1, 4, 2, 2, 4)
	if !version3 {
		return f
	}
	f = append(f, 4, 4, 8, 8, 8, 4, -12)
	return append(append(f, times...), 8, -16)
}

// Core turns the core of an inode on disk into the form that is logged.
func Core(disk []byte) (logged []byte) {
	v3 := disk[4] >= 3
	flags := uint64(0)
	if v3 {
		flags = be.Uint64(disk[120:])
	}
	for _, n := range coreFields(v3, flags&8 != 0) {
		field := disk[len(logged):]
		if n < 0 {
			logged = append(logged, field[:-n]...)
			continue
		}
		for i := n - 1; i >= 0; i-- {
			logged = append(logged, field[i])
		}
	}
	return logged
}

// Create is the item of a chunk of inodes that is to be initialised.
func Create(ag, block, inodes, size, blocks, generation uint32) Item {
	b := numbers16(typeCreate, 1)
	for _, v := range []uint32{ag, block, inodes, size, blocks, generation} {
		b = be.AppendUint32(b, v)
	}
	return Item{b}
}

// Dquot is the item of a dquot, which is logged in the form on disk.
func Dquot(id uint32, daddr int64, offset int, dquot []byte) Item {
	b := le.AppendUint32(numbers16(typeDquot, 2), id)
	b = le.AppendUint64(b, uint64(daddr))
	b = le.AppendUint32(b, 1)
	return Item{le.AppendUint32(b, uint32(offset)), dquot}
}

// QuotaOff is the item that ends some kinds of quota.
func QuotaOff(flags uint32) Item {
	b := le.AppendUint32(numbers16(typeQuota, 1), flags)
	return Item{append(b, make([]byte, 12)...)}
}

// Intent is an item that promises work or says that it has been done. extra is
// what follows the number of the intent, count extents of it.
func Intent(kind uint16, id uint64, count int, extra []byte, regions ...[]byte) Item {
	b := le.AppendUint32(numbers16(kind, uint16(1+len(regions))), uint32(count))
	b = le.AppendUint64(b, id)
	return append(Item{append(b, extra...)}, regions...)
}
