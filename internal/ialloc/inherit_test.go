package ialloc

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// What a file and a directory inherit.
func TestInherit(t *testing.T) {
	g := &geometry.Geometry{AGBlocks: 100, AGCount: 4, Features: geometry.Features{Reflink: true}}
	const all = ondisk.Flag2CowExtent | ondisk.Flag2DAX | ondisk.Flag2Metadata
	realtime := *g
	realtime.RT = geometry.Realtime{Blocks: 1000, Extent: 4}
	for _, c := range []struct {
		name      string
		g         *geometry.Geometry
		dir       ondisk.Inode
		file, sub ondisk.Inode
	}{
		{"flags", g,
			ondisk.Inode{Flags: ondisk.FlagProjInherit | ondisk.FlagFilestream | ondisk.FlagNoDump | ondisk.FlagSync},
			ondisk.Inode{Flags: ondisk.FlagFilestream},
			ondisk.Inode{Flags: ondisk.FlagProjInherit | ondisk.FlagFilestream}},
		{"realtime that is not there", g,
			ondisk.Inode{Flags: ondisk.FlagRTInherit}, ondisk.Inode{}, ondisk.Inode{Flags: ondisk.FlagRTInherit}},
		{"realtime", &realtime,
			ondisk.Inode{Flags: ondisk.FlagRTInherit},
			ondisk.Inode{Flags: ondisk.FlagRealtime}, ondisk.Inode{Flags: ondisk.FlagRTInherit}},
		{"extent size", g,
			ondisk.Inode{Flags: ondisk.FlagExtentInherit, ExtentSize: 50},
			ondisk.Inode{Flags: ondisk.FlagExtentSize, ExtentSize: 50},
			ondisk.Inode{Flags: ondisk.FlagExtentInherit, ExtentSize: 50}},
		{"extent size that is too large", g,
			ondisk.Inode{Flags: ondisk.FlagExtentInherit, ExtentSize: 51}, ondisk.Inode{}, ondisk.Inode{}},
		{"extent size that is no multiple of realtime extents", &realtime,
			ondisk.Inode{Flags: ondisk.FlagExtentInherit | ondisk.FlagRTInherit, ExtentSize: 6},
			ondisk.Inode{Flags: ondisk.FlagRealtime},
			ondisk.Inode{Flags: ondisk.FlagExtentInherit | ondisk.FlagRTInherit, ExtentSize: 6}},
		{"extent size of copies, DAX, metadata", g,
			ondisk.Inode{Flags2: all | ondisk.Flag2Bigtime, CowExtent: 8},
			ondisk.Inode{Flags2: all, CowExtent: 8}, ondisk.Inode{Flags2: all, CowExtent: 8}},
		{"extent size of copies that is too large", g,
			ondisk.Inode{Flags2: ondisk.Flag2CowExtent, CowExtent: 51}, ondisk.Inode{}, ondisk.Inode{}},
	} {
		for mode, want := range map[uint16]ondisk.Inode{ondisk.ModeRegular: c.file, ondisk.ModeDirectory: c.sub} {
			got := ondisk.Inode{Mode: mode}
			want.Mode = mode
			inherit(&live.FS{G: c.g, V5: true}, &got, &c.dir)
			if got != want {
				t.Errorf("%s: %+v, want %+v", c.name, got, want)
			}
		}
	}
}

// Metadata files go to the AG of the log, and directories around.
func TestStart(t *testing.T) {
	g := geometry.Geometry{AGBlocks: 100, AGBlockLog: 7, AGCount: 4, BlockLog: 12, InodeLog: 9, Log: geometry.Log{AG: 2}}
	external := g
	external.Log = geometry.Log{External: true, AG: 2}
	metadata := inode.New(g.InodeOf(1, 8))
	metadata.Core.Flags2 = ondisk.Flag2Metadata
	user, beyond := inode.New(g.InodeOf(3, 8)), inode.New(g.InodeOf(9, 8))
	var a allocator
	for i, c := range []struct {
		g      *geometry.Geometry
		parent *inode.Inode
		mode   uint16
		want   geometry.AGNumber
	}{
		{&g, nil, ondisk.ModeDirectory, 0},
		{&g, user, ondisk.ModeDirectory, 0},
		{&g, metadata, ondisk.ModeDirectory, 2},
		{&g, metadata, ondisk.ModeRegular, 2},
		{&external, metadata, ondisk.ModeRegular, 0},
		{&g, user, ondisk.ModeRegular, 3},
		{&g, user, ondisk.ModeSymlink, 3},
		{&g, beyond, ondisk.ModeRegular, 0},
		{&g, user, ondisk.ModeDirectory, 1},
		{&g, user, ondisk.ModeDirectory, 2},
		{&g, user, ondisk.ModeDirectory, 3},
		{&g, user, ondisk.ModeDirectory, 0},
	} {
		tr := (&live.FS{G: c.g}).Begin(0)
		if got := a.start(tr, c.parent, c.mode); got != c.want {
			t.Errorf("%d: AG %d, want %d", i, got, c.want)
		}
	}
}
