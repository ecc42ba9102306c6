package btree

import (
	"iter"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Walks hold one block at a time, however large the tree is, and let go of it. The
// tree is not to be changed meanwhile.

// Records yields all records in order, each in its block. An error, of a block that
// cannot be read or a damaged tree, is the last that it yields.
func (tr *Tree) Records(t *live.Trans) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		w, err := tr.walk(t, 0)
		if err != nil {
			yield(nil, err)
			return
		}
		defer w.end()
		var last [maxKey]byte // of the key before
		for any := false; w.ok(); w.next() {
			b := &w.block
			for i := range b.live() {
				r := b.entry(i)
				if any && tr.compare(r, last[:]) <= 0 {
					yield(nil, tr.damagedBlock(b.ptr, errOrder))
					return
				}
				tr.putKey(last[:], r)
				any = true
				if !yield(r, nil) {
					return
				}
			}
		}
		if w.err != nil {
			yield(nil, w.err)
		}
	}
}

// Blocks counts the blocks of a tree, without a root in a fork. Leaves are not read.
func (tr *Tree) Blocks(t *live.Trans) (n geometry.Blocks, err error) {
	levels, err := tr.levels(t)
	if err != nil {
		return 0, err
	}
	if tr.Fork == nil {
		n = 1
	}
	for level := levels - 1; level > 0; level-- {
		w, err := tr.walk(t, level)
		if err != nil {
			return 0, err
		}
		for ; w.ok(); w.next() {
			n += geometry.Blocks(w.live())
		}
		w.end()
		if w.err != nil {
			return 0, w.err
		}
	}
	return n, nil
}

// Visit calls do with each block of a tree, from the root downwards and each level
// from the left, without a root in a fork.
func (tr *Tree) Visit(t *live.Trans, do func(level int, ptr uint64, data []byte) error) error {
	levels, err := tr.levels(t)
	if err != nil {
		return err
	}
	for level := levels - 1; level >= 0; level-- {
		w, err := tr.walk(t, level)
		if err != nil {
			return err
		}
		for ; w.ok(); w.next() {
			if w.inFork() {
				continue
			}
			if err := do(level, w.ptr, w.data); err != nil {
				w.end()
				return err
			}
		}
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

// levels is the height of the tree.
func (tr *Tree) levels(t *live.Trans) (int, error) {
	var c Cursor
	c.Init(tr, t)
	_, err := c.begin()
	return c.levels, err
}

// walk goes through the blocks of a level from the left.
type walk struct {
	block
	tr    *Tree
	t     *live.Trans
	level int
	err   error
}

// walk begins a walk through a level.
func (tr *Tree) walk(t *live.Trans, level int) (w walk, err error) {
	var c Cursor
	c.Init(tr, t)
	ptr, err := c.begin()
	if err != nil {
		return w, err
	}
	w = walk{tr: tr, t: t, level: c.levels - 1}
	if tr.Fork != nil {
		w.block = tr.Fork.block()
		if w.level == level || w.live() == 0 {
			return w, nil
		}
		w.level--
		ptr = w.below(0)
	}
	for w.load(ptr, ondisk.NullPointer); w.err == nil && w.level > level; w.load(ptr, ondisk.NullPointer) {
		ptr = w.below(0)
		w.level--
	}
	return w, w.err
}

// ok tells whether there is a block.
func (w *walk) ok() bool { return w.data != nil }

// next moves to the block on the right.
func (w *walk) next() {
	if w.inFork() || w.right() == ondisk.NullPointer {
		w.end()
		return
	}
	w.load(w.right(), w.ptr)
}

// load lets go of the block and takes another, which is to have one on its left. Since each
// knows that, no block comes twice.
func (w *walk) load(ptr, left uint64) {
	w.end()
	tr := w.tr
	off, ok := tr.offset(ptr)
	if !ok {
		w.err = tr.damaged("level %d: there is no block %#x", w.level, ptr)
		return
	}
	buf, err := w.t.Cache.Get(off, tr.size, &tr.buffers.kind)
	if err != nil {
		w.err = tr.damagedBlock(ptr, err)
		return
	}
	w.block = block{data: buf.Data, lay: tr.blocks.of(w.level), buf: buf, ptr: ptr}
	if err = tr.check(&w.block, w.level); err == nil && w.left() != left {
		err = errBeside
	}
	if err != nil {
		w.end()
		w.err = tr.damagedBlock(ptr, err)
	}
}

// end lets go of the block.
func (w *walk) end() {
	if w.buf != nil {
		w.t.Cache.Unpin(w.buf)
	}
	w.block = block{}
}
