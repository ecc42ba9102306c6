package ondisk

import "math"

// DirEntry is a name in a directory.
type DirEntry struct {
	Name  string // up to 255 bytes
	Inode uint64
	Type  DirType
	At    int64 // its place in the directory's space; in an inode, where it would be
}

// DirType says what the inode of an entry is.
type DirType uint8

// The types that metadata files have.
const (
	DirRegular   DirType = 1
	DirDirectory DirType = 2
)

// PutShortDir writes a directory within an inode, whose entries have types.
// With wide, inode numbers have 64 bits. It returns its length.
func PutShortDir(b []byte, parent uint64, wide bool, entries []DirEntry) int {
	c := cursor{b: b}
	number := func(ino uint64) {
		if wide {
			c.u64(ino)
		} else {
			c.u32(uint32(ino))
		}
	}
	large := 0
	for _, e := range append([]DirEntry{{Inode: parent}}, entries...) {
		if e.Inode > math.MaxUint32 {
			large++
		}
	}
	c.u8(uint8(len(entries)))
	c.u8(uint8(large))
	number(parent)
	for _, e := range entries {
		c.u8(uint8(len(e.Name)))
		c.u16(uint16(e.At))
		c.bytes([]byte(e.Name))
		c.u8(uint8(e.Type))
		number(e.Inode)
	}
	return c.at
}

// DirData heads a block of directory entries.
type DirData struct {
	Magic              uint32
	CRC                uint32
	Blkno              uint64 // a daddr
	LSN                uint64
	UUID               UUID
	Owner              uint64
	FreeAt, FreeLength uint16 // the longest free space; two more are never used here
}

// Magic numbers and sizes of directory blocks.
const (
	DirBlockMagic  = 0x58444233 // "XDB3": all of a directory
	DirDataMagic   = 0x58444433 // "XDD3": only entries
	DirDataHeader  = 64
	DirDataCRC     = 4
	DirLeafMagic   = 0x3df1 // all of an index
	DirLeafNMagic  = 0x3dff // a leaf of many
	DirNodeMagic   = 0x3ebe
	DirIndexHeader = 64
	DirIndexCRC    = 12
	DirFreeMagic   = 0x58444633 // "XDF3"
	DirFreeHeader  = 64
	DirFreeCRC     = 4
	DirIndexSize   = 8
	DirBlockTail   = 8
	dirUnusedTag   = 0xffff
	dirUnusedTagAt = 2 // from the end
)

// Put writes the header, unsealed.
func (d *DirData) Put(b []byte) {
	c := cursor{b: b}
	c.u32(d.Magic)
	c.zero(4)
	c.u64(d.Blkno)
	c.u64(d.LSN)
	c.uuid(&d.UUID)
	c.u64(d.Owner)
	c.u16(d.FreeAt)
	c.u16(d.FreeLength)
	c.zero(2*4 + 4)
}

// DecodeDirData reads a header.
func DecodeDirData(b []byte) (d DirData, ok bool) {
	if len(b) < DirDataHeader {
		return d, false
	}
	c := cursor{b: b}
	d.Magic, d.CRC, d.Blkno, d.LSN = c.get32(), c.getCRC(), c.get64(), c.get64()
	d.UUID, d.Owner, d.FreeAt, d.FreeLength = c.getUUID(), c.get64(), c.get16(), c.get16()
	return d, d.Magic == DirBlockMagic || d.Magic == DirDataMagic
}

// DirEntrySize is the length of an entry in a block.
func DirEntrySize(name string) int { return (8 + 1 + len(name) + 1 + 2 + 7) &^ 7 }

// Put writes an entry at an offset in its block.
func (e DirEntry) Put(block []byte, at int) {
	size := DirEntrySize(e.Name)
	c := cursor{b: block[at:][:size]}
	c.u64(e.Inode)
	c.u8(uint8(len(e.Name)))
	c.bytes([]byte(e.Name))
	c.u8(uint8(e.Type))
	be.PutUint16(block[at+size-2:], uint16(at))
}

