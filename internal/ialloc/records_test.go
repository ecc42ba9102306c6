package ialloc_test

import (
	"testing"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// records lists what the inobt or the finobt of an AG has, and compares the number of its
// blocks with that in the AGI, if there is one.
func records(t testing.TB, fs *live.FS, agno geometry.AGNumber, free bool) (list []ondisk.InodeRecord) {
	t.Helper()
	tr := fs.Begin(0)
	agi, err := tr.AGI(agno)
	must(t, err)
	kind, counted := btree.Inobt, agi.Blocks()
	at, levels := agi.Root()
	if free {
		kind, counted = btree.Finobt, agi.FreeBlocks()
		at, levels = agi.FreeRoot()
	}
	tree := btree.Tree{Kind: kind, AG: agno, Root: fixed{uint64(at), int(levels)}}
	if n, err := tree.Blocks(tr); err != nil || fs.G.Features.InobtCount && uint64(n) != uint64(counted) {
		t.Errorf("the %s of AG %d has %d blocks, and the AGI counts %d: %v", kind.Name, agno, n, counted, err)
	}
	c := tree.Cursor(tr)
	var zero [ondisk.InodeRecordSize]byte
	ok, err := c.Lookup(btree.GE, zero[:])
	for ; err == nil && ok; ok, err = c.Next() {
		b, _ := c.Record()
		list = append(list, ondisk.DecodeInodeRecord(b, fs.G.Features.Sparse))
	}
	must(t, err)
	must(t, tr.Commit())
	return list
}

// fixed is a root that stays.
type fixed struct {
	at     uint64
	levels int
}

func (f fixed) Root() (uint64, int)                           { return f.at, f.levels }
func (fixed) SetRoot(*live.Trans, uint64, int) error          { panic("a test only looks") }
func (fixed) Alloc(*live.Trans, uint64) (uint64, bool, error) { panic("a test only looks") }
func (fixed) Free(*live.Trans, uint64) error                  { panic("a test only looks") }
