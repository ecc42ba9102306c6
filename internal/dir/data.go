package dir

import (
	"slices"

	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// block is a block of entries in its bytes: a header with the three longest free spaces, then
// entries and free spaces without gaps. In a directory of one block the index follows, and
// how many there are of it.
//
//	entry  inode 8, length 1, name, type 1 (with ftype), padding, its own place 2
//	free   0xffff, length 2, ..., its own place 2
type block struct {
	b      []byte
	d      *Dirs
	header int
}

const (
	freeTag   = 0xffff
	hashSize  = ondisk.HashSize
	blockTail = ondisk.DirBlockTail
	bests     = 3
)

func (d *Dirs) blockIn(b *buffer.Buf) block { return block{b.Data, d, d.header} }

// best is the place and length of one of the longest free spaces.
func (k block) best(i int) (at, n int) {
	p := k.d.bestsAt + 4*i
	return int(be.Uint16(k.b[p:])), int(be.Uint16(k.b[p+2:]))
}

func (k block) setBest(i, at, n int) {
	p := k.d.bestsAt + 4*i
	be.PutUint16(k.b[p:], uint16(at))
	be.PutUint16(k.b[p+2:], uint16(n))
}

// longest is the length of the longest free space.
func (k block) longest() int { _, n := k.best(0); return n }

func (k block) magic() uint32 { return be.Uint32(k.b) }

// end is where entries end.
func (k block) end() int {
	if !k.whole() {
		return len(k.b)
	}
	return len(k.b) - blockTail - k.indexed()*hashSize
}

// whole tells whether the block is all of a directory.
func (k block) whole() bool {
	m := k.magic()
	return m == ondisk.DirBlockMagic || m == ondisk.DirBlockMagicV4
}

// indexed is the number of slots of the index at the end, and stale how many of them are.
func (k block) indexed() int { return int(be.Uint32(k.b[len(k.b)-8:])) }
func (k block) stale() int   { return int(be.Uint32(k.b[len(k.b)-4:])) }

func (k block) setIndexed(n int) { be.PutUint32(k.b[len(k.b)-8:], uint32(n)) }
func (k block) setStale(n int)   { be.PutUint32(k.b[len(k.b)-4:], uint32(n)) }

// index is the index at the end.
func (k block) index() ondisk.Hashes { return ondisk.Hashes(k.b[k.end() : len(k.b)-blockTail]) }

// isFree tells whether a free space begins at a place.
func (k block) isFree(at int) bool { return be.Uint16(k.b[at:]) == freeTag }

func (k block) freeLength(at int) int { return int(be.Uint16(k.b[at+2:])) }

// setFree makes a free space.
func (k block) setFree(at, n int) {
	be.PutUint16(k.b[at:], freeTag)
	be.PutUint16(k.b[at+2:], uint16(n))
	be.PutUint16(k.b[at+n-2:], uint16(at))
}

// before is what ends just before a place, by its tag.
func (k block) before(at int) int { return int(be.Uint16(k.b[at-2:])) }

// nameAt is the name of the entry at a place.
func (k block) nameAt(at int) []byte { return k.b[at+9 : at+9+int(k.b[at+8])] }

// sizeAt is the length of the entry at a place.
func (k block) sizeAt(at int) int { return k.d.entrySize(int(k.b[at+8])) }

// entryAt is the entry at a place.
func (k block) entryAt(at int) Entry {
	e := Entry{Name: k.nameAt(at), Ino: geometry.Inode(be.Uint64(k.b[at:]))}
	if k.d.ftype {
		e.Type = k.b[at+9+len(e.Name)]
	}
	return e
}

// setIno changes the inode of the entry at a place.
func (k block) setIno(at int, ino uint64, ftype uint8) {
	be.PutUint64(k.b[at:], ino)
	if k.d.ftype {
		k.b[at+9+int(k.b[at+8])] = ftype
	}
}

// isEntry tells whether what is at any place looks like an entry.
func (k block) isEntry(at int) bool {
	end := k.end()
	if at < k.header || at+k.d.entrySize(1) > end || k.isFree(at) || k.b[at+8] == 0 {
		return false
	}
	next := at + k.sizeAt(at)
	return next <= end && k.before(next) == at
}

// begins tells whether an entry begins at a place that looks like one.
func (k block) begins(at int) bool {
	p := k.header
	for p < at {
		if k.isFree(p) {
			p += k.freeLength(p)
		} else {
			p += k.sizeAt(p)
		}
	}
	return p == at
}

// putEntry writes an entry. What was in its padding stays there.
func putEntry[N []byte | string](k block, at int, ino uint64, name N, ftype uint8) {
	size := k.d.entrySize(len(name))
	be.PutUint64(k.b[at:], ino)
	k.b[at+8] = uint8(len(name))
	n := at + 9 + copy(k.b[at+9:], name)
	if k.d.ftype {
		k.b[n] = ftype
	}
	be.PutUint16(k.b[at+size-2:], uint16(at))
}

// find is which of the longest free spaces one is, -1 if none (xfs_dir2_data_freefind).
func (k block) find(at int) int {
	for i := range bests {
		if p, _ := k.best(i); p == at && p != 0 {
			return i
		}
	}
	return -1
}

// enter puts a free space among the longest, before those that are as long, and tells where; -1 for
// nowhere (xfs_dir2_data_freeinsert).
func (k block) enter(at, n int) int {
	for i := range bests {
		if _, have := k.best(i); n > have {
			for j := bests - 1; j > i; j-- {
				k.setBest(j, k.bestOf(j-1).at, k.bestOf(j-1).n)
			}
			k.setBest(i, at, n)
			return i
		}
	}
	return -1
}

type space struct{ at, n int }

func (k block) bestOf(i int) space { at, n := k.best(i); return space{at, n} }

// drop removes one of the longest (xfs_dir2_data_freeremove).
func (k block) drop(i int) {
	for ; i < bests-1; i++ {
		next := k.bestOf(i + 1)
		k.setBest(i, next.at, next.n)
	}
	k.setBest(bests-1, 0, 0)
}

// scan finds the longest free spaces anew (xfs_dir2_data_freescan).
func (k block) scan() {
	for i := range bests {
		k.setBest(i, 0, 0)
	}
	for at, end := k.header, k.end(); at < end; {
		if k.isFree(at) {
			n := k.freeLength(at)
			k.enter(at, n)
			at += n
		} else {
			at += k.sizeAt(at)
		}
	}
}

// newBlock is a new block of entries without any (xfs_dir3_data_init).
func (o *op) newBlock(db int, inUse ...*buffer.Buf) (b *buffer.Buf, k block, err error) {
	d := o.d
	if b, err = o.fresh(d.place(db), d.data, inUse...); err != nil {
		return nil, k, err
	}
	k = d.blockIn(b)
	o.putHeader(b, d.magicOf(dataMagic))
	k.setBest(0, d.header, d.bytes-d.header)
	k.setFree(d.header, d.bytes-d.header)
	return b, k, nil
}

// fresh is a new block. In a damaged filesystem one that is in use may have been free; that it is one of some is
// noticed before these are relied upon.
func (o *op) fresh(at da.Block, kind *da.Kind, inUse ...*buffer.Buf) (*buffer.Buf, error) {
	b, err := o.d.tree.Fresh(o.t, o.dp, at, kind)
	if err != nil {
		return nil, err
	}
	if slices.Contains(inUse, b) {
		return nil, o.d.damaged(o.dp, "block %d is in use, and was free", at)
	}
	return b, nil
}

// putHeader writes the header of a block of entries or of free space.
func (o *op) putHeader(b *buffer.Buf, magic uint32) {
	be.PutUint32(b.Data, magic)
	if fs := o.d.fs; fs.V5 {
		ondisk.PutDirHeader(b.Data, fs.Daddr(b.Off), fs.UUID, uint64(o.dp.Ino))
	}
}

// get reads a block of entries.
func (o *op) get(db int) (*buffer.Buf, block, error) {
	b, err := o.d.tree.Get(o.t, o.dp, o.d.place(db), o.d.data)
	if err != nil {
		return nil, block{}, err
	}
	return b, o.d.blockIn(b), nil
}

// enter puts the entry into the longest free space of a block, and tells where.
func (o *op) enter(b *buffer.Buf, k block) (at int, err error) {
	at, n := k.best(0)
	if n < o.size {
		return 0, o.d.damaged(o.dp, "the longest free space of a block is %d bytes, less than its list says", n)
	}
	scan := k.use(at, at, o.size)
	putEntry(k, at, uint64(o.ino), o.name, o.ftype)
	if scan {
		k.scan()
	}
	o.t.Dirty(b)
	return at, nil
}
