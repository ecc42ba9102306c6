package ialloc

import (
	"fmt"

	"mkfs/internal/alloc"
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/rmap"
)

// allocator is what is kept of a filesystem from one allocation to the next.
type allocator struct {
	rotor uint32 // counts directories, to give each the next AG
	// last is where the inobts of AGs were last searched.
	last map[geometry.AGNumber]lastSearch
	// groups are AGs that were used last, each in the place of its number modulo theirs.
	groups [64]group
	// Places in trees, which a search uses at once.
	left, right, cursor btree.Cursor
}

// of is the allocator of a filesystem.
func of(fs *live.FS) *allocator {
	a, ok := fs.Inodes.(*allocator)
	if !ok {
		a = &allocator{last: map[geometry.AGNumber]lastSearch{}}
		fs.Inodes = a
	}
	return a
}

// group is an AG with its trees of inodes. It is kept, so that its parts need not be
// made again, and open makes it one of a transaction.
type group struct {
	live.AGI
	*allocator
	t      *live.Trans
	agno   geometry.AGNumber
	known  bool // that it is agno's
	sparse bool // records may have holes
	ino    btree.Tree
	fino   btree.Tree
	roots  [2]root // of these
	kept   kept
	// The first inode that the AG may have, and the one behind the last.
	first, end uint64
	buf        [ondisk.InodeRecordSize]byte // of a record that is looked for, or changed
	core       [ondisk.InodeCore]byte       // of a free inode
}

// open gets an AG.
func open(t *live.Trans, agno geometry.AGNumber) (*group, error) {
	agi, err := t.AGI(agno)
	if err != nil {
		return nil, err
	}
	a := of(t.FS)
	g := &a.groups[int(agno)%len(a.groups)]
	if !g.known || g.agno != agno {
		*g = group{allocator: a, agno: agno, known: true, sparse: t.G.Features.Sparse}
		g.roots = [2]root{{g, false}, {g, true}}
		g.ino = btree.Tree{Kind: btree.Inobt, AG: agno, Root: &g.roots[0]}
		g.fino = btree.Tree{Kind: btree.Finobt, AG: agno, Root: &g.roots[1]}
		g.first, g.end = inodes(t.FS, agno)
	}
	g.AGI, g.t = agi, t
	return g, nil
}

// at makes a cursor one of a tree, and nowhere yet.
func (g *group) at(c *btree.Cursor, tr *btree.Tree) *btree.Cursor {
	c.Init(tr, g.t)
	return c
}

func (g *group) finobt() bool { return g.t.G.Features.Finobt }

// changed says that the AGI is changed.
func (g *group) changed() { g.t.Dirty(g.AGI.Buf) }

// errorf is an error of something in the AG.
func (g *group) errorf(what, format string, args ...any) error {
	return fmt.Errorf("%s of AG %d: %s", what, g.agno, fmt.Sprintf(format, args...))
}

// root is the root of a tree of inodes in the AGI, which counts their blocks. These come
// from free space; those of the finobt are reserved there.
type root struct {
	g    *group
	free bool
}

// Whose the blocks of chunks are, and those of both trees.
var (
	ownedByInodes = rmap.Owner{Owner: ondisk.OwnInodes}
	ownedByTrees  = rmap.Owner{Owner: ondisk.OwnInobt}
)

// Root is of btree.Root.
func (r *root) Root() (ptr uint64, levels int) {
	at, n := r.g.Root()
	if r.free {
		at, n = r.g.FreeRoot()
	}
	return uint64(at), int(n)
}

// SetRoot is of btree.Root.
func (r *root) SetRoot(_ *live.Trans, ptr uint64, levels int) error {
	if r.free {
		r.g.SetFreeRoot(uint32(ptr), uint32(levels))
	} else {
		r.g.SetRoot(uint32(ptr), uint32(levels))
	}
	r.g.changed()
	return nil
}

// Alloc is of btree.Root (xfs_inobt_alloc_block).
func (r *root) Alloc(t *live.Trans, near uint64) (ptr uint64, ok bool, err error) {
	at := t.G.FSBlock(r.g.agno, geometry.AGBlock(near))
	got, _, ok, err := alloc.Near(t, at, alloc.Request{Min: 1, Max: 1, Owner: ownedByTrees, Reserve: r.reserve()})
	if err != nil || !ok {
		return 0, false, err
	}
	r.count(1)
	_, agbno := t.G.BlockAddress(got)
	return uint64(agbno), true, nil
}

// Free is of btree.Root (xfs_inobt_free_block).
func (r *root) Free(t *live.Trans, ptr uint64) error {
	r.count(-1)
	alloc.FreeLater(t, t.G.FSBlock(r.g.agno, geometry.AGBlock(ptr)), 1, ownedByTrees, r.reserve())
	return nil
}

func (r *root) reserve() alloc.Reserve {
	if r.free {
		return alloc.ReserveMetadata
	}
	return alloc.ReserveNone
}

// count counts blocks, where the AGI does.
func (r *root) count(n int) {
	if !r.g.t.G.Features.InobtCount {
		return
	}
	if r.free {
		r.g.AddFreeBlocks(n)
	} else {
		r.g.AddBlocks(n)
	}
	r.g.changed()
}
