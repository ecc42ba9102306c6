package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// freeListFirst is the index at which a fresh free list begins.
const freeListFirst = 1

func (b *Builder) agf(_ *placed, ag *geometry.AG, dst []byte) {
	roots, f := b.g.Roots(), &b.g.Features
	a := ondisk.AGF{
		Seqno: uint32(ag.Number), Length: uint32(ag.Length),
		BnoRoot: uint32(roots.Bno), CntRoot: uint32(roots.Cnt), RmapRoot: uint32(roots.Rmap),
		BnoLevel: 1, CntLevel: 1,
		FreeFirst: freeListFirst, FreeCount: uint32(len(ag.FreeList)),
		FreeLast:   uint32(freeListFirst + len(ag.FreeList) - 1),
		FreeBlocks: uint32(ag.Free.Total()), Longest: uint32(ag.Free.Longest),
		UUID: b.metaUUID(),
	}
	if f.Rmapbt {
		a.RmapLevel, a.RmapBlocks = 1, 1
	}
	if f.Reflink {
		a.RefcountRoot, a.RefcountLevel, a.RefcountBlocks = uint32(roots.Refcount), 1, 1
	}
	a.Put(dst)
}

func (b *Builder) agi(_ *placed, ag *geometry.AG, dst []byte) {
	roots, f := b.g.Roots(), &b.g.Features
	a := ondisk.AGI{
		Seqno: uint32(ag.Number), Length: uint32(ag.Length),
		Root: uint32(roots.Ino), Level: 1,
		NewInode: geometry.NullAGInode, DirInode: geometry.NullAGInode,
		UUID: b.metaUUID(),
	}
	for i := range a.Unlinked {
		a.Unlinked[i] = geometry.NullAGInode
	}
	if f.Finobt {
		a.FreeRoot, a.FreeLevel = uint32(roots.Fino), 1
	}
	if f.InobtCount {
		a.InodeBlocks, a.FreeBlocks = 1, 1
	}
	a.Count, a.FreeCount = ag.InodeCounts()
	if n := len(ag.Chunks); n > 0 {
		a.NewInode = uint32(ag.Chunks[n-1].Start) << b.g.InodeBlockLog()
	}
	a.Put(dst)
}

func (b *Builder) agfl(_ *placed, ag *geometry.AG, dst []byte) {
	if b.v5() {
		a := ondisk.AGFL{Seqno: uint32(ag.Number), UUID: b.id.UUID}
		a.Put(dst)
	}
	list := make([]uint32, len(ag.FreeList))
	for i, agbno := range ag.FreeList {
		list[i] = uint32(agbno)
	}
	ondisk.PutFreeList(ondisk.FreeList(dst, b.v5()), freeListFirst, list)
}

// patchAGF, patchAGI and patchAGFL renumber a header.
func (b *Builder) patchAGF(_ *placed, agno geometry.AGNumber, dst []byte) {
	ondisk.SetAGFSeqno(dst, uint32(agno))
}

func (b *Builder) patchAGI(_ *placed, agno geometry.AGNumber, dst []byte) {
	ondisk.SetAGISeqno(dst, uint32(agno))
}

func (b *Builder) patchAGFL(_ *placed, agno geometry.AGNumber, dst []byte) {
	if b.v5() { // V4 has no header
		ondisk.SetAGFLSeqno(dst, uint32(agno))
	}
}
