package ialloc_test

import (
	"testing"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/live"
)

// checkUsed compares what Used gives with the records and the AGI.
func checkUsed(t testing.TB, fs *live.FS, agno geometry.AGNumber) {
	t.Helper()
	want := records(t, fs, agno, false)
	inodes, free, err := fs.InodeCounts(agno)
	must(t, err)
	tr := fs.Begin(0)
	used := 0
	for c, err := range ialloc.Used(tr, agno) {
		must(t, err)
		r := &want[0]
		want = want[1:]
		if c.First != fs.G.InodeOf(agno, r.Start) {
			t.Errorf("AG %d: inodes from %d on, want %d", agno, c.First, r.Start)
		}
		for i := range 64 {
			there := r.HoleMask>>(i/4)&1 == 0
			in := c.Used>>i&1 != 0
			if in != (there && r.Free>>i&1 == 0) {
				t.Errorf("AG %d: inode %d is in use: %v", agno, r.Start+uint32(i), in)
			}
			if in {
				used++
			}
		}
	}
	must(t, tr.Commit())
	if len(want) > 0 || used != int(inodes-free) {
		t.Errorf("AG %d: %d records are left, %d inodes of %d - %d", agno, len(want), used, inodes, free)
	}
}
