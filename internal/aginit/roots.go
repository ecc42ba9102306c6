package aginit

import (
	"math"

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

func (b *Builder) inobt(p *placed, ag *geometry.AG, dst []byte) {
	b.inodeRecords(p, ag, &ag.Inodes, dst)
}

func (b *Builder) finobt(p *placed, ag *geometry.AG, dst []byte) {
	b.inodeRecords(p, ag, &ag.FreeInodes, dst)
}

// inodeRecords writes records, and behind them what removed ones left.
func (b *Builder) inodeRecords(p *placed, ag *geometry.AG, list *geometry.Records[geometry.InodeRecord], dst []byte) {
	at := b.root(p, ag, len(list.Live()), dst)
	for i, r := range list.Slots() {
		ondisk.InodeRecord{
			Start: r.Start, Sparse: b.g.Features.Sparse, Count: geometry.InodesPerChunk,
			FreeCount: uint32(r.Free()), Free: math.MaxUint64 << r.Used,
		}.Put(at[i*ondisk.InodeRecordSize:])
	}
}

// owners are the numbers of owners that are no files.
var owners = map[geometry.Owner]uint64{
	geometry.OwnedByFS:       ondisk.OwnFS,
	geometry.OwnedByAG:       ondisk.OwnAG,
	geometry.OwnedByInobt:    ondisk.OwnInobt,
	geometry.OwnedByRefcount: ondisk.OwnRefcount,
	geometry.OwnedByLog:      ondisk.OwnLog,
	geometry.OwnedByInodes:   ondisk.OwnInodes,
}

// rmapbt lists every used extent with its owner.
func (b *Builder) rmapbt(p *placed, ag *geometry.AG, dst []byte) {
	list := b.g.Uses(ag)
	at := b.root(p, ag, len(list), dst)
	for i, u := range list {
		owner, other := owners[u.Owner]
		if !other {
			owner = uint64(u.Inode)
		}
		ondisk.RmapRecord{
			Start: uint32(u.Start), Blocks: uint32(u.Blocks), Owner: owner, Offset: uint64(u.Offset),
		}.Put(at[i*ondisk.RmapRecordSize:])
	}
}

func (b *Builder) refcountbt(p *placed, ag *geometry.AG, dst []byte) { b.root(p, ag, 0, dst) }
