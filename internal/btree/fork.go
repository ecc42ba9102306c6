package btree

// Fork is the root of a tree in the fork of an inode, as a node or leaf in memory: a
// header of two numbers, level and live entries, and room for Size bytes.
type Fork struct {
	Level, Live int
	Size        int    // bytes that the root may take in the fork
	Entries     []byte // of records, or of keys and pointers
}

// The root as a block, growing it out into one, and taking one in, are still to be written.
func (f *Fork) block() block              { panic("to be written") }
func (c *Cursor) pushDown() (bool, error) { panic("to be written") }
func (c *Cursor) pullUp() error           { panic("to be written") }
