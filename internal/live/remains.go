package live

import (
	"slices"

	"mkfs/internal/buffer"
)

// Remains are what blocks of btrees held when they were freed, by their places.
//
// A new block of a btree gets but a header and its records: what is behind them is what the block
// had in the cache of libxfs, which does not clear a block that is freed and had again.
type Remains map[int64][]byte

// Leave notes what a block has that is being freed, where that is kept.
func (t *Trans) Leave(b *buffer.Buf) {
	if t.Remains != nil {
		t.Remains[b.Off] = slices.Clone(b.Data)
	}
}

// Revive puts into a fresh block what was left at its place.
func (t *Trans) Revive(b *buffer.Buf) {
	if old, there := t.Remains[b.Off]; there {
		copy(b.Data, old)
		delete(t.Remains, b.Off)
	}
}
