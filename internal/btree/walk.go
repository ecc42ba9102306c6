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

// walk goes through the blocks of a level from the left. The node above tells which
// blocks will be wanted, so that they are read ahead.
type walk struct {
	block
	tr    *Tree
	t     *live.Trans
	level int
	up    block // above, where the block is entry at; no data for the root
	at    int
	ahead int // the next entry to be read ahead
	err   error
}

// window is how many blocks are read ahead at most.
const window = 64

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
	} else {
		w.block, w.err = w.read(ptr, ondisk.NullPointer, w.level)
	}
	for w.err == nil && w.level > level && w.live() > 0 {
		w.let(&w.up)
		w.up, w.block = w.block, block{}
		w.level--
		w.block, w.err = w.read(w.up.below(0), ondisk.NullPointer, w.level)
	}
	if w.err != nil {
		w.end()
		return w, w.err
	}
	w.readAhead()
	return w, nil
}

// ok tells whether there is a block.
func (w *walk) ok() bool { return w.there() }

// next moves to the block on the right.
func (w *walk) next() {
	left, right := w.ptr, w.right()
	if w.let(&w.block); right == ondisk.NullPointer {
		w.end()
		return
	}
	w.at++
	if !w.up.there() || w.at >= w.up.live() {
		w.nextAbove()
	}
	if w.err == nil && w.up.below(w.at) != right {
		w.err = w.tr.damagedBlock(left, errBeside)
	}
	if w.err == nil {
		w.readAhead()
		w.block, w.err = w.read(right, left, w.level)
	}
	if w.err != nil {
		w.end()
	}
}

// nextAbove moves to the next node above.
func (w *walk) nextAbove() {
	if !w.up.there() || w.up.right() == ondisk.NullPointer {
		w.err = w.tr.damaged("level %d: %w", w.level, errBeside)
		return
	}
	left, right := w.up.ptr, w.up.right()
	w.let(&w.up)
	w.up, w.err = w.read(right, left, w.level+1)
	w.at, w.ahead = 0, 0
}

// readAhead begins to read the next blocks. What is wrong with them is told when it is their turn.
func (w *walk) readAhead() {
	if !w.up.there() {
		return
	}
	for w.ahead = max(w.ahead, w.at); w.ahead < min(w.at+window, w.up.live()); w.ahead++ {
		off, ok := w.tr.offset(w.up.below(w.ahead))
		if !ok {
			return
		}
		if ok, err := w.t.Cache.Ahead(off, w.tr.size); !ok || err != nil {
			return
		}
	}
}

// read takes a block, which is to have one on its left. Since each block has only one there,
// none comes twice.
func (w *walk) read(ptr, left uint64, level int) (block, error) {
	tr := w.tr
	off, ok := tr.offset(ptr)
	if !ok {
		return block{}, tr.damaged("level %d: there is no block %#x", level, ptr)
	}
	buf, err := w.t.Cache.Get(off, tr.size, &tr.buffers.kind)
	if err != nil {
		return block{}, tr.damagedBlock(ptr, err)
	}
	b := block{data: buf.Data, lay: tr.blocks.of(level), buf: buf, ptr: ptr}
	if err = tr.check(&b, level); err == nil && b.left() != left {
		err = errBeside
	}
	if err != nil {
		w.let(&b)
		return block{}, tr.damagedBlock(ptr, err)
	}
	return b, nil
}

// let lets go of a block.
func (w *walk) let(b *block) {
	if b.buf != nil {
		w.t.Cache.Unpin(b.buf)
	}
	*b = block{}
}

// end lets go of all.
func (w *walk) end() {
	w.let(&w.block)
	w.let(&w.up)
}
