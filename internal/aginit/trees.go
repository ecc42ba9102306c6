package aginit

import (
	"iter"
	"math"
	"strings"

	"mkfs/internal/geometry"
	"mkfs/internal/memtree"
	"mkfs/internal/ondisk"
)

// treeBlock is a block of a btree within an AG.
type treeBlock struct {
	at  geometry.AGBlock
	put func(dst []byte) // into zeros, unsealed
}

// codec is how a btree has its records and keys.
type codec[R any] struct {
	record, key int // lengths
	overlaps    bool
	put         func(R, []byte)
	putKey      func(R, []byte)
}

// putSlots writes what a block has in its slots, live or not.
func putSlots[R any](c *codec[R], blk *memtree.Block[R], pointer int, putPointer func([]byte, uint64), dst []byte) {
	if blk.Level == 0 {
		for i, r := range blk.Records {
			c.put(r, dst[i*c.record:])
		}
		return
	}
	stride := c.key
	if c.overlaps {
		stride *= 2
	}
	keys, pointers := ondisk.BtreeNode(dst, stride, pointer)
	for i, child := range blk.Below {
		c.putKey(blk.Low[i], keys[i*stride:])
		if c.overlaps {
			c.putKey(blk.High[i], keys[i*stride+c.key:])
		}
		putPointer(pointers[i*pointer:], child.At)
	}
}

// blocksOf lists the blocks of a tree within an AG.
func blocksOf[R any](b *Builder, p *placed, ag *geometry.AG, t *memtree.Tree[R], c *codec[R]) (list []treeBlock) {
	neighbour := func(n *memtree.Block[R]) uint32 {
		if n == nil {
			return geometry.NullAGBlock
		}
		return uint32(n.At)
	}
	for blk := range t.All {
		at := geometry.AGBlock(blk.At)
		list = append(list, treeBlock{at, func(dst []byte) {
			h := ondisk.BtreeBlock{
				Magic: p.magic, Level: uint16(blk.Level), Records: uint16(blk.Live),
				Left: neighbour(blk.Left), Right: neighbour(blk.Right),
				Blkno: uint64(b.g.Daddr(ag.Number, at)), UUID: b.id.UUID, Owner: uint32(ag.Number),
			}
			entries := dst[h.Put(dst, b.v5()):]
			putSlots(c, blk, ondisk.BtreePointerSize, func(b []byte, at uint64) { ondisk.PutPointer(b, uint32(at)) }, entries)
		}})
	}
	return list
}

// treeBlock writes that block of a tree which is in the header.
func (b *Builder) treeBlock(p *placed, ag *geometry.AG, dst []byte) {
	for _, blk := range p.tree(b, p, ag) {
		if blk.at == b.rootBlock(p) {
			blk.put(dst)
		}
	}
}

// Grown is a block that a btree has grown by.
type Grown[At any] struct {
	Name string
	At   At
	Put  func(block []byte)
}

// GrownBlocks yields the blocks of an AG's btrees outside of its header.
func (b *Builder) GrownBlocks(agno geometry.AGNumber) iter.Seq[Grown[geometry.AGBlock]] {
	return func(yield func(Grown[geometry.AGBlock]) bool) {
		ag := b.g.AG(agno)
		for i := range b.table {
			p := &b.table[i]
			if p.tree == nil {
				continue
			}
			for _, blk := range p.tree(b, p, ag) {
				put := func(block []byte) {
					clear(block)
					blk.put(block)
					b.seal(p, block)
				}
				if blk.at != b.rootBlock(p) && !yield(Grown[geometry.AGBlock]{p.kind(), blk.at, put}) {
					return
				}
			}
		}
	}
}

// kind is the tree of a row that places its root.
func (r *row) kind() string { return strings.TrimSuffix(r.name, " root") }

func (b *Builder) inobt(p *placed, ag *geometry.AG) []treeBlock {
	return blocksOf(b, p, ag, ag.Inodes, b.inodeCodec())
}

func (b *Builder) finobt(p *placed, ag *geometry.AG) []treeBlock {
	return blocksOf(b, p, ag, ag.FreeInodes, b.inodeCodec())
}

