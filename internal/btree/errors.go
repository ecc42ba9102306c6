package btree

import (
	"errors"
	"fmt"
)

// Faults of trees.
var (
	errFilesystem = errors.New("it is of another filesystem: the UUID is wrong")
	errEmpty      = errors.New("it is empty")
	errBeside     = errors.New("blocks beside each other do not agree with those above")
	errNoPlace    = errors.New("the cursor is not at a record there")
	errOrder      = errors.New("records are out of order")
)

// name tells which tree it is.
func (tr *Tree) name() string {
	if tr.Long {
		return fmt.Sprintf("%s of inode %d", tr.Name, tr.Owner)
	}
	return fmt.Sprintf("%s of AG %d", tr.Name, tr.AG)
}

func (tr *Tree) damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w", tr.name(), fmt.Errorf(format, args...))
}

func (tr *Tree) damagedBlock(ptr uint64, err error) error {
	return fmt.Errorf("%s: block %d: %w", tr.name(), ptr, err)
}
