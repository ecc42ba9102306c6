package da

import (
	"testing"

	"mkfs/internal/geometry"
)

// An operation knows what it may still take, and a block that is freed is not written any more.
func TestSpace(t *testing.T) {
	w := newWorld(t, shape{block: 1024, bytes: 4096, scattered: true})
	tx := w.fs.Begin(0)
	total := geometry.Blocks(10)
	for _, want := range []geometry.Blocks{6, 2, 0} {
		if _, ok, err := w.tr.Grow(tx, w.ip, 0, &total); !ok || err != nil || total != want {
			t.Errorf("%d may be taken, want %d (%v, %v)", total, want, ok, err)
		}
	}
	b, err := w.tr.Fresh(tx, w.ip, 0, w.tr.Index)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := w.tr.Shrink(tx, w.ip, 0, b); !ok || err != nil || !b.Gone() || w.tr.find(w.ip, 0) != nil {
		t.Errorf("%v, %v; gone: %v", ok, err, b.Gone())
	}
}
