package live

import "mkfs/internal/buffer"

// Release lets go of a block that Get returned before the transaction ends, for a walk over more blocks
// than are to be in memory. It undoes one Get. (xfs_trans_brelse in libxfs.)
func (t *Trans) Release(b *buffer.Buf) {
	for i := len(t.held) - 1; i >= 0; i-- {
		if t.held[i] == b {
			copy(t.held[i:], t.held[i+1:])
			t.held[len(t.held)-1] = nil
			t.held = t.held[:len(t.held)-1]
			t.Cache.Unpin(b)
			return
		}
	}
	panic("live: a block is released that the transaction does not hold")
}