func (b *Builder) inodeCodec() *codec[geometry.InodeRecord] {
	return &codec[geometry.InodeRecord]{
		record: ondisk.InodeRecordSize, key: ondisk.InodeKeySize,
		put: func(r geometry.InodeRecord, dst []byte) {
			ondisk.InodeRecord{
				Start: r.Start, Sparse: b.g.Features.Sparse, HoleMask: r.Holes, Count: uint8(r.Count()),
				FreeCount: uint32(r.FreeCount()), Free: r.Free,
			}.Put(dst)
		},
		putKey: func(r geometry.InodeRecord, dst []byte) { ondisk.PutPointer(dst, r.Start) },
	}
}

// rmapbt lists every used extent with its owner.
func (b *Builder) rmapbt(p *placed, ag *geometry.AG) []treeBlock {
	return blocksOf(b, p, ag, ag.Owners, &codec[geometry.Use]{
		record: ondisk.RmapRecordSize, key: ondisk.RmapKeySize, overlaps: true,
		put:    func(u geometry.Use, dst []byte) { rmapRecord(u).Put(dst) },
		putKey: func(u geometry.Use, dst []byte) { rmapRecord(u).PutKey(dst) },
	})
}

// owners are the numbers of owners that are no files.
var owners = map[geometry.Owner]uint64{
	geometry.OwnedByFS:       ondisk.OwnFS,
	geometry.OwnedByAG:       ondisk.OwnAG,
	geometry.OwnedByInobt:    ondisk.OwnInobt,
	geometry.OwnedByRefcount: ondisk.OwnRefcount,
	geometry.OwnedByLog:      ondisk.OwnLog,
	geometry.OwnedByInodes:   ondisk.OwnInodes,
}

func rmapRecord(u geometry.Use) ondisk.RmapRecord {
	r := ondisk.RmapRecord{Start: uint32(u.Start), Blocks: uint32(u.Blocks), Offset: uint64(u.Offset)}
	owner, other := owners[u.Owner]
	if r.Owner = owner; !other {
		r.Owner = uint64(u.Inode)
	}
	if u.Bmbt {
		r.Offset = ondisk.RmapBmbt
	}
	return r
}

// extentCodec is how the btree of a file's extents has them.
var extentCodec = &codec[geometry.FileExtent]{
	record: ondisk.FileExtentSize, key: ondisk.BmbtKeySize,
	put: func(e geometry.FileExtent, dst []byte) {
		ondisk.FileExtent{Offset: uint64(e.Offset), Start: uint64(e.Start), Blocks: uint32(e.Blocks)}.Put(dst)
	},
	putKey: func(e geometry.FileExtent, dst []byte) { ondisk.PutLongPointer(dst, uint64(e.Offset)) },
}

// FileTree yields the blocks of a file's extent btree below its root.
func (b *Builder) FileTree(f *geometry.File) iter.Seq[Grown[geometry.FSBlock]] {
	neighbour := func(n *memtree.Block[geometry.FileExtent]) uint64 {
		if n == nil {
			return math.MaxUint64
		}
		return n.At
	}
	return func(yield func(Grown[geometry.FSBlock]) bool) {
		if f.Tree == nil {
			return
		}
		for blk := range f.Tree.All {
			if blk == f.Tree.Root() {
				continue
			}
			at := geometry.FSBlock(blk.At)
			put := func(block []byte) {
				clear(block)
				h := ondisk.LongBtreeBlock{
					Magic: ondisk.BmbtMagic, Level: uint16(blk.Level), Records: uint16(blk.Live),
					Left: neighbour(blk.Left), Right: neighbour(blk.Right),
					Blkno: uint64(b.g.Daddr(b.g.BlockAddress(at))), UUID: b.id.UUID, Owner: uint64(f.Inode),
				}
				putSlots(extentCodec, blk, ondisk.LongPointerSize, ondisk.PutLongPointer, block[h.Put(block):])
				ondisk.Seal(block, ondisk.LongBtreeCRC)
			}
			if !yield(Grown[geometry.FSBlock]{"extent btree of " + f.Place(), at, put}) {
				return
			}
		}
	}
}

// putFork writes what a data fork holds: extents, or the root of their memtree.
func putFork(k geometry.Fork, fork []byte) {
	if k.Level == 0 {
		for n, e := range k.Extents {
			extentCodec.put(e, fork[n*ondisk.FileExtentSize:])
		}
		return
	}
	keys, below := make([]uint64, len(k.Keys)), make([]uint64, len(k.Keys))
	for i := range keys {
		keys[i], below[i] = uint64(k.Keys[i]), uint64(k.Below[i])
	}
	ondisk.BmbtRoot.PutNode(fork, k.Level, keys, below)
}
