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
