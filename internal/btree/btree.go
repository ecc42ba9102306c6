// Package btree works on the B+trees of XFS in their blocks.
package btree

import (
	"mkfs/internal/geometry"
	"mkfs/internal/live"
)

// Kind is a kind of tree.
type Kind struct {
	Name           string
	Magic, MagicV4 uint32
	// Long trees are of files: their pointers are FSBlocks of 8 bytes, and blocks
	// have long headers. Others are within an AG, with pointers of 4 bytes.
	Long bool
	// The lengths in bytes of records and keys.
	Record, Key int
	// PutKey makes the key of a record, and PutHighKey that of its end in trees
	// whose records may overlap; it is nil in others. Nodes of those have two keys
	// for each pointer.
	PutKey     func(key, record []byte)
	PutHighKey func(key, record []byte)
	// Compare orders keys.
	Compare func(a, b []byte) int
}

// Root is where the root of a tree is known, and where its blocks come from.
type Root interface {
	// Root is the block of the root and the number of levels.
	Root() (ptr uint64, levels int)
	SetRoot(t *live.Trans, ptr uint64, levels int) error
	// Alloc gives a block near another, or tells by false that there is none.
	Alloc(t *live.Trans, near uint64) (ptr uint64, ok bool, err error)
	Free(t *live.Trans, ptr uint64) error
}

// Tree is a tree of a filesystem.
type Tree struct {
	*Kind
	AG    geometry.AGNumber // of a tree within one
	Owner uint64            // inode of a long tree
	Root  Root
	// Fork is the root of a tree in an inode, which has no block; nil for others.
	Fork *Fork
}

// Fork is the root of a tree in the fork of an inode, as a node or leaf in memory: a
// header of two numbers, level and live entries, and room for Bytes.
type Fork struct {
	Level, Live int
	Size        int    // bytes that the root may take in the fork
	Entries     []byte // of records, or of keys and pointers
}

// Order says which record a lookup is for.
type Order int

// The orders.
const (
	LE Order = iota // the last at or before
	EQ
	GE // the first at or behind
)

// Cursor is a place in a tree. It is good within its transaction, until the tree
// is changed by another.
type Cursor struct {
	Tree *Tree
	t    *live.Trans
}

// Cursor makes a cursor that is nowhere yet.
func (tr *Tree) Cursor(t *live.Trans) *Cursor { return &Cursor{Tree: tr, t: t} }

// Lookup moves to a record by another's key, and tells whether there is one. If
// there is none the cursor is where it would be, so that Insert may follow.
func (c *Cursor) Lookup(o Order, record []byte) (bool, error) { panic("to be written") }

// Record is the record at the cursor, in its block; false if there is none.
func (c *Cursor) Record() ([]byte, bool) { panic("to be written") }

// Next moves to the next record, and Prev to the one before.
func (c *Cursor) Next() (bool, error) { panic("to be written") }
func (c *Cursor) Prev() (bool, error) { panic("to be written") }

// Insert puts a record at the cursor, and moves to it. It returns false if a
// block was needed and there was none.
func (c *Cursor) Insert(record []byte) (bool, error) { panic("to be written") }

// Update changes the record at the cursor to one that keeps its place.
func (c *Cursor) Update(record []byte) error { panic("to be written") }

// Delete removes the record at the cursor, which is then at the one behind it.
func (c *Cursor) Delete() error { panic("to be written") }

// Clone is a cursor at the same place.
func (c *Cursor) Clone() *Cursor { panic("to be written") }
