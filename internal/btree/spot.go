package btree

import "mkfs/internal/live"

// Spot is the place of a record that is kept beyond the transaction, to come back to it without
// a lookup. It is good for as long as the leaf is in memory, and no record of the tree has been
// entered or removed by way of the same Tree. The zero value is none.
type Spot struct {
	tree    *Tree
	leaf    block
	at      int
	changes uint64
}

// Spot is the place that the cursor is at. It is none for a root in a fork.
func (c *Cursor) Spot() Spot {
	p := &c.path[0]
	if p.buf == nil {
		return Spot{}
	}
	return Spot{tree: c.Tree, leaf: p.block, at: p.at, changes: c.Tree.changes}
}

// Is tells whether both are the same place, as far as both are good.
func (s *Spot) Is(o *Spot) bool {
	return s.leaf.buf == o.leaf.buf && s.at == o.at && s.tree == o.tree && s.changes == o.changes
}

// Record is the record, in its block, which stays until the transaction ends. It is false if the
// place is not good any more. It is changed with Change.
func (s *Spot) Record(t *live.Trans) ([]byte, bool) {
	if s.tree == nil || s.tree.fs != t.FS || s.changes != s.tree.changes ||
		!t.Again(s.leaf.buf, &s.tree.buffers.kind) || s.at < 0 || s.at >= s.leaf.live() {
		return nil, false
	}
	return s.leaf.entry(s.at), true
}

// Change changes what the record has besides its key. Record has found it in the same transaction.
func (s *Spot) Change(t *live.Trans, record []byte) {
	copy(s.leaf.entry(s.at), record)
	t.Dirty(s.leaf.buf)
}
