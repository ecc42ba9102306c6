package aginit

import (
	"cmp"
	"slices"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// entries lists what a directory holds, without itself and its parent.
func entries(f *geometry.File) []ondisk.DirEntry {
	list := make([]ondisk.DirEntry, 0, len(f.Dir.Entries)+2)
	for _, e := range f.Dir.Entries {
		t := ondisk.DirRegular
		if e.IsDir() {
			t = ondisk.DirDirectory
		}
		list = append(list, ondisk.DirEntry{Name: e.File.Name, Inode: uint64(e.File.Inode), Type: t, At: int64(e.At)})
	}
	return list
}

// inBlocks is entries with the directory itself and its parent in front, as
// its blocks have them.
func inBlocks(f *geometry.File) []ondisk.DirEntry {
	self := ondisk.DirEntry{Name: ".", Inode: uint64(f.Inode), Type: ondisk.DirDirectory, At: ondisk.DirDataHeader}
	parent := ondisk.DirEntry{Name: "..", Inode: uint64(f.ParentInode()), Type: ondisk.DirDirectory,
		At: self.At + int64(ondisk.DirEntrySize(self.Name))}
	return append([]ondisk.DirEntry{self, parent}, entries(f)...)
}

// index lists entries by hash; of equals the later is first.
func index(list []ondisk.DirEntry) []ondisk.DirIndex {
	out := make([]ondisk.DirIndex, 0, len(list))
	for _, e := range slices.Backward(list) {
		out = append(out, ondisk.DirIndex{Hash: ondisk.HashName(e.Name), Address: ondisk.DirAddress(e.At)})
	}
	slices.SortStableFunc(out, func(a, b ondisk.DirIndex) int { return cmp.Compare(a.Hash, b.Hash) })
	return out
}

func putIndex(dst []byte, list []ondisk.DirIndex) {
	for i, x := range list {
		x.Put(dst[i*ondisk.DirIndexSize:])
	}
}

// dirBlock writes a block of a directory: of entries, or the index.
func (b *Builder) dirBlock(f *geometry.File, offset geometry.Blocks, at geometry.FSBlock, dst []byte) {
	number := int(b.g.Bytes(offset) / b.g.DirBlockSize)
	daddr := uint64(b.g.Daddr(b.g.BlockAddress(at)))
	if number < len(f.Dir.Free) {
		b.dirData(f, number, daddr, dst)
	} else {
		b.dirLeaf(f, daddr, dst)
	}
}

// dirData writes a block of entries, and in a directory of one block the index
// at its end. In a larger one what was the index stays in the first block's
// free space.
func (b *Builder) dirData(f *geometry.File, number int, daddr uint64, dst []byte) {
	list := inBlocks(f)
	size := len(dst)
	h := ondisk.DirData{Magic: ondisk.DirDataMagic, Blkno: daddr, UUID: b.id.UUID, Owner: uint64(f.Inode)}
	freeEnd := size
	indexed := list
	if f.Dir.Form != geometry.DirOneBlock {
		indexed = list[:f.Dir.InBlock+2]
	}
	if number == 0 {
		at := size - ondisk.DirBlockTail - len(indexed)*ondisk.DirIndexSize
		putIndex(dst[at:], index(indexed))
		ondisk.PutDirTail(dst, len(indexed))
		if f.Dir.Form == geometry.DirOneBlock {
			h.Magic, freeEnd = ondisk.DirBlockMagic, at
		}
	}
	end := ondisk.DirDataHeader
	for _, e := range list {
		if int(e.At)/size == number {
			at := int(e.At) % size
			e.Put(dst, at) // what was there shows in its padding
			end = max(end, at+ondisk.DirEntrySize(e.Name))
		}
	}
	if free := freeEnd - end; free > 0 {
		ondisk.PutDirFree(dst, end, free)
		h.FreeAt, h.FreeLength = uint16(end), uint16(free)
	}
	h.Put(dst)
	ondisk.Seal(dst, ondisk.DirDataCRC)
}

func (b *Builder) dirLeaf(f *geometry.File, daddr uint64, dst []byte) {
	list := index(inBlocks(f))
	h := ondisk.DirLeaf{Blkno: daddr, UUID: b.id.UUID, Owner: uint64(f.Inode), Count: uint16(len(list))}
	h.Put(dst)
	putIndex(dst[ondisk.DirLeafHeader:], list)
	bests := make([]int, len(f.Dir.Free))
	for i, n := range f.Dir.Free {
		bests[i] = int(n)
	}
	ondisk.PutDirBests(dst, bests)
	ondisk.Seal(dst, ondisk.DirLeafCRC)
}
