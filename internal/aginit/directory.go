package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// encoded lists entries of a directory as its blocks or its inode have them.
func encoded(entries []geometry.DirEntry) []ondisk.DirEntry {
	list := make([]ondisk.DirEntry, 0, len(entries))
	for _, e := range entries {
		t := ondisk.DirRegular
		if e.IsDir() {
			t = ondisk.DirDirectory
		}
		list = append(list, ondisk.DirEntry{Name: e.File.Name, Inode: uint64(e.File.Inode), Type: t, At: int64(e.At)})
	}
	return list
}

// inBlocks is all entries with the directory itself and its parent in front, as
// its blocks have them.
func inBlocks(f *geometry.File) []ondisk.DirEntry {
	self := ondisk.DirEntry{Name: ".", Inode: uint64(f.Inode), Type: ondisk.DirDirectory, At: ondisk.DirDataHeader}
	parent := ondisk.DirEntry{Name: "..", Inode: uint64(f.ParentInode()), Type: ondisk.DirDirectory,
		At: self.At + int64(ondisk.DirEntrySize(self.Name))}
	return append([]ondisk.DirEntry{self, parent}, encoded(f.Dir.Entries)...)
}

// inBlock is what a block of a directory holds.
func (b *Builder) inBlock(f *geometry.File, number int) []ondisk.DirEntry {
	if b.names[f] == nil {
		b.names[f] = make([][]ondisk.DirEntry, len(f.Dir.Free))
		for _, e := range inBlocks(f) {
			n := geometry.Bytes(e.At) / b.g.DirBlockSize
			b.names[f][n] = append(b.names[f][n], e)
		}
	}
	return b.names[f][number]
}

func putIndex(dst []byte, list []geometry.DirIndex) {
	for i, x := range list {
		ondisk.DirIndex{Hash: x.Hash, Address: x.At}.Put(dst[i*ondisk.DirIndexSize:])
	}
}

// dirBlock writes a block of a directory: of entries, of the index or of the
// list of free space.
func (b *Builder) dirBlock(f *geometry.File, offset geometry.Blocks, at geometry.FSBlock, dst []byte) {
	daddr := uint64(b.g.Daddr(b.g.BlockAddress(at)))
	part, number := b.g.DirBlock(offset)
	dirParts[part](b, f, number, daddr, dst)
}

var dirParts = map[geometry.DirPart]func(b *Builder, f *geometry.File, number int, daddr uint64, dst []byte){
	geometry.DirEntries:   (*Builder).dirData,
	geometry.DirIndexes:   (*Builder).dirIndex,
	geometry.DirFreeSpace: (*Builder).dirFree,
}

// dirData writes a block of entries, and in a directory of one block the index
// at its end. In a larger one what was the index stays in the first block's
// free space.
func (b *Builder) dirData(f *geometry.File, number int, daddr uint64, dst []byte) {
	size := len(dst)
	h := ondisk.DirData{Magic: ondisk.DirDataMagic, Blkno: daddr, UUID: b.id.UUID, Owner: uint64(f.Inode)}
	freeEnd := size
	if number == 0 {
		index := f.BlockIndex()
		at := size - ondisk.DirBlockTail - len(index)*ondisk.DirIndexSize
		putIndex(dst[at:], index)
		ondisk.PutDirTail(dst, len(index))
		if f.Dir.Form == geometry.DirOneBlock {
			h.Magic, freeEnd = ondisk.DirBlockMagic, at
		}
	}
	end := ondisk.DirDataHeader
	for _, e := range b.inBlock(f, number) {
		at := int(e.At) % size
		e.Put(dst, at) // what was there shows in its padding
		end = max(end, at+ondisk.DirEntrySize(e.Name))
	}
	if free := freeEnd - end; free > 0 {
		ondisk.PutDirFree(dst, end, free)
		h.FreeAt, h.FreeLength = uint16(end), uint16(free)
	}
	h.Put(dst)
	ondisk.Seal(dst, ondisk.DirDataCRC)
}

// dirIndex writes a block of the index. One that is all of it has the list of
// free space at its end.
func (b *Builder) dirIndex(f *geometry.File, number int, daddr uint64, dst []byte) {
	x := f.Dir.Index[number]
	h := ondisk.DirIndexBlock{
		Magic: ondisk.DirLeafNMagic, Forward: uint32(x.Forward), Back: uint32(x.Back),
		Blkno: daddr, UUID: b.id.UUID, Owner: uint64(f.Inode), Count: uint16(x.Live), Level: uint16(x.Level),
	}
	if x.Level > 0 {
		h.Magic = ondisk.DirNodeMagic
	}
	switch {
	case f.Dir.Form == geometry.DirLeaf:
		h.Magic = ondisk.DirLeafMagic
		ondisk.PutDirBests(dst, bests(f.Dir.Free))
	case number == 0: // from when it was the only one
		ondisk.PutDirBests(dst, bests(f.Dir.LeafFree))
	}
	putIndex(dst[ondisk.DirIndexHeader:], x.Slots)
	h.Put(dst)
	ondisk.Seal(dst, ondisk.DirIndexCRC)
}

// dirFree writes a block of the list of free space.
func (b *Builder) dirFree(f *geometry.File, number int, daddr uint64, dst []byte) {
	n := b.g.DirFreePerBlock()
	first := number * n
	list := f.Dir.Free[first:min(first+n, len(f.Dir.Free))]
	h := ondisk.DirFree{
		Blkno: daddr, UUID: b.id.UUID, Owner: uint64(f.Inode),
		First: uint32(first), Count: uint32(len(list)), Used: uint32(len(list)),
	}
	h.Put(dst)
	ondisk.PutDirFreeList(dst[ondisk.DirFreeHeader:], bests(list))
	ondisk.Seal(dst, ondisk.DirFreeCRC)
}

func bests(free []geometry.Bytes) []int {
	list := make([]int, len(free))
	for i, n := range free {
		list[i] = int(n)
	}
	return list
}
