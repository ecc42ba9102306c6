package bmap

import (
	"bytes"
	"testing"

	"mkfs/internal/buffer"
	"mkfs/internal/live"
)

// All blocks of a fork are freed, whatever its form, and those in memory are not written: not one either that lies
// in several extents.
func TestFreeAll(t *testing.T) {
	for _, extents := range []int{0, 1, 2, 3, 5, 40, 700} {
		fs, ip := newFile(t, 1<<30, nil)
		before := fs.Counts.FreeBlocks
		step := func(f func(tr *live.Trans) error) {
			t.Helper()
			tr := fs.Begin(100)
			if err := f(tr); err != nil {
				t.Fatal(err)
			}
			if err := tr.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range extents {
			step(func(tr *live.Trans) error {
				_, err := Write(tr, ip, Data, uint64(2*i), 1, Metadata, 100)
				return err
			})
		}
		kind := &buffer.Kind{Name: "test"}
		mark := bytes.Repeat([]byte("mark"), 16)
		var spans []buffer.Span
		for _, e := range ip.Data.Extents[:min(extents, 16)] {
			spans = append(spans, buffer.Span{Off: fs.Offset(fs.G.BlockAddress(e.Start)), Len: int(fs.G.BlockSize)})
		}
		if extents > 0 {
			step(func(tr *live.Trans) error {
				b, err := tr.FreshSpans(spans, kind)
				if err == nil {
					copy(b.Data, mark)
				}
				return err
			})
		}
		if err := FreeAll(fs, ip, Data, true); err != nil {
			t.Fatal(err)
		}
		if len(ip.Data.Extents) != 0 || ip.Core.Blocks != 0 || fs.Counts.FreeBlocks != before {
			t.Errorf("%d extents: %v, %d blocks; %d free, want %d", extents, ip.Data.Extents, ip.Core.Blocks, fs.Counts.FreeBlocks, before)
		}
		if err := fs.Cache.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, s := range spans {
			b, err := fs.Cache.Get(s.Off, s.Len, kind)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(b.Data, mark) {
				t.Errorf("%d extents: a block that is free was written", extents)
			}
		}
	}
}
