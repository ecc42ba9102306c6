package live

import (
	"fmt"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
)

// AGF is the header of an AG's free space, and its free list, within a transaction.
// Numbers are read and changed in the block.
type AGF struct {
	AG geometry.AGNumber

	t   *Trans
	buf *buffer.Buf
}

// AGF gets the AGF of an AG.
func (t *Trans) AGF(agno geometry.AGNumber) (AGF, error) {
	buf, err := t.header(agno, agfSector, t.kindAGF())
	return AGF{AG: agno, t: t, buf: buf}, err
}

// header gets one of an AG's header sectors. A damaged filesystem may use its block
// for something else as well.
func (t *Trans) header(agno geometry.AGNumber, sector int64, k *buffer.Kind) (*buffer.Buf, error) {
	if agno >= t.G.AGCount {
		return nil, fmt.Errorf("%s of AG %d: there are %d AGs", k.Name, agno, t.G.AGCount)
	}
	buf, err := t.Get(t.sector(agno, sector), int(t.G.SectorSize), k)
	if err != nil {
		return nil, err
	}
	if buf.Kind != k {
		return nil, fmt.Errorf("%s of AG %d: its block is in use as %s", k.Name, agno, buf.Kind.Name)
	}
	return buf, nil
}

// The sectors of an AG's headers.
const (
	agfSector = iota + 1
	agiSector
	agflSector
)

// sector is the place of a header.
func (fs *FS) sector(agno geometry.AGNumber, i int64) int64 {
	return fs.Offset(agno, 0) + i*int64(fs.G.SectorSize)
}

// Get reads a number.
func (a AGF) Get(f ondisk.Field32) uint32 { return f.Get(a.buf.Data) }

// Set changes a number.
func (a AGF) Set(f ondisk.Field32, v uint32) {
	f.Set(a.buf.Data, v)
	a.t.Dirty(a.buf)
}

// Add changes a number by n, and returns it.
func (a AGF) Add(f ondisk.Field32, n int) uint32 {
	v := f.Add(a.buf.Data, n)
	a.t.Dirty(a.buf)
	return v
}

// Trans is the transaction.
func (a AGF) Trans() *Trans { return a.t }

// FreeBlocks is the number of blocks in free extents.
func (a AGF) FreeBlocks() geometry.Blocks { return geometry.Blocks(a.Get(ondisk.AGFFreeBlocks)) }

// Longest is the length of the longest free extent.
func (a AGF) Longest() geometry.Blocks { return geometry.Blocks(a.Get(ondisk.AGFLongest)) }

// Length is the number of blocks of the AG.
func (a AGF) Length() geometry.Blocks { return geometry.Blocks(a.Get(ondisk.AGFLength)) }

// Has tells whether n blocks from one on are within the AG, and behind its headers.
func (a AGF) Has(at geometry.AGBlock, n geometry.Blocks) bool {
	return n > 0 && geometry.Blocks(at) >= a.t.G.SectorBlocks() && n <= a.Length() && geometry.Blocks(at) <= a.Length()-n
}

// Errorf is an error of the AG's free space: what says which part of it.
func (a AGF) Errorf(what, format string, args ...any) error {
	return fmt.Errorf("%s of AG %d: %w", what, a.AG, fmt.Errorf(format, args...))
}

// kindAGF is the kind of AGFs.
func (fs *FS) kindAGF() *buffer.Kind {
	if fs.kinds.agf == nil {
		fs.kinds.agf = &buffer.Kind{Name: "AGF", Check: fs.checkAGF, Seal: fs.sealer(ondisk.AGFCRC)}
	}
	return fs.kinds.agf
}

// sealer puts a checksum at an offset; nil where blocks have none.
func (fs *FS) sealer(crc int) func([]byte) {
	if !fs.V5 {
		return nil
	}
	return func(b []byte) { ondisk.Seal(b, crc) }
}

// checkAGF tells what is wrong with an AGF. (xfs_agf_verify in libxfs. That takes a
// free list whose ends do not fit its length, and empties it.)
func (fs *FS) checkAGF(b []byte, off int64) error {
	agno, _ := fs.at(off)
	get := func(f ondisk.Field32) uint64 { return uint64(f.Get(b)) }
	a, ok := ondisk.DecodeAGF(b)
	switch {
	case !ok || get(ondisk.AGFVersion) != 1:
		return fmt.Errorf("no AGF: magic number %#x, version %d", get(0), get(ondisk.AGFVersion))
	case fs.V5 && !ondisk.Sealed(b, ondisk.AGFCRC):
		return fmt.Errorf("wrong checksum %#x", a.CRC)
	case fs.V5 && a.UUID != fs.UUID:
		return fmt.Errorf("UUID %x is another filesystem's", a.UUID)
	case a.Seqno != uint32(agno):
		return fmt.Errorf("says it is of AG %d", a.Seqno)
	case geometry.Blocks(a.Length) != fs.G.AGLength(agno):
		return fmt.Errorf("AG of %d blocks, where it has %d", a.Length, fs.G.AGLength(agno))
	case a.FreeBlocks > a.Length || a.Longest > a.FreeBlocks:
		return fmt.Errorf("%d free blocks, %d of them in one piece, of %d", a.FreeBlocks, a.Longest, a.Length)
	}
	if err := fs.checkList(&a); err != nil {
		return err
	}
	return fs.checkTrees(&a)
}

// checkList compares the ends of a free list with its length.
func (fs *FS) checkList(a *ondisk.AGF) error {
	n := uint64(fs.listSlots())
	first, last, count := uint64(a.FreeFirst), uint64(a.FreeLast), uint64(a.FreeCount)
	if first >= n || last >= n || count > n || count > 0 && (last+n-first)%n+1 != count {
		return fmt.Errorf("free list of %d blocks in slots %d to %d of %d", count, first, last, n)
	}
	return nil
}

// checkTrees compares heights and sizes of the trees with what they can be.
func (fs *FS) checkTrees(a *ondisk.AGF) error {
	most, f := fs.Heights(), &fs.G.Features
	for _, tree := range []struct {
		name         string
		there        bool
		level        uint32
		most         uint64
		root, blocks uint32
	}{
		{"bnobt", true, a.BnoLevel, most.Alloc, a.BnoRoot, a.BtreeBlocks},
		{"cntbt", true, a.CntLevel, most.Alloc, a.CntRoot, a.BtreeBlocks},
		{"rmapbt", f.Rmapbt, a.RmapLevel, most.Rmap, a.RmapRoot, a.RmapBlocks},
		{"refcountbt", f.Reflink, a.RefcountLevel, most.Refcount, a.RefcountRoot, a.RefcountBlocks},
	} {
		switch {
		case !tree.there:
		case tree.level < 1 || uint64(tree.level) > tree.most:
			return fmt.Errorf("%s of %d levels; it can have %d", tree.name, tree.level, tree.most)
		case tree.root >= a.Length || geometry.Blocks(tree.root) < fs.G.SectorBlocks():
			return fmt.Errorf("root of the %s at block %d", tree.name, tree.root)
		case tree.blocks > a.Length:
			return fmt.Errorf("%s of %d blocks, in an AG of %d", tree.name, tree.blocks, a.Length)
		}
	}
	return nil
}
