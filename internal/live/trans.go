package live

import (
	"slices"

	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
)

// Trans is a transaction: a change to the filesystem that is made as a whole.
// The blocks that it looks at or changes stay in memory until it ends.
//
// Work that would need another AG's header, or that the kernel does in a
// transaction of its own (owners of blocks, blocks to be freed), is put off with
// Defer and done by Commit.
type Trans struct {
	*FS
	// Reserve is how many blocks the transaction may take: those that it will
	// still need are left when it allocates some.
	Reserve geometry.Blocks
	// Highest is the highest AG that the transaction has allocated in; it
	// looks no lower for more, as the kernel does lest it deadlock.
	Highest   geometry.AGNumber
	Allocated bool // Highest counts

	held   []*buffer.Buf
	inodes []Inode

	work   []deferred // put off, in order
	queue  []deferred // pieces of work that wait, the next one last
	pieces int        // that there have been
	last   int        // items in the newest
}

// Inode is an inode that a transaction has changed.
type Inode interface {
	// Flush puts the inode into its block, which it has changed then.
	Flush(t *Trans) error
}

// Get returns a block, which stays until the transaction ends.
func (t *Trans) Get(off int64, n int, k *buffer.Kind) (*buffer.Buf, error) {
	b, err := t.Cache.Get(off, n, k)
	if err != nil {
		return nil, err
	}
	t.held = append(t.held, b)
	return b, nil
}

// Fresh returns a block of zeros, which stays until the transaction ends. It is
// changed with that.
func (t *Trans) Fresh(off int64, n int, k *buffer.Kind) (*buffer.Buf, error) {
	b, err := t.Cache.Fresh(off, n, k)
	if err != nil {
		return nil, err
	}
	t.held = append(t.held, b)
	t.Cache.Dirty(b)
	return b, nil
}

// Dirty says that a block is changed.
func (t *Trans) Dirty(b *buffer.Buf) { t.Cache.Dirty(b) }

// Join adds an inode to those that Commit flushes. It tells whether the inode was
// not among them.
func (t *Trans) Join(i Inode) bool {
	if slices.Contains(t.inodes, i) {
		return false
	}
	t.inodes = append(t.inodes, i)
	return true
}

// Commit does what was put off, puts inodes into their blocks, and ends the
// transaction.
func (t *Trans) Commit() error {
	if err := t.finish(); err != nil {
		return err
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, b := range t.held {
		t.Cache.Unpin(b)
	}
	clear(t.held)
	t.held, t.Allocated, t.Highest = t.held[:0], false, 0
	t.idle = append(t.idle, t)
	return t.Cache.Tick()
}

func (t *Trans) flush() error {
	for i := 0; i < len(t.inodes); i++ {
		if err := t.inodes[i].Flush(t); err != nil {
			return err
		}
	}
	clear(t.inodes)
	t.inodes = t.inodes[:0]
	return nil
}

// Roll ends the transaction and begins another that goes on with the same blocks and
// the work that was put off. It may allocate in any AG.
func (t *Trans) Roll() error {
	t.Allocated, t.Highest = false, 0
	return t.flush()
}
