package live_test

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

func TestHasExtent(t *testing.T) {
	fs := &live.FS{G: &geometry.Geometry{
		BlockSize: 4096, BlockLog: 12, SectorSize: 512, Blocks: 250, AGBlocks: 100, AGBlockLog: 7, AGCount: 3,
		RT: geometry.Realtime{Blocks: 250, Extent: 1},
	}}
	at := fs.G.FSBlock
	groups := &live.FS{G: &geometry.Geometry{RT: geometry.Realtime{Blocks: 250, Extent: 1, GroupCount: 3, GroupBlocks: 100}}}
	const most = geometry.Blocks(1<<64 - 1)
	for _, c := range []struct {
		fs       *live.FS
		realtime bool
		start    geometry.FSBlock
		blocks   geometry.Blocks
		want     bool
	}{
		{fs, false, at(0, 0), 1, false}, // the header
		{fs, false, at(0, 1), 99, true},
		{fs, false, at(0, 1), 100, false},
		{fs, false, at(0, 99), 1, true},
		{fs, false, at(0, 100), 1, false},
		{fs, false, at(2, 49), 1, true}, // the last AG is shorter
		{fs, false, at(2, 50), 1, false},
		{fs, false, at(3, 1), 1, false},
		{fs, false, at(1<<31, 1), 1, false},
		{fs, false, at(1, 1), most, false},
		{fs, true, 0, 250, true},
		{fs, true, 249, 1, true},
		{fs, true, 249, 2, false},
		{fs, true, 250, 1, false},
		{fs, true, 1, most, false},
		{groups, true, 0, 100, true},
		{groups, true, 0, 101, false},
		{groups, true, 1<<7 | 99, 1, true},
		{groups, true, 1<<7 | 100, 1, false},
		{groups, true, 2<<7 | 49, 1, true},
		{groups, true, 2<<7 | 50, 1, false},
		{groups, true, 3 << 7, 1, false},
		{groups, true, 1 << 51, 1, false},
	} {
		if got := c.fs.HasExtent(c.realtime, c.start, c.blocks); got != c.want {
			t.Errorf("HasExtent(%v, %#x, %d) = %v", c.realtime, uint64(c.start), c.blocks, got)
		}
	}
}
