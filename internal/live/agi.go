package live

import (
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

// maxInodeLevels is more levels than a btree of inodes has anywhere.
const maxInodeLevels = 16

// AGI returns the AGI of an AG, which stays until the transaction ends.
func (t *Trans) AGI(agno geometry.AGNumber) (AGI, error) {
	off, n, err := t.agiPlace(agno)
	if err != nil {
		return AGI{}, err
	}
	b, err := t.Get(off, n, t.agiKind())
	if err != nil {
		return AGI{}, err
	}
	return t.agi(agno, b)
}

// InodeCounts are the number of inodes in an AG and how many of them are free. The
// AGI does not stay.
func (fs *FS) InodeCounts(agno geometry.AGNumber) (inodes, free uint32, err error) {
	off, n, err := fs.agiPlace(agno)
	if err != nil {
		return 0, 0, err
	}
	b, err := fs.Cache.Get(off, n, fs.agiKind())
	if err != nil {
		return 0, 0, err
	}
	defer fs.Cache.Unpin(b)
	a, err := fs.agi(agno, b)
	if err != nil {
		return 0, 0, err
	}
	return a.Count(), a.FreeCount(), nil
}

// agiPlace is where an AGI is: the third sector of its AG.
func (fs *FS) agiPlace(agno geometry.AGNumber) (off int64, n int, err error) {
	if agno >= fs.G.AGCount {
		return 0, 0, fmt.Errorf("AG %d: there are %d", agno, fs.G.AGCount)
	}
	return fs.Offset(agno, 0) + 2*int64(fs.G.SectorSize), int(fs.G.SectorSize), nil
}

// agi checks that a block is the AGI of an AG: it may have been read as something
// else, or be that of another.
func (fs *FS) agi(agno geometry.AGNumber, b *buffer.Buf) (AGI, error) {
	a := AGI{b.Data, b}
	switch {
	case !a.IsAGI():
		return a, fmt.Errorf("AGI of AG %d: its block is in use as %s", agno, b.Kind.Name)
	case a.Seqno() != uint32(agno):
		return a, fmt.Errorf("AGI of AG %d: it says that it is that of AG %d", agno, a.Seqno())
	case a.Length() != uint32(fs.G.AGLength(agno)):
		return a, fmt.Errorf("AGI of AG %d: it says that the AG has %d blocks, not %d", agno, a.Length(),
			fs.G.AGLength(agno))
	}
	return a, nil
}

// agiKind makes the kind of AGIs of this filesystem, whose checks are those of
// xfs_agi_verify in libxfs but for what depends on the AG.
func (fs *FS) agiKind() *buffer.Kind {
	if fs.kinds.agi != nil {
		return fs.kinds.agi
	}
	k := &buffer.Kind{Name: "AGI", Check: func(b []byte, _ int64) error { return fs.checkAGI(b) }}
	if fs.V5 {
		k.Seal = func(b []byte) { ondisk.Seal(b, ondisk.AGICRC) }
	}
	fs.kinds.agi = k
	return k
}

func (fs *FS) checkAGI(b ondisk.AGIBlock) error {
	switch {
	case fs.V5 && !ondisk.Sealed(b, ondisk.AGICRC):
		return fmt.Errorf("the checksum is wrong")
	case !b.IsAGI():
		return fmt.Errorf("the magic number is %#x, not %#x", ondisk.FirstWord(b), ondisk.AGIMagic)
	case b.Version() != ondisk.AGHeaderVersion:
		return fmt.Errorf("the version is %d, not %d", b.Version(), ondisk.AGHeaderVersion)
	case fs.V5 && b.UUID() != fs.UUID:
		return fmt.Errorf("the UUID is that of another filesystem")
	}
	if _, levels := b.Root(); levels < 1 || levels > maxInodeLevels {
		return fmt.Errorf("the inobt has %d levels", levels)
	}
	if _, levels := b.FreeRoot(); fs.G.Features.Finobt && (levels < 1 || levels > maxInodeLevels) {
		return fmt.Errorf("the finobt has %d levels", levels)
	}
	if b.FreeCount() > b.Count() {
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
