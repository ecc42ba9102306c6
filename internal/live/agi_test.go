package live_test

import (
	"strings"
	"testing"

	"mkfs/internal/live/livetest"
	"mkfs/internal/ondisk"
)

// Damage in an AGI is told, by name and place, whether it is to stay or not.
func TestDamagedAGI(t *testing.T) {
	const agno = 1
	for _, c := range []struct {
		want   string
		damage func(b ondisk.AGIBlock)
	}{
		{"magic", func(b ondisk.AGIBlock) { b[0] = 0 }},
		{"version 2", func(b ondisk.AGIBlock) { b[7] = 2 }},
		{"of AG 3", func(b ondisk.AGIBlock) { b[11] = 3 }},
		{"AG of 5 blocks", func(b ondisk.AGIBlock) { ondisk.Field32(12).Set(b, 5) }},
		{"UUID", func(b ondisk.AGIBlock) { b[296]++ }},
		{"inobt has 0 levels", func(b ondisk.AGIBlock) { b.SetRoot(3, 0) }},
		{"inobt has 9 levels", func(b ondisk.AGIBlock) { b.SetRoot(3, 9) }},
		{"finobt has 0 levels", func(b ondisk.AGIBlock) { b.SetFreeRoot(4, 0) }},
		{"finobt has 9 levels", func(b ondisk.AGIBlock) { b.SetFreeRoot(4, 9) }},
		{"of 0 inodes 1 are free", func(b ondisk.AGIBlock) { b.AddFreeCount(1) }},
	} {
		g := livetest.Plan(t, 64<<20, nil)
		fs, d := livetest.New(t, g)
		off := fs.Offset(agno, 0) + 2*int64(g.SectorSize)
		b := make([]byte, g.SectorSize)
		_, _ = d.ReadAt(b, off)
		c.damage(b)
		ondisk.Seal(b, ondisk.AGICRC)
		_, _ = d.WriteAt(b, off)
		_, err := fs.Begin(0).AGI(agno)
		_, _, counted := fs.InodeCounts(agno)
		for _, err := range []error{err, counted} {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "AGI") {
				t.Errorf("want %q: %v", c.want, err)
			}
		}
		b[20]++ // and the checksum is wrong then
		_, _ = d.WriteAt(b, off)
		fs.Cache.Forget(off, int64(len(b)))
		if _, err := fs.Begin(0).AGI(agno); err == nil {
			t.Error("a wrong checksum is taken")
		}
	}
	fs, _ := livetest.New(t, livetest.Plan(t, 64<<20, nil))
	if _, err := fs.Begin(0).AGI(fs.G.AGCount); err == nil {
		t.Error("there is an AGI behind the last AG")
	}
}
