package aginit

import (
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

func (b *Builder) agf(_ *placed, ag *geometry.AG, dst []byte) {
	roots, f := b.g.Roots(), &b.g.Features
	a := ondisk.AGF{
		Seqno: uint32(ag.Number), Length: uint32(ag.Length),
		BnoRoot: uint32(roots.Bno), CntRoot: uint32(roots.Cnt),
		BnoLevel: 1, CntLevel: 1,
		FreeFirst: uint32(ag.FreeList.First), FreeLast: uint32(ag.FreeList.Last()), FreeCount: uint32(ag.FreeList.Count),
		FreeBlocks: uint32(ag.Free.Total()), Longest: uint32(ag.Free.Longest),
		UUID: b.metaUUID(),
	}
	if f.Rmapbt {
		t := ag.Owners
		a.RmapRoot, a.RmapLevel, a.RmapBlocks = uint32(t.Root().At), uint32(t.Levels()), uint32(t.Blocks())
		a.BtreeBlocks = a.RmapBlocks - 1 // all but the roots of a new AG
	}
	if f.Reflink {
		a.RefcountRoot, a.RefcountLevel, a.RefcountBlocks = uint32(roots.Refcount), 1, 1
	}
	a.Put(dst)
}

func (b *Builder) agi(_ *placed, ag *geometry.AG, dst []byte) {
	f := &b.g.Features
	a := ondisk.AGI{
		Seqno: uint32(ag.Number), Length: uint32(ag.Length),
		Root: uint32(ag.Inodes.Root().At), Level: uint32(ag.Inodes.Levels()),
		NewInode: ag.NewInode, DirInode: geometry.NullAGInode,
		UUID: b.metaUUID(),
	}
	for i := range a.Unlinked {
		a.Unlinked[i] = geometry.NullAGInode
	}
	if f.Finobt {
		a.FreeRoot, a.FreeLevel = uint32(ag.FreeInodes.Root().At), uint32(ag.FreeInodes.Levels())
	}
	if f.InobtCount {
		a.InodeBlocks, a.FreeBlocks = uint32(ag.Inodes.Blocks()), uint32(ag.FreeInodes.Blocks())
	}
	a.Count, a.FreeCount = ag.InodeCounts()
	a.Put(dst)
}

func (b *Builder) agfl(_ *placed, ag *geometry.AG, dst []byte) {
	if b.v5() {
		a := ondisk.AGFL{Seqno: uint32(ag.Number), UUID: b.id.UUID}
		a.Put(dst)
	}
	slots := make([]uint32, len(ag.FreeList.Slots))
	for i, agbno := range ag.FreeList.Slots {
		slots[i] = uint32(agbno)
	}
	ondisk.PutFreeList(ondisk.FreeList(dst, b.v5()), slots)
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
