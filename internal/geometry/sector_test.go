package geometry

import (
	"strings"
	"testing"
)

// Sectors that are smaller than the device's physical ones are what was asked
// for, but told of: such a filesystem cannot move to a disk that has only those.
func TestSmallSectors(t *testing.T) {
	for _, c := range []struct {
		asked    int64 // 0 for none
		logical  int64
		physical int64
		want     int64
		warns    bool
	}{
		{0, 512, 512, 512, false}, {0, 512, 4096, 4096, false}, {0, 4096, 4096, 4096, false},
		{512, 512, 512, 512, false}, {512, 512, 4096, 512, true}, {4096, 512, 512, 4096, false}, {4096, 512, 4096, 4096, false},
	} {
		var spec Spec
		if c.asked != 0 {
			spec.SectorSize = Given(c.asked)
		}
		g, notes, err := Plan(spec, Device{Size: 1 << 30, LogicalSector: c.logical, PhysicalSector: c.physical})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(notes.Warnings, "\n")
		if int64(g.SectorSize) != c.want || strings.Contains(text, "smaller than the device's physical ones") != c.warns {
			t.Errorf("%+v: sectors of %d; %s", c, g.SectorSize, text)
		}
	}
}

// xfstests (common/xfs, _try_scratch_mkfs_xfs) knows the warning of blocks below
// the physical sector by these words, and leaves it out.
func TestSmallBlockWarning(t *testing.T) {
	g, notes, err := Plan(Spec{BlockSize: Given[int64](1024)}, Device{Size: 1 << 30, LogicalSector: 512, PhysicalSector: 4096})
	if err != nil || g.SectorSize != 512 || len(notes.Warnings) != 1 ||
		!strings.Contains(notes.Warnings[0], "less than device physical sector") {
		t.Error(err, notes.Warnings)
	}
}

// Sectors suit all devices: those of the realtime section by default, those of
// the log only if they are asked for. Where that cannot be the kernel would not
// mount, but what device an image comes to is not known.
func TestSectorsOfOtherDevices(t *testing.T) {
	for _, c := range []struct {
		name            string
		data, log, rt   int64 // logical and physical sectors; 0 for no such device
		asked, askedLog int64
		file, logFile   bool
		block           int64
		want, wantLog   Bytes
		refused         string
	}{
		{name: "realtime", data: 512, rt: 4096, want: 4096, wantLog: 4096},
		{name: "smaller realtime", data: 4096, rt: 512, want: 4096, wantLog: 4096},
		{name: "realtime, smaller asked", data: 512, rt: 4096, asked: 512, refused: "-r rtdev: its sectors have 4096 bytes, and the filesystem's would have 512"},
		{name: "realtime, smaller asked in an image", data: 512, rt: 4096, asked: 512, file: true, want: 512, wantLog: 512},
		{name: "realtime, small blocks", data: 512, rt: 4096, block: 1024, refused: "-r rtdev: its sectors have 4096 bytes, and the filesystem's would have 512"},
		{name: "log", data: 512, log: 4096, refused: "-l logdev: its sectors have 4096 bytes, and the filesystem's would have 512; try -s size=4096"},
		{name: "log, asked", data: 512, log: 4096, asked: 4096, want: 4096, wantLog: 4096},
		{name: "log in an image", data: 512, log: 4096, file: true, want: 512, wantLog: 4096},
		{name: "log, smaller asked", data: 4096, log: 4096, askedLog: 512, refused: "-l sectsize: 512 bytes; the sectors of the log's device have 4096"},
		{name: "log, smaller asked in a file", data: 4096, log: 4096, askedLog: 512, logFile: true, want: 4096, wantLog: 512},
		{name: "smaller log", data: 4096, log: 512, want: 4096, wantLog: 512},
		{name: "all", data: 512, log: 4096, rt: 4096, want: 4096, wantLog: 4096},
	} {
		dev := Device{Size: 2 * gib, LogicalSector: c.data, PhysicalSector: c.data, File: c.file}
		dev.Log.Size, dev.Log.LogicalSector, dev.Log.File = 64*mib, c.log, c.logFile
		dev.RT.Size, dev.RT.LogicalSector, dev.RT.PhysicalSector = gib, c.rt, c.rt
		var spec Spec
		spec.Log.External, spec.RT.Device = c.log > 0, c.rt > 0
		if c.asked > 0 {
			spec.SectorSize, spec.Log.SectorSize = Given(c.asked), Given(c.asked)
		}
		if c.askedLog > 0 {
			spec.Log.SectorSize = Given(c.askedLog)
		}
		if c.block > 0 {
			spec.BlockSize = Given(c.block)
		}
		g, _, err := Plan(spec, dev)
		switch {
		case c.refused != "":
			if err == nil || err.Error() != c.refused {
				t.Errorf("%s: %v, want %s", c.name, err, c.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case g.SectorSize != c.want || g.Log.SectorSize != c.wantLog:
			t.Errorf("%s: sectors of %d, of the log %d; want %d and %d", c.name, g.SectorSize, g.Log.SectorSize, c.want, c.wantLog)
		}
	}
}
