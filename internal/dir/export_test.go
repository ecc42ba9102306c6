package dir

import "mkfs/internal/da"

// SetSpace changes where the blocks of directories come from.
func (d *Dirs) SetSpace(wrap func(da.Space) da.Space) { d.tree.Space = wrap(d.tree.Space) }

// SetPerFree changes how many blocks of entries a block of the list of free space lists.
func (d *Dirs) SetPerFree(n int) { d.perFree = n }
