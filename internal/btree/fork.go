package btree

// Fork is the root of a tree in the fork of an inode, in memory.
type Fork struct {
	block block
}

// Level is the root's.
func (f *Fork) Level() int { return 0 }

func (c *Cursor) pushDown() (bool, error) { panic("to be written") }
func (c *Cursor) pullUp() error           { panic("to be written") }
