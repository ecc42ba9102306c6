package refcount

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

// budget tells whether a transaction has log space left to change further records: what does not fit is left to
// the next. (xfs_refcount_still_have_space in libxfs.)
type budget struct {
	each, tree geometry.Bytes // what may be logged for a change of shape, and for the path through the tree
	normal     geometry.Bytes // of log space

	// What has been done in a turn of a transaction.
	trans       *live.Trans
	turn        int
	ops, shapes int
}

// itemSpace is what a record, or the intent to free blocks, takes of the log (XFS_REFCOUNT_ITEM_OVERHEAD).
const itemSpace = 32

func newBudget(fs *live.FS) budget {
	log := fs.G.LogSpace()
	return budget{
		each: fs.G.Bytes(log.AllocFree), tree: fs.G.Bytes(geometry.Blocks(fs.Heights().Refcount)), normal: log.Truncate,
	}
}

// begin makes it that of a transaction.
func (b *budget) begin(t *live.Trans) {
	if b.trans != t || b.turn != t.Turn() {
		b.trans, b.turn, b.ops, b.shapes = t, t.Turn(), 0, 0
	}
}

// left tells whether one more change may be made. The first always may.
func (b *budget) left() bool {
	space := b.trans.LogSpace
	if space == 0 {
		space = b.normal
	}
	worst := geometry.Bytes(b.shapes)*b.each + b.tree
	return b.ops == 0 || worst <= space && space-worst > geometry.Bytes(b.ops)*itemSpace
}
