package btree

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Root is where the root of a tree is known, and where its blocks come from. Blocks
// are AGBlocks of trees within an AG, and FSBlocks of others.
type Root interface {
	// Root is the block of the root and the number of levels, and SetRoot changes
	// them. Trees in forks do not ask.
	Root() (ptr uint64, levels int)
	SetRoot(t *live.Trans, ptr uint64, levels int) error
	// Alloc gives a block near another, or tells by false that there is none. It
	// must not change the tree.
	Alloc(t *live.Trans, near uint64) (ptr uint64, ok bool, err error)
	// Free takes a block back, when all is known of the tree that remains.
	Free(t *live.Trans, ptr uint64) error
}

// Tree is a tree of a filesystem. Cursors point to it: it does not move while there
// are any. What it is of does not change once a cursor has been made.
type Tree struct {
	*Kind
	AG    geometry.AGNumber // of a tree within one
	Owner uint64            // inode of a long tree
	Root  Root
	// Fork is the root of a long tree; nil for others.
	Fork *Fork

	// What follows from the filesystem, once a cursor has asked.
	fs      *live.FS
	buffers *buffers
	blocks  *layouts
	size    int    // of a block in bytes
	first   uint64 // the first block of an AG that may be one of the tree,
	end     uint64 // and the one behind the last, of a tree within one
	room    keys

	changes uint64 // counts records that were entered or removed
}

// keys is room for keys while cursors work.
type keys struct {
	sought [maxKey]byte    // by a lookup
	up     [2][maxKey]byte // of a new block, for the level above: of even and odd levels
	raised [maxKey]byte    // of a block that has changed, likewise
	gone   [maxKey]byte    // the end of an entry that is gone, or another
	come   [maxKey]byte    // and of one that is new

	// The ends of the range of a query, and the first keys of the last blocks that it has visited, by level.
	low, high [maxKey]byte
	visited   [MaxLevels][maxKey]byte
}

// Cursor makes a cursor that is nowhere yet.
func (tr *Tree) Cursor(t *live.Trans) *Cursor {
	c := &Cursor{}
	c.Init(tr, t)
	return c
}

// bind settles what follows from the filesystem.
func (tr *Tree) bind(fs *live.FS) {
	if tr.fs == fs {
		return
	}
	tr.fs = fs
	tr.buffers = tr.Kind.buffers(fs.V5)
	tr.size = int(fs.G.BlockSize)
	tr.blocks = &tr.buffers.blocks[fs.G.BlockLog-minBlockLog]
	tr.first = uint64(fs.G.SectorBlocks())
	if !tr.Long {
		tr.end = uint64(fs.G.AGLength(tr.AG))
		tr.Owner = uint64(tr.AG)
	}
}

// where is where a pointer leads to.
func (tr *Tree) where(ptr uint64) (geometry.AGNumber, geometry.AGBlock) {
	if !tr.Long {
		return tr.AG, geometry.AGBlock(ptr)
	}
	log := tr.fs.G.AGBlockLog
	return geometry.AGNumber(ptr >> log), geometry.AGBlock(ptr & (1<<log - 1))
}

// can tells whether a tree can have a block: not headers of AGs, and what is not there.
func (tr *Tree) can(ptr uint64) bool {
	if !tr.Long {
		return ptr >= tr.first && ptr < tr.end
	}
	g := tr.fs.G
	agno, agbno := tr.where(ptr)
	return ptr>>g.AGBlockLog < uint64(g.AGCount) && uint64(agbno) >= tr.first &&
		geometry.Blocks(agbno) < g.AGLength(agno)
}

// offset is the byte at which a block is. It is false for one that no tree can have.
func (tr *Tree) offset(ptr uint64) (int64, bool) {
	if !tr.can(ptr) {
		return 0, false
	}
	return tr.fs.Offset(tr.where(ptr)), true
}

// read returns the block at a pointer, which is of a level.
func (tr *Tree) read(t *live.Trans, ptr uint64, level int) (block, error) {
	off, ok := tr.offset(ptr)
	if !ok {
		return block{}, tr.damaged("level %d: there is no block %#x", level, ptr)
	}
	buf, err := t.Get(off, tr.size, &tr.buffers.kind)
	if err != nil {
		return block{}, tr.damagedBlock(ptr, err)
	}
	b := block{data: buf.Data, lay: tr.blocks.of(level), buf: buf, ptr: ptr}
	if err := tr.check(&b, level); err != nil {
		return block{}, tr.damagedBlock(ptr, err)
	}
	return b, nil
}

// check tells what is wrong with a block for this tree and level. It is asked of
// blocks that are in memory, too: another structure may have claimed them.
func (tr *Tree) check(b *block, level int) error {
	if ondisk.BtreeMagicOf(b.data) != tr.buffers.magic {
		return errMagic
	}
	if l := ondisk.BtreeLevel(b.data); l != level {
		return fmt.Errorf("its level is %d, and not %d", l, level)
	}
	if b.lay.form.CRC > 0 {
		if owner := b.lay.form.Owner(b.data); owner != tr.Owner {
			return fmt.Errorf("its owner is %d, and not %d", owner, tr.Owner)
		}
		if *b.lay.form.ID(b.data) != tr.fs.UUID {
			return errFilesystem
		}
	}
	left, right := b.left(), b.right()
	if n := ondisk.BtreeRecords(b.data); n > b.lay.max {
		return fmt.Errorf("it has %d entries, and room for %d", n, b.lay.max)
	} else if n == 0 && (level > 0 || left != ondisk.NullPointer || right != ondisk.NullPointer) {
		return errEmpty
	}
	for _, ptr := range [...]uint64{left, right} {
		if ptr == ondisk.NullPointer {
			continue
		}
		if ptr == b.ptr || !tr.can(ptr) {
			return fmt.Errorf("it has block %#x beside it", ptr)
		}
	}
	return nil
}

// fresh returns a new block.
func (tr *Tree) fresh(t *live.Trans, ptr uint64, level, records int) (block, error) {
	off, ok := tr.offset(ptr)
	if !ok {
		return block{}, tr.damaged("level %d: it was given block %#x", level, ptr)
	}
	buf, err := t.Fresh(off, tr.size, &tr.buffers.kind)
	if err != nil {
		return block{}, tr.damagedBlock(ptr, err)
	}
	t.Revive(buf)
	b := block{data: buf.Data, lay: tr.blocks.of(level), buf: buf, ptr: ptr}
	b.lay.form.Init(b.data, tr.buffers.magic, level, records, tr.fs.Daddr(off), tr.Owner, &tr.fs.UUID)
	return b, nil
}

// free gives back a block that the tree has no more.
func (tr *Tree) free(t *live.Trans, b *block) error {
	if err := tr.Root.Free(t, b.ptr); err != nil {
		return err
	}
	t.Leave(b.buf)
	t.Cache.Forget(b.buf.Off, int64(len(b.buf.Data)))
	return nil
}

// Start makes the block of a tree of one leaf without records, as a root is when it
// is new.
func (tr *Tree) Start(t *live.Trans, ptr uint64) error {
	tr.bind(t.FS)
	_, err := tr.fresh(t, ptr, 0, 0)
	return err
}
