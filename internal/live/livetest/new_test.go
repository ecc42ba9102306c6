package livetest

import (
	"testing"

	"mkfs/internal/geometry"
)

// A new filesystem has the headers that the reference writes, of AGs that hold no inodes.
func TestNew(t *testing.T) {
	const size = 300 << 20
	g := Plan(t, size, nil)
	_, d := New(t, g)
	ref := Open(t, Reference(t, size))
	for agno := range g.AGCount {
		if agno == 0 || agno == g.AGCount-1 || agno == (g.AGCount-1)/2 {
			continue
		}
		if diff := Differ(d, ref, int64(g.Offset(agno, 0)), int64(g.Bytes(g.HeaderBlocks()))); diff != "" {
			t.Errorf("AG %d: %s", agno, diff)
		}
	}
	fs := Load(t, ref)
	if fs.G.Blocks != geometry.Blocks(g.Blocks) {
		t.Errorf("%d blocks, want %d", fs.G.Blocks, g.Blocks)
	}
}
