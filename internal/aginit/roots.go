package aginit

import (
	"math"
	"slices"

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

// rmapbt lists every used extent with its owner; neighbours of one owner are one.
func (b *Builder) rmapbt(p *placed, ag *geometry.AG, dst []byte) {
	records := b.owners(ag)
	at := b.root(p, ag, len(records), dst)
	for i, rec := range records {
		rec.Put(at[i*ondisk.RmapRecordSize:])
	}
}

// owners collects an AG's used extents in disk order.
func (b *Builder) owners(ag *geometry.AG) []ondisk.RmapRecord {
	roots := b.g.Roots()
	var list []ondisk.RmapRecord
	addAt := func(start geometry.AGBlock, blocks geometry.Blocks, owner, offset uint64) {
		if blocks == 0 {
			return
		}
		i := len(list)
		for i > 0 && list[i-1].Start > uint32(start) {
			i--
		}
		if i > 0 {
			if left := &list[i-1]; left.Owner == owner && left.Start+left.Blocks == uint32(start) &&
				(int64(owner) < 0 || left.Offset+uint64(left.Blocks) == offset) {
				left.Blocks += uint32(blocks)
				return
			}
		}
		rec := ondisk.RmapRecord{Start: uint32(start), Blocks: uint32(blocks), Owner: owner, Offset: offset}
		list = slices.Insert(list, i, rec)
	}
	add := func(start geometry.AGBlock, blocks geometry.Blocks, owner uint64) { addAt(start, blocks, owner, 0) }
	add(0, b.g.SectorBlocks(), ondisk.OwnFS)
	add(roots.Bno, 2, ondisk.OwnAG)
	add(roots.Ino, geometry.Blocks(roots.Rmap-roots.Ino), ondisk.OwnInobt)
	add(roots.Rmap, 1, ondisk.OwnAG)
	if roots.Refcount != 0 {
		add(roots.Refcount, 1, ondisk.OwnRefcount)
	}
	add(ag.Log.Start, ag.Log.Blocks, ondisk.OwnLog)
	for _, agbno := range ag.FreeList {
		add(agbno, 1, ondisk.OwnAG)
	}
	for _, e := range ag.Chunks {
		add(e.Start, e.Blocks, ondisk.OwnInodes)
	}
	for _, e := range ag.Owned {
		addAt(e.Start, e.Blocks, uint64(e.Inode), uint64(e.Offset))
	}
	return list
}

func (b *Builder) refcountbt(p *placed, ag *geometry.AG, dst []byte) { b.root(p, ag, 0, dst) }
