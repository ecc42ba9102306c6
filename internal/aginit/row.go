package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// row is one header structure of an AG.
type row struct {
	name string
	// root places a btree root; the other structures have a sector each, in
	// the order of the table.
	root  func(geometry.Roots) geometry.AGBlock
	magic ondisk.BtreeMagic // of a btree root
	// build writes the structure for an AG into its zeroed place, unsealed.
	build func(*Builder, *placed, *ag, []byte)
	// patch makes a structure of one plain AG that of another. nil: all are equal.
	patch func(*Builder, *placed, geometry.AGNumber, []byte)
	head  int // patch changes nothing from this offset on
	crc   int // offset of the checksum
}

// The structures of an AG in disk order. A new btree root is a row and a function.
var sectorRows = []row{
	{name: "superblock", build: (*Builder).superblock, crc: ondisk.SuperblockCRC},
	{name: "AGF", build: (*Builder).agf, patch: (*Builder).patchAGF, head: ondisk.AGFSeqnoEnd, crc: ondisk.AGFCRC},
	{name: "AGI", build: (*Builder).agi, patch: (*Builder).patchAGI, head: ondisk.AGISeqnoEnd, crc: ondisk.AGICRC},
	{name: "AGFL", build: (*Builder).agfl, patch: (*Builder).patchAGFL, head: ondisk.AGFLSeqnoEnd, crc: ondisk.AGFLCRC},
}

var rootRows = []row{
	{name: "bnobt root", root: func(r geometry.Roots) geometry.AGBlock { return r.Bno }, magic: ondisk.BnoMagic,
		build: (*Builder).bnobt},
	{name: "cntbt root", root: func(r geometry.Roots) geometry.AGBlock { return r.Cnt }, magic: ondisk.CntMagic,
		build: (*Builder).cntbt},
	{name: "inobt root", root: func(r geometry.Roots) geometry.AGBlock { return r.Ino }, magic: ondisk.InoMagic,
		build: (*Builder).emptyRoot},
	{name: "finobt root", root: func(r geometry.Roots) geometry.AGBlock { return r.Fino }, magic: ondisk.FinoMagic,
		build: (*Builder).emptyRoot},
	{name: "rmapbt root", root: func(r geometry.Roots) geometry.AGBlock { return r.Rmap }, magic: ondisk.RmapMagic,
		build: (*Builder).rmapbt},
	{name: "refcountbt root", root: func(r geometry.Roots) geometry.AGBlock { return r.Refcount },
		magic: ondisk.RefcountMagic, build: (*Builder).emptyRoot},
}

// magicV4 maps the btrees that V4 has to their magic numbers there.
var magicV4 = map[ondisk.BtreeMagic]ondisk.BtreeMagic{
	ondisk.BnoMagic: ondisk.BnoMagicV4,
	ondisk.CntMagic: ondisk.CntMagicV4,
	ondisk.InoMagic: ondisk.InoMagicV4,
}

// placed is a row with its place in the AG, in bytes.
type placed struct {
	row
	at, size int
	reseal   *ondisk.Resealer // of a patched copy; nil for V4, which has no checksums
}

func (p *placed) in(header []byte) []byte { return header[p.at : p.at+p.size] }

// padTo is how far into the first block zeros follow the header sectors. That
// makes one write of them and the btree roots where a block is no larger. In a
// larger one what lies behind stays as it is: zeros would only take space.
const padTo = 4096

// rows is the table for one filesystem: only what it has, and where.
func (b *Builder) rows() []placed {
	g := b.g
	sector, block := int(g.SectorSize), int(g.BlockSize)
	list := make([]placed, 0, len(sectorRows)+1+len(rootRows))
	for i, r := range sectorRows {
		list = append(list, placed{row: r, at: i * sector, size: sector})
	}
	if end := len(sectorRows) * sector; end < min(block, padTo) {
		list = append(list, placed{row: row{name: "header padding"}, at: end, size: min(block, padTo) - end})
	}
	roots := g.Roots()
	for _, r := range rootRows {
		at := r.root(roots)
		switch {
		case at == 0:
			continue
		case b.v5():
			r.patch, r.head, r.crc = (*Builder).patchRoot, ondisk.BtreeAddressEnd, ondisk.BtreeCRC
		default:
			r.magic = magicV4[r.magic]
		}
		list = append(list, placed{row: r, at: int(at) * block, size: block})
	}
	return list
}
