package live_test

import (
	"bytes"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/live/livetest"
)

// A block that is freed and had again begins with what it held, once, and with zeros where nothing is kept.
func TestRemains(t *testing.T) {
	for _, kept := range []bool{true, false} {
		fs, _ := livetest.New(t, livetest.Plan(t, 300<<20, nil))
		if !kept {
			fs.Remains = nil
		}
		kind := &buffer.Kind{Name: "block"}
		off := fs.Offset(0, 100)
		for turn, want := range []bool{false, true, false} {
			tr := fs.Begin(0)
			b, err := tr.Fresh(off, int(fs.G.BlockSize), kind)
			if err != nil {
				t.Fatal(err)
			}
			tr.Revive(b)
			if got := bytes.Contains(b.Data, []byte("records")); got != (want && kept) {
				t.Errorf("kept %v, turn %d: what was there is there: %v", kept, turn, got)
			}
			copy(b.Data, "records")
			if turn == 0 {
				tr.Leave(b)
			}
			tr.Cache.Forget(off, int64(fs.G.BlockSize))
			if err := tr.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
