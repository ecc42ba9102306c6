package bmap

import (
	"errors"

	"mkfs/internal/btree"
)

var errLater = errors.New("btrees of extents are not made yet")

// cursor is a cursor of the fork's btree.
func (o *op) cursor() *btree.Cursor { return o.cur }

// toBtree gives a fork of extents a btree.
func (o *op) toBtree() error { return o.fail("%w", errLater) }

// toExtents takes the btree of a fork away.
func (o *op) toExtents() error { return o.fail("%w", errLater) }

// shrinkRoot moves the root of the fork's btree to a block if it does not fit so many bytes.
func (o *op) shrinkRoot(int) error { return o.fail("%w", errLater) }

var _ btree.Root = blocks{}
