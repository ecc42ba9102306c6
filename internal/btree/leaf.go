package btree

// First moves to the first record of the leaf that the cursor is in.
func (c *Cursor) First() { c.path[0].at = 0 }
