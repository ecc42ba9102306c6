package aio

import (
	"bytes"
	"os"
	"runtime"
	"testing"
	"time"
)

// A ring of the sync engine gets a helper once enough has been written since it was told that there is other
// work, and room for more requests with it. All is written, and the helper ends with the ring.
func TestBackground(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	f := tempFile(t)
	before := runtime.NumGoroutine()
	r, err := Open(int(f.Fd()), Config{Engine: Sync, Depth: 1})
	must(t, err)
	const size = 64 << 10
	want, ran := []byte{}, 0
	write := func() {
		t.Helper()
		data := bytes.Repeat([]byte{byte(1 + len(want)/size)}, size)
		must(t, r.Write(int64(len(want)), [][]byte{data}, func(err error) {
			if ran++; err != nil {
				t.Error(err)
			}
		}))
		want = append(want, data...)
	}
	for range 2 * worthHelp / size {
		write()
	}
	e := r.eng.(*syncEngine)
	r.Background()
	if write(); e.helper != nil || r.Stats().Depth != 1 {
		t.Error("there is a helper before it is worth it")
	}
	for range worthHelp / size {
		write()
	}
	if e.helper == nil || r.Stats().Depth != helpDepth {
		t.Errorf("no helper, or a depth of %d", r.Stats().Depth)
	}
	h := e.helper
	r.Background()
	for range 200 {
		write()
	}
	must(t, r.Sync())
	if e.helper != h || ran != len(want)/size {
		t.Errorf("%d of %d done functions ran; the same helper: %v", ran, len(want)/size, e.helper == h)
	}
	must(t, r.Close())
	got, err := os.ReadFile(f.Name())
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("the file differs from what was written")
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatal("the helper goes on")
		}
		time.Sleep(time.Millisecond)
	}
}

// There is no helper where it would take turns with its caller on the only processor, and none where the
// kernel works in the background.
func TestNoBackground(t *testing.T) {
	r, err := Open(int(tempFile(t).Fd()), Config{Engine: Auto, Depth: 4})
	must(t, err)
	defer r.Close()
	if _, is := r.eng.(*syncEngine); !is {
		if r.Background(); r.alone != nil {
			t.Errorf("a helper for %s", r.Engine())
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := Open(int(tempFile(t).Fd()), Config{Engine: Sync})
	must(t, err)
	defer one.Close()
	if one.Background(); one.alone != nil {
		t.Error("a helper on one processor")
	}
}

// Reap waits for as many as it says, and takes what is finished besides.
func TestHelperReap(t *testing.T) {
	f := tempFile(t)
	h := startHelper(int(f.Fd()))
	defer h.stop()
	const n = 10
	ops := make([]op, n)
	b := []byte{1}
	for i := range ops {
		ops[i].fill(false, int64(i), [][]byte{b}, 1, nil)
		h.add(&ops[i])
	}
	var got []*op
	for least := range 5 {
		before := len(got)
		least = min(least, n-before)
		if got = h.reap(least, got); len(got) < before+least {
			t.Errorf("%d of %d", len(got)-before, least)
		}
	}
	if got = h.reap(n-len(got), got); len(got) != n {
		t.Fatalf("%d of %d", len(got), n)
	}
	for i, o := range got {
		if o != &ops[i] || o.res != 1 {
			t.Errorf("request %d: result %d", i, o.res)
		}
	}
}
