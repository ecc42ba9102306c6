package dir

import "mkfs/internal/da"

// SetSpace changes where the blocks of directories come from.
func (d *Dirs) SetSpace(wrap func(da.Space) da.Space) { d.tree.Space = wrap(d.tree.Space) }
