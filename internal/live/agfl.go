package live

import (
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// ListLen is the number of blocks on the free list.
func (a AGF) ListLen() geometry.Blocks { return geometry.Blocks(a.Get(ondisk.AGFFreeCount)) }

// TakeListed takes the first block off the free list; false tells that it is empty.
// tree says that a btree of free space or of owners takes it. The slot keeps its
// number. (xfs_alloc_get_freelist in libxfs.)
func (a AGF) TakeListed(tree bool) (at geometry.AGBlock, ok bool, err error) {
	if a.ListLen() == 0 {
		return 0, false, nil
	}
	_, slots, err := a.list()
	if err != nil {
		return 0, false, err
	}
	first := a.Get(ondisk.AGFFreeFirst)
	at = geometry.AGBlock(ondisk.FreeListEntry(slots, int(first)))
	if !a.Has(at, 1) {
		return 0, false, a.Errorf("AGFL", "block %d in slot %d", at, first)
	}
	a.Set(ondisk.AGFFreeFirst, a.next(first))
	a.Add(ondisk.AGFFreeCount, -1)
	if tree {
		a.Add(ondisk.AGFBtreeBlocks, 1)
	}
	return at, true, nil
}

// PutListed puts a block at the end of the free list. tree says that it was one of a
// btree of free space or of owners. (xfs_alloc_put_freelist in libxfs.)
func (a AGF) PutListed(at geometry.AGBlock, tree bool) error {
	buf, slots, err := a.list()
	if err != nil {
		return err
	}
	if a.ListLen() >= geometry.Blocks(a.t.listSlots()) {
		return a.Errorf("AGFL", "no slot is left for block %d", at)
	}
	last := a.next(a.Get(ondisk.AGFFreeLast))
	a.Set(ondisk.AGFFreeLast, last)
	a.Add(ondisk.AGFFreeCount, 1)
	if tree {
		a.Add(ondisk.AGFBtreeBlocks, -1)
	}
	ondisk.SetFreeListEntry(slots, int(last), uint32(at))
	a.t.Dirty(buf)
	return nil
}

// Listed lists the blocks on the free list, the first one first.
func (a AGF) Listed() (blocks []geometry.AGBlock, err error) {
	_, slots, err := a.list()
	if err != nil {
		return nil, err
	}
	for i, n := a.Get(ondisk.AGFFreeFirst), a.ListLen(); n > 0; i, n = a.next(i), n-1 {
		blocks = append(blocks, geometry.AGBlock(ondisk.FreeListEntry(slots, int(i))))
	}
	return blocks, nil
}

// list gets the AGFL, and its slots.
func (a AGF) list() (*buffer.Buf, []byte, error) {
	buf, err := a.t.header(a.AG, agflSector, a.t.kindAGFL())
	if err != nil {
		return nil, nil, err
	}
	return buf, ondisk.FreeList(buf.Data, a.t.V5), nil
}

// next is the slot behind another, in the ring of them.
func (a AGF) next(slot uint32) uint32 {
	if slot++; slot == uint32(a.t.listSlots()) {
		return 0
	}
	return slot
}

// listSlots is the number of slots that a free list has.
func (fs *FS) listSlots() int {
	n := int(fs.G.SectorSize)
	if fs.V5 {
		n -= ondisk.AGFLSize
	}
	return n / 4
}

// kindAGFL is the kind of AGFLs.
func (fs *FS) kindAGFL() *buffer.Kind {
	if fs.kinds.agfl == nil {
		k := &buffer.Kind{Name: "AGFL"}
		if fs.V5 { // others have no header, and what is in unused slots means nothing
			k.Check, k.Seal = fs.checkAGFL, fs.sealer(ondisk.AGFLCRC)
		}
		fs.kinds.agfl = k
	}
	return fs.kinds.agfl
}

// checkAGFL tells what is wrong with an AGFL. (xfs_agfl_verify in libxfs.)
func (fs *FS) checkAGFL(b []byte, off int64) error {
	agno, _ := fs.at(off)
	a, ok := ondisk.DecodeAGFL(b)
	switch {
	case !ok:
		return fmt.Errorf("no AGFL: magic number %#x", ondisk.Field32(0).Get(b))
	case !ondisk.Sealed(b, ondisk.AGFLCRC):
		return fmt.Errorf("wrong checksum %#x", a.CRC)
	case a.UUID != fs.UUID:
		return fmt.Errorf("UUID %x is another filesystem's", a.UUID)
	case a.Seqno != uint32(agno):
		return fmt.Errorf("says it is of AG %d", a.Seqno)
	}
	slots := ondisk.FreeList(b, true)
	for i := range fs.listSlots() {
		at := ondisk.FreeListEntry(slots, i)
		if at != geometry.NullAGBlock && geometry.Blocks(at) >= fs.G.AGBlocks {
			return fmt.Errorf("block %d in slot %d", at, i)
		}
	}
	return nil
}
