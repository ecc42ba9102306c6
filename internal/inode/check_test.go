package inode

import (
	"math"
	"strings"
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// sound is the core of an empty file.
func sound(fs *live.FS, ino geometry.Inode) ondisk.Inode {
	return ondisk.Inode{
		Mode: ondisk.ModeRegular | 0o644, Version: 3, Format: ondisk.FormatExtents, AttrFormat: ondisk.FormatExtents,
		Nlink: 1, Number: uint64(ino), UUID: fs.UUID, Flags2: ondisk.Flag2Nrext64 | ondisk.Flag2Bigtime,
	}
}

// Each row breaks a rule, and each rule is broken by a row.
func TestRules(t *testing.T) {
	fs, _ := livetest.New(t, livetest.Plan(t, 300<<20, nil))
	const ino = 128
	directory := func(i *ondisk.Inode) {
		i.Mode, i.Format, i.Size = ondisk.ModeDirectory|0o755, ondisk.FormatLocal, 6
	}
	metadata := func(i *ondisk.Inode) {
		i.Mode, i.Flags2, i.Flags = ondisk.ModeRegular, i.Flags2|ondisk.Flag2Metadata, MetadataFlags
	}
	broken := map[string]bool{}
	for _, row := range []struct {
		rule   string
		damage func(i *ondisk.Inode)
	}{
		{"", func(*ondisk.Inode) {}},
		{"", directory},
		{"", func(i *ondisk.Inode) { i.Mode, i.Format = ondisk.ModeFIFO, ondisk.FormatDev }},
		{"", func(i *ondisk.Inode) { i.Blocks, i.BigExtents = 21, 21 }},
		{"", func(i *ondisk.Inode) { i.Format, i.Blocks, i.BigExtents = ondisk.FormatBtree, 30, 22 }},
		{"", func(i *ondisk.Inode) { i.ForkOffset, i.Blocks, i.BigExtents, i.Extents = 15, 8, 7, 1 }},
		{"", func(i *ondisk.Inode) { i.Flags, i.ExtentSize = ondisk.FlagExtentSize, 4 }},
		{"", func(i *ondisk.Inode) { i.Flags2, i.CowExtent = i.Flags2|ondisk.Flag2CowExtent|ondisk.Flag2Reflink, 4 }},
		{"number", func(i *ondisk.Inode) { i.Number++ }},
		{"UUID", func(i *ondisk.Inode) { i.UUID[3]++ }},
		{"mode", func(i *ondisk.Inode) { i.Mode = 0o030644 }},
		{"size", func(i *ondisk.Inode) { i.Size = math.MaxUint64 }},
		{"size", func(i *ondisk.Inode) { directory(i); i.Size = 0 }},
		{"counters", func(i *ondisk.Inode) { i.AttrExtents = 1 }},
		{"counters", func(i *ondisk.Inode) { i.Flags2, i.BigExtents = 0, 1 }},
		{"blocks", func(i *ondisk.Inode) { i.Blocks, i.BigExtents = 20, 21 }},
		{"blocks", func(i *ondisk.Inode) { i.Blocks = 1 }},
		{"blocks", func(i *ondisk.Inode) { i.Blocks, i.BigExtents, i.Extents = 21, 21, 1 }},
		{"blocks", func(i *ondisk.Inode) { i.Blocks, i.BigExtents, i.Extents = 21, math.MaxUint64, 22 }},
		{"attribute fork", func(i *ondisk.Inode) { i.ForkOffset = 42 }},
		{"attribute fork", func(i *ondisk.Inode) {
			i.Mode, i.Format, i.ForkOffset = ondisk.ModeFIFO, ondisk.FormatDev, 2
		}},
		{"attribute fork", func(i *ondisk.Inode) { i.Blocks, i.Extents = 1, 1 }},
		{"attribute fork", func(i *ondisk.Inode) { i.AttrFormat = ondisk.FormatLocal }},
		{"attribute fork", func(i *ondisk.Inode) { i.ForkOffset, i.AttrFormat = 15, ondisk.FormatDev }},
		{"attribute fork", func(i *ondisk.Inode) { i.ForkOffset, i.AttrFormat = 15, 4 }},
		{"data fork", func(i *ondisk.Inode) { i.Format = ondisk.FormatDev }},
		{"data fork", func(i *ondisk.Inode) { i.Mode = ondisk.ModeSocket }},
		{"data fork", func(i *ondisk.Inode) { i.Format = ondisk.FormatLocal }},
		{"data fork", func(i *ondisk.Inode) { directory(i); i.Size = 337 }},
		{"data fork", func(i *ondisk.Inode) { directory(i); i.Format = ondisk.FormatExtents }},
		{"data fork", func(i *ondisk.Inode) { directory(i); i.Blocks, i.BigExtents = 1, 1 }},
		{"data fork", func(i *ondisk.Inode) { i.Blocks, i.BigExtents = 22, 22 }},
		{"data fork", func(i *ondisk.Inode) { i.ForkOffset, i.Blocks, i.BigExtents = 15, 8, 8 }},
		{"data fork", func(i *ondisk.Inode) { i.Format, i.Blocks, i.BigExtents = ondisk.FormatBtree, 30, 21 }},
		{"data fork", func(i *ondisk.Inode) { i.Format, i.Blocks, i.BigExtents = ondisk.FormatBtree, 1<<60, 1<<50 }},
		{"data fork", func(i *ondisk.Inode) { i.Format = ondisk.FormatMetaBtree }},
		{"data fork", func(i *ondisk.Inode) { i.Format = 4 }},
		{"extent size", func(i *ondisk.Inode) { i.ExtentSize = 1 }},
		{"extent size", func(i *ondisk.Inode) { i.Flags = ondisk.FlagExtentSize }},
		{"extent size", func(i *ondisk.Inode) { i.Flags, i.ExtentSize = ondisk.FlagExtentInherit, 1 }},
		{"extent size", func(i *ondisk.Inode) { i.Flags, i.ExtentSize = ondisk.FlagExtentSize, 1<<20 }},
		{"extent size of copies", func(i *ondisk.Inode) { i.CowExtent = 1 }},
		{"extent size of copies", func(i *ondisk.Inode) { i.Flags2 |= ondisk.Flag2CowExtent }},
		{"extent size of copies", func(i *ondisk.Inode) { i.Flags2, i.CowExtent = i.Flags2|ondisk.Flag2CowExtent, 1<<20 }},
		{"flags", func(i *ondisk.Inode) { i.Flags = ondisk.FlagRealtime }},
		{"flags", func(i *ondisk.Inode) { directory(i); i.Flags2 |= ondisk.Flag2Reflink }},
		{"metadata", metadata},
	} {
		core := sound(fs, ino)
		row.damage(&core)
		err := check(fs, ino, &core)
		if row.rule == "" {
			if err != nil {
				t.Errorf("%+v: %v", core, err)
			}
			continue
		}
		broken[row.rule] = true
		if err == nil || !strings.HasPrefix(err.Error(), row.rule+" ") {
			t.Errorf("%+v: %v, want an error of its %s", core, err, row.rule)
		}
	}
	for _, r := range rules {
		if !broken[r.Name] {
			t.Errorf("no row breaks the rule of %s", r.Name)
		}
	}
}
