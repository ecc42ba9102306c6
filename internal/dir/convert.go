package dir

import (
	"cmp"
	"slices"

	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Spill moves a directory that is in its inode to a block, to make room there. ok is false if there is none. total is
// how many blocks the whole operation may take. (xfs_bmap_add_attrfork_local.)
func (d *Dirs) Spill(t *live.Trans, dp *inode.Inode, total geometry.Blocks) (ok bool, err error) {
	o := d.begin(t, dp, "")
	o.total = total
	s, err := d.short(dp)
	if err != nil {
		return false, err
	}
	return o.shortToBlock(s)
}

// shortToBlock moves a shortform to a block (xfs_dir2_sf_to_block).
func (o *op) shortToBlock(s short) (ok bool, err error) {
	d, dp := o.d, o.dp
	old := short{append(d.spare[:0], s.b...), s.ftype}
	d.spare = old.b
	bmap.EmptyLocal(o.t, dp, bmap.Data)
	dp.Core.Size = 0
	_, b, k, ok, err := o.growEntries()
	if !ok || err != nil {
		return ok, err
	}
	b.Kind = &d.block.Kind
	be.PutUint32(b.Data, d.magicOf(blockMagic))
	n := old.count() + 2
	k.use(d.header, d.bytes-blockTail-n*hashSize, blockTail+n*hashSize)
	k.setIndexed(n)
	k.setStale(0)
	end := k.end()
	k.use(d.header, d.header, k.freeLength(d.header))
	list := k.index()

	place := d.header
	self := func(i int, name string, ino uint64) {
		putEntry(k, place, ino, name, dirType)
		list.Put(i, d.hash(name), d.addressOf(0, place))
		place += d.entrySize(len(name))
	}
	self(0, ".", uint64(dp.Ino))
	self(1, "..", uint64(old.parent()))
	from := old.header()
	for i := range old.count() {
		e, _ := old.entry(from)
		k.hole(place, e.place)
		putEntry(k, e.place, uint64(old.ino(e.inoAt)), e.name, e.ftype)
		list.Put(2+i, d.hash(string(e.name)), d.addressOf(0, e.place))
		from, place = from+e.size, e.place+d.entrySize(len(e.name))
	}
	k.hole(place, end)
	sortIndex(list, n)
	o.t.Dirty(b)
	return true, nil
}

// dirType is the type of a directory's entry.
const dirType = uint8(ondisk.DirDirectory)

// hole makes what is between two entries free.
func (k block) hole(from, to int) {
	if from < to {
		k.setFree(from, to-from)
		k.enter(from, to-from)
	}
}

// sortIndex sorts slots by hash.
func sortIndex(list ondisk.Hashes, n int) {
	slots := make([][2]uint32, n)
	for i := range slots {
		slots[i] = [2]uint32{list.Hash(i), list.Value(i)}
	}
	slices.SortStableFunc(slots, func(a, b [2]uint32) int {
		return cmp.Compare(a[0], b[0])
	})
	for i, s := range slots {
		list.Put(i, s[0], s[1])
	}
}

// blockToShort moves a directory of one block into the inode if it fits (xfs_dir2_block_sfsize and
// xfs_dir2_block_to_sf).
func (o *op) blockToShort(b *buffer.Buf, k block) error {
	d, dp := o.d, o.dp
	parent, wide, size, err := o.asShort(k)
	if err != nil || size > dp.Room(o.t.FS, false) {
		return err
	}
	s := short{slices.Grow(d.spare[:0], size)[:size], d.ftype}
	d.spare = s.b
	s.b[0], s.b[1] = 0, uint8(wide)
	s.setParent(parent)
	at := s.header()
	for place := range k.entries() {
		if e := k.entryAt(place); !isSelf(e.Name) {
			at = s.put(at, place, e)
			s.b[0]++
		}
	}
	if ok, err := o.shrinkEntries(0, b); !ok || err != nil {
		return o.stays(0, err)
	}
	dp.Data.Reset(ondisk.FormatLocal)
	copy(dp.Data.Resize(size), s.b)
	dp.Core.Size = uint64(size)
	dp.Log(o.t)
	return nil
}

// asShort tells what a directory of one block would be as a shortform: the parent, how many numbers need 8 bytes,
// and how long it would be.
func (o *op) asShort(k block) (parent geometry.Inode, wide, size int, err error) {
	count, names, dots := 0, 0, 0
	for at := range k.entries() {
		e := k.entryAt(at)
		switch string(e.Name) {
		case ".":
			dots++
			continue
		case "..":
			parent = e.Ino
			dots++
		default:
			count++
			names += len(e.Name)
		}
		if e.Ino > maxShort {
			wide++
		}
	}
	if dots != 2 || parent == 0 {
		return 0, 0, 0, o.d.damaged(o.dp, "it has not itself and its parent once")
	}
	s := short{[]byte{0, uint8(min(wide, 255))}, o.d.ftype}
	return parent, wide, s.header() + count*s.size(0) + names, nil
}

// isSelf tells whether a name is "." or "..", which a shortform has no entries for.
func isSelf[N []byte | string](name N) bool { return string(name) == "." || string(name) == ".." }
