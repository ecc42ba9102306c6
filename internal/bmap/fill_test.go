package bmap

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// The heights are those of xfs_bmap_compute_maxlevels.
func TestMaxLevels(t *testing.T) {
	for _, c := range []struct {
		block      int64
		large      bool
		data, attr int
	}{
		{4096, false, 5, 3}, {4096, true, 7, 5}, {1024, false, 7, 4}, {65536, true, 5, 3},
	} {
		g := livetest.Plan(t, 1<<30, func(s *geometry.Spec) {
			s.BlockSize, s.Features.Nrext64, s.Features.Exchange = geometry.Given(c.block), geometry.Given(c.large), geometry.Given(false)
		})
		fs := &live.FS{G: g}
		if data, attr := MaxLevels(fs, Data), MaxLevels(fs, Attr); data != c.data || attr != c.attr {
			t.Errorf("blocks of %d, large counters %v: %d and %d levels, want %d and %d", c.block, c.large, data, attr, c.data, c.attr)
		}
	}
}

// What may be taken is as much as libxfs_alloc_file_space reserves.
func TestFillReserve(t *testing.T) {
	fs, ip := newFile(t, 1<<30, nil)
	levels := geometry.Blocks(MaxLevels(fs, Data) - 1)
	for _, c := range []struct {
		hint uint32
		off  uint64
		n    geometry.Blocks
		want geometry.Blocks
	}{
		{0, 5, 3, 3}, {0, 0, 1 << 30, maxLength}, {16, 0, 16, 16}, {16, 5, 3, 16}, {16, 5, 7, 32}, {16, 32, 17, 32},
	} {
		ip.Core.Flags, ip.Core.ExtentSize = ondisk.FlagExtentSize, c.hint
		if got := FillReserve(fs, ip, c.off, c.n); got != c.want+levels {
			t.Errorf("hint %d, %d blocks at %d: %d blocks, want %d", c.hint, c.n, c.off, got, c.want+levels)
		}
	}
}

// The attribute fork begins where its attributes fit, between what a data fork needs at least and what an attribute
// fork
// does. The literal area has 336 bytes.
func TestAttrForkOffset(t *testing.T) {
	fs, _ := livetest.New(t, livetest.Plan(t, 1<<30, nil))
	extents := func(n int) inode.Fork {
		return inode.Fork{Format: ondisk.FormatExtents, Extents: make([]inode.Extent, n)}
	}
	for _, c := range []struct {
		name string
		ip   inode.Inode
		size int
		want int
	}{
		{"small", inode.Inode{Data: extents(0)}, 10, 296},
		{"as large as can be", inode.Inode{Data: extents(0)}, 336 - 56, 56},
		{"too large for a root beside it", inode.Inode{Data: extents(0)}, 336 - 55, 0},
		{"too large for all", inode.Inode{Data: extents(0)}, 337, 0},
		{"beside extents", inode.Inode{Data: extents(12)}, 336 - 192, 192},
		{"in front of extents", inode.Inode{Data: extents(12)}, 336 - 191, 0},
		{"extents that will get a btree", inode.Inode{Data: extents(13)}, 336 - 56, 56},
		{"where it is", inode.Inode{Data: extents(13), ForkOffset: 256}, 80, 256},
		{"moved to the extents", inode.Inode{Data: extents(13), ForkOffset: 256}, 336 - 208, 208},
		{"not into the extents", inode.Inode{Data: extents(13), ForkOffset: 256}, 336 - 207, 0},
		{"beside a btree", inode.Inode{Data: inode.Fork{Format: ondisk.FormatBtree}, ForkOffset: 200}, 137, 0},
		{"beside a btree that leaves room", inode.Inode{Data: inode.Fork{Format: ondisk.FormatBtree}, ForkOffset: 200}, 130, 200},
		{"device", inode.Inode{Data: inode.Fork{Format: ondisk.FormatDev}}, 100, 8},
		{"device, too large", inode.Inode{Data: inode.Fork{Format: ondisk.FormatDev}}, 330, 0},
		{"local", inode.Inode{Data: inode.Fork{Format: ondisk.FormatLocal, Local: make([]byte, 101)}}, 336 - 104, 104},
		{"into the local", inode.Inode{Data: inode.Fork{Format: ondisk.FormatLocal, Local: make([]byte, 101)}}, 336 - 103, 0},
	} {
		if got := AttrForkOffset(fs, &c.ip, c.size); got != c.want {
			t.Errorf("%s: %d bytes begin at %d, want %d", c.name, c.size, got, c.want)
		}
	}
}
