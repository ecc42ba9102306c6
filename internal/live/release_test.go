package live_test

import (
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/live/livetest"
)

// A block that is released is let go of, once for each Get.
func TestRelease(t *testing.T) {
	fs, _ := livetest.New(t, livetest.Plan(t, 300<<20, nil))
	tr := fs.Begin(0)
	var b [3]*buffer.Buf
	for i, off := range []int64{1 << 20, 2 << 20, 1 << 20} {
		var err error
		if b[i], err = tr.Get(off, 4096, nil); err != nil {
			t.Fatal(err)
		}
	}
	tr.Release(b[0])
	tr.Release(b[0])
	defer func() {
		if recover() == nil {
			t.Error("a block is released three times that was got twice")
		}
		if err := tr.Commit(); err != nil { // which lets go of the other
			t.Error(err)
		}
	}()
	tr.Release(b[0])
}
