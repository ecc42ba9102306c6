package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// root writes the header of a btree root that is a leaf of so many records and
// returns the place of the records.
func (b *Builder) root(p *placed, a *ag, records int, dst []byte) []byte {
	h := ondisk.BtreeBlock{
		Magic: p.magic, Records: uint16(records),
		Left: geometry.NullAGBlock, Right: geometry.NullAGBlock,
		Blkno: uint64(b.g.Daddr(a.number, b.rootBlock(p))),
		UUID:  b.id.UUID, Owner: uint32(a.number),
	}
	return dst[h.Put(dst, b.v5()):]
}

func (b *Builder) rootBlock(p *placed) geometry.AGBlock {
	return geometry.AGBlock(p.at >> b.g.BlockLog)
}

// patchRoot readdresses a V5 btree root; those of V4 do not know where they are.
func (b *Builder) patchRoot(p *placed, agno geometry.AGNumber, dst []byte) {
	ondisk.SetBtreeAddress(dst, uint64(b.g.Daddr(agno, b.rootBlock(p))), uint32(agno))
}

func (b *Builder) bnobt(p *placed, a *ag, dst []byte) { b.freeExtents(p, a, &a.free.byStart, dst) }

func (b *Builder) cntbt(p *placed, a *ag, dst []byte) { b.freeExtents(p, a, &a.free.bySize, dst) }

// freeExtents writes records, and behind them what removed ones left.
func (b *Builder) freeExtents(p *placed, a *ag, free *records[geometry.Extent], dst []byte) {
	at := b.root(p, a, free.live, dst)
	for i, e := range free.slots {
		ondisk.AllocRecord{Start: uint32(e.Start), Blocks: uint32(e.Blocks)}.Put(at[i*ondisk.AllocRecordSize:])
	}
}

// rmapbt lists all that is in use with its owner.
func (b *Builder) rmapbt(p *placed, a *ag, dst []byte) {
	at := b.root(p, a, a.owners.live, dst)
	for i, r := range a.owners.slots {
		r.Put(at[i*ondisk.RmapRecordSize:])
	}
}

// emptyRoot is the root of a btree that has no records yet.
func (b *Builder) emptyRoot(p *placed, a *ag, dst []byte) { b.root(p, a, 0, dst) }
