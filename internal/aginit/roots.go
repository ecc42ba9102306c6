package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// root writes the header of a btree root that is a leaf of so many records and
// returns the place of the records.
func (b *Builder) root(p *placed, ag *geometry.AG, records int, dst []byte) []byte {
	h := ondisk.BtreeBlock{
		Magic: p.magic, Records: uint16(records),
		Left: geometry.NullAGBlock, Right: geometry.NullAGBlock,
		Blkno: uint64(b.g.Daddr(ag.Number, b.rootBlock(p))),
		UUID:  b.id.UUID, Owner: uint32(ag.Number),
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

func (b *Builder) bnobt(p *placed, ag *geometry.AG, dst []byte) {
	b.freeExtents(p, ag, &ag.Free.ByStart, dst)
}

func (b *Builder) cntbt(p *placed, ag *geometry.AG, dst []byte) {
	b.freeExtents(p, ag, &ag.Free.BySize, dst)
}

// freeExtents writes records, and behind them what removed ones left.
func (b *Builder) freeExtents(p *placed, ag *geometry.AG, free *geometry.Records[geometry.Extent], dst []byte) {
	at := b.root(p, ag, len(free.Live()), dst)
	for i, e := range free.Slots() {
		ondisk.AllocRecord{Start: uint32(e.Start), Blocks: uint32(e.Blocks)}.Put(at[i*ondisk.AllocRecordSize:])
	}
}

func (b *Builder) refcountbt(p *placed, ag *geometry.AG, dst []byte) { b.root(p, ag, 0, dst) }
