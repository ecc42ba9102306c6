package live

import (
	"iter"

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
	// LogSpace is what it has reserved of the log, which bounds how much work is done in one go. 0 stands for what
	// truncating a file reserves.
	LogSpace geometry.Bytes
	// Highest is the highest AG that the transaction has allocated in; it
	// looks no lower for more, as the kernel does lest it deadlock.
	Highest   geometry.AGNumber
	Allocated bool // Highest counts
	// LowSpace: blocks were to be had only where none are left for the rest of the
	// operation. It looks no more for the best ones.
	LowSpace bool

	held   []*buffer.Buf
	inodes []joined

	work   []deferred // put off, in order
	queue  []deferred // pieces of work that wait, the next one last
	pieces int        // that there have been
	last   int        // items in the newest
	turns  int        // how often a piece was begun, or gone on with
}

// Inode is an inode of a transaction.
type Inode interface {
	// Flush puts the inode into its block, which it has changed then. That counts
	// as a change of the file.
	Flush(t *Trans) error
}

// joined is an inode of a transaction, and whether that has changed it since it
// began or was rolled.
type joined struct {
	Inode
	logged bool
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

// Again is Get for a block that some transaction has got before. It tells whether it is still there, as
// of that kind.
func (t *Trans) Again(b *buffer.Buf, k *buffer.Kind) bool {
	if !t.Cache.Again(b, k) {
		return false
	}
	t.held = append(t.held, b)
	return true
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

// GetSpans is Get for a block in several places.
func (t *Trans) GetSpans(spans []buffer.Span, k *buffer.Kind) (*buffer.Buf, error) {
	b, err := t.Cache.GetSpans(spans, k)
	if err != nil {
		return nil, err
	}
	t.held = append(t.held, b)
	return b, nil
}

// FreshSpans is Fresh for a block in several places.
func (t *Trans) FreshSpans(spans []buffer.Span, k *buffer.Kind) (*buffer.Buf, error) {
	b, err := t.Cache.FreshSpans(spans, k)
	if err != nil {
		return nil, err
	}
	t.held = append(t.held, b)
	t.Cache.Dirty(b)
	return b, nil
}

// Dirty says that a block is changed.
func (t *Trans) Dirty(b *buffer.Buf) { t.Cache.Dirty(b) }

// Join makes an inode one of the transaction's. Work that was put off takes a
// transaction for each piece but the first: at the end of all that come before, an
// inode that was joined is flushed, whether it was logged or not. (xfs_trans_ijoin,
// and xfs_defer_save_resources in libxfs.)
func (t *Trans) Join(i Inode) { t.join(i) }

// Log says that the transaction has changed an inode, which joins it with that and
// is flushed at its end. (xfs_trans_log_inode in libxfs.)
func (t *Trans) Log(i Inode) { t.join(i).logged = true }

func (t *Trans) join(i Inode) *joined {
	for k := range t.inodes {
		if t.inodes[k].Inode == i {
			return &t.inodes[k]
		}
	}
	t.inodes = append(t.inodes, joined{Inode: i})
	return &t.inodes[len(t.inodes)-1]
}

// Inodes yields the inodes of the transaction.
func (t *Trans) Inodes() iter.Seq[Inode] {
	return func(yield func(Inode) bool) {
		for _, j := range t.inodes {
			if !yield(j.Inode) {
				return
			}
		}
	}
}

// Commit does what was put off, puts inodes into their blocks, and ends the
// transaction.
func (t *Trans) Commit() error {
	if err := t.finish(); err != nil {
		return err
	}
	if err := t.Roll(); err != nil {
		return err
	}
	for _, b := range t.held {
		t.Cache.Unpin(b)
	}
	clear(t.held)
	t.held = t.held[:0]
	t.idle = append(t.idle, t)
	return t.Cache.Tick()
}

// Roll ends the transaction and begins another that goes on with the same blocks and
// the work that was put off. It may allocate in any AG. Inodes that were changed are
// flushed, and none is the new one's. (xfs_trans_roll in libxfs.)
func (t *Trans) Roll() error {
	err := t.renew(false)
	clear(t.inodes)
	t.inodes = t.inodes[:0]
	return err
}

// renew flushes inodes that were changed, or all, and leaves them joined.
func (t *Trans) renew(all bool) error {
	t.Allocated, t.Highest, t.LowSpace = false, 0, false
	for i := range t.inodes {
		if j := &t.inodes[i]; j.logged || all {
			j.logged = false
			if err := j.Flush(t); err != nil {
				return err
			}
		}
	}
	return nil
}
