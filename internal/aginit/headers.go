package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

func (b *Builder) agf(_ *placed, of *ag, dst []byte) {
	roots, f := b.g.Roots(), &b.g.Features
	a := ondisk.AGF{
		Seqno: uint32(of.number), Length: uint32(of.length),
		BnoRoot: uint32(roots.Bno), CntRoot: uint32(roots.Cnt),
		BnoLevel: 1, CntLevel: 1,
		FreeFirst: freeListFirst, FreeLast: uint32(freeListFirst + len(of.freeList) - 1), FreeCount: uint32(len(of.freeList)),
		FreeBlocks: uint32(of.free.total()), Longest: uint32(of.free.longest),
		UUID: b.metaUUID(),
	}
	if f.Rmapbt {
		a.RmapRoot, a.RmapLevel, a.RmapBlocks = uint32(roots.Rmap), 1, 1
	}
	if f.Reflink {
		a.RefcountRoot, a.RefcountLevel, a.RefcountBlocks = uint32(roots.Refcount), 1, 1
	}
	a.Put(dst)
}

func (b *Builder) agi(_ *placed, of *ag, dst []byte) {
	roots, f := b.g.Roots(), &b.g.Features
	a := ondisk.AGI{
		Seqno: uint32(of.number), Length: uint32(of.length),
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
	a.Put(dst)
}

func (b *Builder) agfl(_ *placed, of *ag, dst []byte) {
	if b.v5() {
		a := ondisk.AGFL{Seqno: uint32(of.number), UUID: b.id.UUID}
		a.Put(dst)
	}
	slots := []uint32{geometry.NullAGBlock}
	for _, agbno := range of.freeList {
		slots = append(slots, uint32(agbno))
	}
	ondisk.PutFreeList(ondisk.FreeList(dst, b.v5()), slots)
}

// freeListFirst is the slot at which a new free list begins.
const freeListFirst = 1

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
