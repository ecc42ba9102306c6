package inode

import (
	"fmt"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// chunkOf finds the first block of an inode's chunk in the inobt (xfs_imap_lookup).
func chunkOf(t *live.Trans, agno geometry.AGNumber, agino uint32) (geometry.AGBlock, error) {
	agi, err := t.AGI(agno)
	if err != nil {
		return 0, err
	}
	tree := btree.Tree{Kind: btree.Inobt, AG: agno, Root: inobt{agi}}
	var want [ondisk.InodeRecordSize]byte
	ondisk.InodeRecord{Start: agino}.Put(want[:])
	c := tree.Cursor(t)
	ok, err := c.Lookup(btree.LE, want[:])
	if err != nil {
		return 0, err
	}
	if b, is := c.Record(); ok && is {
		start := ondisk.DecodeInodeRecord(b, t.G.Features.Sparse).Start
		if agino-start < uint32(t.G.ChunkInodes()) {
			return geometry.AGBlock(start >> t.G.InodeBlockLog()), nil
		}
	}
	return 0, fmt.Errorf("the inobt of AG %d has no record of it", agno)
}

// inobt is the root of an inobt that is only looked at.
type inobt struct{ live.AGI }

// Root is of btree.Root.
func (r inobt) Root() (ptr uint64, levels int) {
	at, n := r.AGI.Root()
	return uint64(at), int(n)
}

// SetRoot is of btree.Root.
func (inobt) SetRoot(*live.Trans, uint64, int) error { panic("inode: an inobt is only looked at") }

// Alloc is of btree.Root.
func (inobt) Alloc(*live.Trans, uint64) (uint64, bool, error) {
	panic("inode: an inobt is only looked at")
}

// Free is of btree.Root.
func (inobt) Free(*live.Trans, uint64) error { panic("inode: an inobt is only looked at") }
