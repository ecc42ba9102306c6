package btree

import (
	"fmt"
	"slices"

	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Fork is the root of a tree in the fork of an inode, in memory. The zero value is
// none. An operation on the tree changes it, and nobody is told: who does one
// logs the inode.
type Fork struct {
	kind *Kind
	size int // bytes that it may take in the inode
	lays layouts
	// data looks like a block without siblings, so that cursors need not care. It is
	// laid out for what the inode has room for.
	data []byte
}

// rootHeader is the length of the header of a root in an inode: level and number of entries.
const rootHeader = 4

// Level is the root's level.
func (f *Fork) Level() int { return ondisk.BtreeLevel(f.data) }

// Live is the number of the root's records or pointers.
func (f *Fork) Live() int { return ondisk.BtreeRecords(f.data) }

// Below is pointer i of a root that is a node.
func (f *Fork) Below(i int) uint64 {
	b := f.block()
	return b.below(i)
}

// Needs is how many bytes the root takes in an inode at least.
func (f *Fork) Needs() int { return rootHeader + f.Live()*f.lay().entry() }

// Reset makes it none. Memory is kept.
func (f *Fork) Reset() { *f = Fork{data: f.data[:0]} }

// Start makes it a root that is an empty leaf, with so many bytes in the inode.
func (f *Fork) Start(k *Kind, size int) {
	form := &ondisk.LongBtreeV4
	room := max(size-rootHeader, 0)
	f.kind, f.size = k, size
	f.lays = newLayouts(k, form, form.Header+room)
	f.data = slices.Grow(f.data[:0], form.Header+room)[:form.Header+room]
	clear(f.data)
	form.Init(f.data, k.Magic, 0, 0, 0, 0, nil)
}

// Load reads a root from the fork of an inode, which is all of the slice.
func (f *Fork) Load(k *Kind, fork []byte) error {
	f.Start(k, len(fork))
	if len(fork) < rootHeader || f.lays[node].max == 0 {
		return fmt.Errorf("a fork of %d bytes has no room for the root of a %s", len(fork), k.Name)
	}
	level, n := ondisk.ForkRootHeader(fork)
	if level >= MaxLevels || level == 0 && !k.LeafRoot {
		return fmt.Errorf("the root of a %s has level %d", k.Name, level)
	}
	if lay := f.lays.of(level); n > lay.max || n == 0 && level > 0 {
		return fmt.Errorf("the root of a %s has %d entries, and room for %d", k.Name, n, lay.max)
	}
	ondisk.SetBtreeLevel(f.data, level)
	ondisk.SetBtreeRecords(f.data, n)
	f.live(func(part []byte, at int) { copy(part, fork[at:]) })
	return nil
}

// Put writes the root into the fork of an inode, which is all of the slice, and leaves
// alone what is behind the live entries. (xfs_bmbt_to_bmdr in libxfs.)
func (f *Fork) Put(fork []byte) {
	if len(fork) != f.size {
		panic(fmt.Sprintf("btree: a root that may take %d bytes is put into a fork of %d", f.size, len(fork)))
	}
	ondisk.PutForkRootHeader(fork, f.Level(), f.Live())
	f.live(func(part []byte, at int) { copy(fork[at:], part) })
}

// live calls do with the live entries and the live pointers, and with where each of both
// is in the inode's fork. Only the header before them is shorter there.
func (f *Fork) live(do func(part []byte, at int)) {
	lay, n := f.lay(), f.Live()
	shift := lay.form.Header - rootHeader
	do(f.data[lay.first:][:n*lay.size], lay.first-shift)
	do(f.data[lay.ptrs:][:n*lay.ptr], max(lay.ptrs-shift, 0))
}

// Resize gives it more bytes in the inode, or less. It is false if it does not fit:
// then PushDown comes first. Cursors are stale after it.
func (f *Fork) Resize(size int) bool {
	if f.Needs() > size {
		return false
	}
	old := Fork{kind: f.kind, lays: f.lays, data: f.data}
	from := old.block()
	f.data = nil
	f.Start(f.kind, size)
	ondisk.SetBtreeLevel(f.data, old.Level())
	ondisk.SetBtreeRecords(f.data, old.Live())
	b := f.block()
	b.copyFrom(0, &from, 0, old.Live())
	return true
}

func (f *Fork) lay() *layout { return f.lays.of(f.Level()) }

// block is the root as one.
func (f *Fork) block() block { return block{data: f.data, lay: f.lay()} }

// Plant makes a tree of one leaf, at a block that the caller has allocated, below a
// node in the fork. fill writes the n records.
// (xfs_bmap_extents_to_btree in libxfs.)
func (tr *Tree) Plant(t *live.Trans, size int, ptr uint64, n int, fill func(i int, record []byte)) error {
	tr.bind(t.FS)
	b, err := tr.fresh(t, ptr, 0, n)
	if err != nil {
		return err
	}
	if n < 1 || n > b.lay.max {
		panic("btree: a leaf cannot have so many records")
	}
	for i := range n {
		fill(i, b.entry(i))
	}
	tr.Fork.Start(tr.Kind, size)
	tr.topple(&b)
	return nil
}

// topple makes the root in the fork a node that points to one block.
func (tr *Tree) topple(child *block) {
	f := tr.Fork
	ondisk.SetBtreeLevel(f.data, ondisk.BtreeLevel(child.data)+1)
	ondisk.SetBtreeRecords(f.data, 1)
	root := f.block()
	tr.keysOf(root.entry(0), child)
	root.setBelow(0, child.ptr)
}

// PushDown moves what the root in the fork holds to a block below it, which makes the
// tree higher. The cursor stays where it is. It returns false if there is no block.
// (xfs_btree_new_iroot in libxfs.)
func (c *Cursor) PushDown() (bool, error) {
	tr, level := c.Tree, c.levels-1
	if c.levels == MaxLevels {
		return false, tr.damaged("it would have more than %d levels", MaxLevels)
	}
	root := tr.Fork.block()
	n := root.live()
	if n >= tr.blocks.of(level).max {
		return false, tr.damaged("its root has %d entries, and a block has no room for more", n)
	}
	near := tr.Owner >> tr.fs.G.InodeBlockLog() // the inode's block
	if level > 0 {
		near = root.below(0)
	}
	ptr, ok, err := tr.Root.Alloc(c.t, near)
	if !ok || err != nil {
		return false, err
	}
	child, err := tr.fresh(c.t, ptr, level, n)
	if err != nil {
		return false, err
	}
	child.copyFrom(0, &root, 0, n)
	tr.topple(&child)
	c.path[level+1] = place{block: tr.Fork.block()}
	c.path[level].block = child
	c.levels++
	return true, nil
}

// pullUp takes the only block below the root in the fork into it, if it fits. A leaf
// stays one but in the kinds whose root may be one, and for those as well it is the
// room for pointers that decides. (xfs_btree_kill_iroot in libxfs.)
func (c *Cursor) pullUp() error {
	tr, level := c.Tree, c.levels-1
	if level == 0 || level == 1 && !tr.LeafRoot {
		return nil
	}
	f := tr.Fork
	root, child := f.block(), c.path[level-1].block
	n := child.live()
	if root.live() != 1 || n > f.lays[node].max || n > f.lays.of(level-1).max {
		return nil
	}
	if root.below(0) != child.ptr {
		return tr.damagedBlock(child.ptr, errBeside)
	}
	ondisk.SetBtreeLevel(f.data, level-1)
	ondisk.SetBtreeRecords(f.data, n)
	root = f.block()
	root.copyFrom(0, &child, 0, n)
	c.path[level] = place{}
	c.path[level-1].block = root
	c.levels--
	return tr.free(c.t, &child)
}
