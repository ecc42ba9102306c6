package refcount_test

import (
	"slices"
	"testing"

	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// ag is what an AG has: its header, its free list, and what is in use of the blocks of its trees.
type ag struct {
	agf    live.AGF
	listed []geometry.AGBlock
	trees  map[string][]block
}

type block struct {
	ptr  uint64
	data []byte
}

// fixed is the root of a tree that is only read.
type fixed struct {
	nothing
	ptr    uint64
	levels int
}

// nothing is the rest of a root.
type nothing interface {
	SetRoot(t *live.Trans, ptr uint64, levels int) error
	Alloc(t *live.Trans, near uint64) (ptr uint64, ok bool, err error)
	Free(t *live.Trans, ptr uint64) error
}

func (f fixed) Root() (uint64, int) { return f.ptr, f.levels }

// treesOf are the trees of an AG.
func treesOf(agf live.AGF, g *geometry.Geometry) (list []*btree.Tree) {
	for _, r := range []struct {
		kind        *btree.Kind
		there       bool
		root, level ondisk.Field32
	}{
		{btree.Bnobt, true, ondisk.AGFBnoRoot, ondisk.AGFBnoLevel},
		{btree.Cntbt, true, ondisk.AGFCntRoot, ondisk.AGFCntLevel},
		{btree.Rmapbt, g.Features.Rmapbt, ondisk.AGFRmapRoot, ondisk.AGFRmapLevel},
		{btree.Refcountbt, g.Features.Reflink, ondisk.AGFRefcountRoot, ondisk.AGFRefcountLevel},
	} {
		if r.there {
			root := fixed{ptr: uint64(agf.Get(r.root)), levels: int(agf.Get(r.level))}
			list = append(list, &btree.Tree{Kind: r.kind, AG: agf.AG, Root: root})
		}
	}
	return list
}

func readAG(t *testing.T, fs *live.FS, agno geometry.AGNumber) ag {
	t.Helper()
	tr := fs.Begin(0)
	agf, err := tr.AGF(agno)
	if err != nil {
		t.Fatal(err)
	}
	a := ag{agf: agf, trees: map[string][]block{}}
	if a.listed, err = agf.Listed(); err != nil {
		t.Fatal(err)
	}
	for _, tree := range treesOf(agf, fs.G) {
		err := tree.Visit(tr, func(level int, ptr uint64, data []byte) error {
			a.trees[tree.Name] = append(a.trees[tree.Name], block{ptr, inUse(tree.Kind, level, data)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// inUse is what is in use of a block of a tree, without its checksum and the number of the last change.
func inUse(k *btree.Kind, level int, data []byte) []byte {
	data = slices.Clone(data)
	const lsn, uuid = 24, 32
	clear(data[lsn:uuid])
	clear(data[ondisk.BtreeHeader-4 : ondisk.BtreeHeader])
	n := ondisk.BtreeRecords(data)
	if level == 0 {
		return data[:ondisk.BtreeHeader+n*k.Record]
	}
	most := (len(data) - ondisk.BtreeHeader) / (k.Key + 4)
	ptrs := data[ondisk.BtreeHeader+most*k.Key:][:4*n]
	return append(data[:ondisk.BtreeHeader+n*k.Key:ondisk.BtreeHeader+n*k.Key], ptrs...)
}
