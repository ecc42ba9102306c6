package ondisk

import (
	"bytes"
	"testing"
)

// The fields of an AGI are where Put puts them.
func TestAGIBlock(t *testing.T) {
	want := AGI{
		Seqno: 1, Length: 2, Count: 3, Root: 4, Level: 5, FreeCount: 6, NewInode: 7, DirInode: 8,
		UUID: UUID{1, 2, 3}, FreeRoot: 9, FreeLevel: 10, InodeBlocks: 11, FreeBlocks: 12,
	}
	for i := range want.Unlinked {
		want.Unlinked[i] = uint32(100 + i)
	}
	wanted := make([]byte, AGISize)
	want.Put(wanted)

	from := want
	from.Count, from.FreeCount, from.NewInode, from.InodeBlocks, from.FreeBlocks = 1, 8, 0, 10, 13
	from.Root, from.Level, from.FreeRoot, from.FreeLevel = 0, 0, 0, 0
	from.Unlinked[63] = 0
	b := AGIBlock(make([]byte, AGISize))
	from.Put(b)
	b.AddCount(2)
	b.AddFreeCount(-2)
	b.SetNewInode(7)
	b.AddBlocks(1)
	b.AddFreeBlocks(-1)
	b.SetRoot(4, 5)
	b.SetFreeRoot(9, 10)
	b.SetUnlinked(63, 163)
	if !bytes.Equal(b, wanted) {
		t.Errorf("%x, want %x", []byte(b), wanted)
	}
	root, levels := b.Root()
	freeRoot, freeLevels := b.FreeRoot()
	for i, pair := range [][2]uint32{
		{b.Seqno(), 1}, {b.Length(), 2}, {b.Count(), 3}, {root, 4}, {levels, 5}, {b.FreeCount(), 6}, {b.NewInode(), 7},
		{freeRoot, 9}, {freeLevels, 10}, {b.Blocks(), 11}, {b.FreeBlocks(), 12}, {b.Unlinked(0), 100}, {b.Version(), 1},
	} {
		if pair[0] != pair[1] {
			t.Errorf("field %d: %d, want %d", i, pair[0], pair[1])
		}
	}
	if b.UUID() != want.UUID || !b.IsAGI() {
		t.Error("another UUID, or magic number")
	}
}