// PutDirFree marks free space of a block of entries.
func PutDirFree(block []byte, at, length int) {
	be.PutUint16(block[at:], dirUnusedTag)
	be.PutUint16(block[at+2:], uint16(length))
	be.PutUint16(block[at+length-dirUnusedTagAt:], uint16(at))
}

// DirIndex is an entry of a directory's index: a name's hash and its place.
type DirIndex struct{ Hash, Address uint32 }

// Put writes the entry.
func (i DirIndex) Put(b []byte) {
	c := cursor{b: b}
	c.u32(i.Hash)
	c.u32(i.Address)
}

// PutDirTail writes the count of index entries that a directory of one block ends with.
func PutDirTail(block []byte, count int) {
	c := cursor{b: block[len(block)-DirBlockTail:]}
	c.u32(uint32(count))
	c.u32(0)
}

// DirIndexBlock heads a block of a directory's index, a leaf or a node.
type DirIndexBlock struct {
	Forward, Back uint32 // neighbours, in blocks from the directory's start
	Magic         uint16
	CRC           uint32
	Blkno         uint64 // a daddr
	LSN           uint64
	UUID          UUID
	Owner         uint64
	Count         uint16
	Level         uint16 // of a node; in a leaf the number of stale entries
}

// Put writes the header, unsealed.
func (d *DirIndexBlock) Put(b []byte) {
	c := cursor{b: b}
	c.u32(d.Forward)
	c.u32(d.Back)
	c.u16(d.Magic)
	c.zero(2 + 4)
	c.u64(d.Blkno)
	c.u64(d.LSN)
	c.uuid(&d.UUID)
	c.u64(d.Owner)
	c.u16(d.Count)
	c.u16(d.Level)
	c.zero(4)
}

// DecodeDirIndexBlock reads a header.
func DecodeDirIndexBlock(b []byte) (d DirIndexBlock, ok bool) {
	if len(b) < DirIndexHeader {
		return d, false
	}
	c := cursor{b: b}
	d.Forward, d.Back, d.Magic = c.get32(), c.get32(), c.get16()
	c.next(2)
	d.CRC, d.Blkno, d.LSN, d.UUID, d.Owner = c.getCRC(), c.get64(), c.get64(), c.getUUID(), c.get64()
	d.Count, d.Level = c.get16(), c.get16()
	return d, d.Magic == DirLeafMagic || d.Magic == DirLeafNMagic || d.Magic == DirNodeMagic
}

// DirFree heads a list of the free space in blocks of entries.
type DirFree struct {
	CRC         uint32
	Blkno       uint64 // a daddr
	LSN         uint64
	UUID        UUID
	Owner       uint64
	First       uint32 // number of the first block that is listed
	Count, Used uint32 // of slots, and of those that stand for a block
}

// Put writes the header, unsealed.
func (d *DirFree) Put(b []byte) {
	c := cursor{b: b}
	c.u32(DirFreeMagic)
	c.zero(4)
	c.u64(d.Blkno)
	c.u64(d.LSN)
	c.uuid(&d.UUID)
	c.u64(d.Owner)
	c.u32(d.First)
	c.u32(d.Count)
	c.u32(d.Used)
	c.zero(4)
}

// DecodeDirFree reads a header.
func DecodeDirFree(b []byte) (d DirFree, ok bool) {
	if len(b) < DirFreeHeader || be.Uint32(b) != DirFreeMagic {
		return d, false
	}
	c := cursor{b: b, at: 4}
	d.CRC, d.Blkno, d.LSN, d.UUID, d.Owner = c.getCRC(), c.get64(), c.get64(), c.getUUID(), c.get64()
	d.First, d.Count, d.Used = c.get32(), c.get32(), c.get32()
	return d, true
}

// PutDirBests writes the longest free space of each block of entries to the
// end of an index that is one leaf.
func PutDirBests(block []byte, bests []int) {
	at := len(block) - 4 - 2*len(bests)
	PutDirFreeList(block[at:], bests)
	be.PutUint32(block[len(block)-4:], uint32(len(bests)))
}

// PutDirFreeList writes the longest free space of each of some blocks.
func PutDirFreeList(b []byte, bests []int) {
	for i, n := range bests {
		be.PutUint16(b[2*i:], uint16(n))
	}
}
