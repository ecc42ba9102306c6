package live

import (
	"errors"
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// AGI is the head of an AG's inodes, in its buffer. Whoever changes it says so with
// Dirty of the transaction that it came from.
type AGI struct {
	ondisk.AGIBlock
	Buf *buffer.Buf
}

// AGI returns the AGI of an AG, which stays until the transaction ends.
func (t *Trans) AGI(agno geometry.AGNumber) (AGI, error) {
	b, err := t.header(agno, agiSector, t.kindAGI())
	if err != nil {
		return AGI{}, err
	}
	return AGI{b.Data, b}, nil
}

// InodeCounts are the number of inodes in an AG and how many of them are free. The
// AGI does not stay.
func (fs *FS) InodeCounts(agno geometry.AGNumber) (inodes, free uint32, err error) {
	err = fs.peek(agno, agiSector, fs.kindAGI(), func(b []byte) {
		inodes, free = ondisk.AGIBlock(b).Count(), ondisk.AGIBlock(b).FreeCount()
	})
	return inodes, free, err
}

// SpaceCounts are the number of blocks in the free extents of an AG, the length of the
// longest, and the length of its free list, as the AGF has them. It does not stay.
func (fs *FS) SpaceCounts(agno geometry.AGNumber) (free, longest, listed geometry.Blocks, err error) {
	err = fs.peek(agno, agfSector, fs.kindAGF(), func(b []byte) {
		get := func(f ondisk.Field32) geometry.Blocks { return geometry.Blocks(f.Get(b)) }
		free, longest, listed = get(ondisk.AGFFreeBlocks), get(ondisk.AGFLongest), get(ondisk.AGFFreeCount)
	})
	return free, longest, listed, err
}

// peek shows one of an AG's header sectors, which does not stay.
func (fs *FS) peek(agno geometry.AGNumber, sector int64, k *buffer.Kind, show func(b []byte)) error {
	b, err := fs.Cache.Get(fs.sector(agno, sector), int(fs.G.SectorSize), k)
	if err != nil {
		return err
	}
	defer fs.Cache.Unpin(b)
	if b.Kind != k {
		return fmt.Errorf("%s of AG %d: its block is in use as %s", k.Name, agno, b.Kind.Name)
	}
	show(b.Data)
	return nil
}

// kindAGI is the kind of AGIs.
func (fs *FS) kindAGI() *buffer.Kind {
	if fs.kinds.agi == nil {
		fs.kinds.agi = &buffer.Kind{Name: "AGI", Check: fs.checkAGI, Seal: fs.sealer(ondisk.AGICRC)}
	}
	return fs.kinds.agi
}

// checkAGI tells what is wrong with an AGI. (xfs_agi_verify in libxfs, which looks at the
// lists of unlinked inodes as well; these are looked at when they are used.)
func (fs *FS) checkAGI(data []byte, off int64) error {
	agno, _ := fs.at(off)
	b := ondisk.AGIBlock(data)
	most := fs.Heights().Inode
	_, levels := b.Root()
	_, freeLevels := b.FreeRoot()
	switch {
	case !b.IsAGI() || b.Version() != ondisk.AGHeaderVersion:
		return fmt.Errorf("no AGI: magic number %#x, version %d", ondisk.FirstWord(b), b.Version())
	case fs.V5 && !ondisk.Sealed(b, ondisk.AGICRC):
		return errors.New("the checksum is wrong")
	case fs.V5 && b.UUID() != fs.UUID:
		return fmt.Errorf("UUID %x is another filesystem's", b.UUID())
	case b.Seqno() != uint32(agno):
		return fmt.Errorf("says it is of AG %d", b.Seqno())
	case geometry.Blocks(b.Length()) != fs.G.AGLength(agno):
		return fmt.Errorf("AG of %d blocks, where it has %d", b.Length(), fs.G.AGLength(agno))
	case levels < 1 || uint64(levels) > most:
		return fmt.Errorf("the inobt has %d levels, of %d at most", levels, most)
	case fs.G.Features.Finobt && (freeLevels < 1 || uint64(freeLevels) > most):
		return fmt.Errorf("the finobt has %d levels, of %d at most", freeLevels, most)
	case b.FreeCount() > b.Count():
		return fmt.Errorf("of %d inodes %d are free", b.Count(), b.FreeCount())
	}
	return nil
}

// InodeChunk is how inodes are allocated and kept in memory.
func (fs *FS) InodeChunk() *geometry.InodeChunk {
	if fs.chunk.Blocks == 0 {
		fs.chunk = fs.G.InodeChunk()
	}
	return &fs.chunk
}
