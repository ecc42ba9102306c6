package verify

import (
	"fmt"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/rule"
	"mkfs/internal/super"
)

// rootRow is a kind of btree of an AG.
type rootRow struct {
	name      string
	magic, v4 ondisk.BtreeMagic
	there     func(*filesystem) bool
	owner     place // the header that says where the root is
	at        func(*ondisk.AGF, *ondisk.AGI) (block, levels uint32)
	height    func(*geometry.Heights) uint64 // at most
	record    int                            // bytes
	key       int                            // bytes, in a node; its first word is always a block or inode number
}

// Indices of rootRows.
const (
	rootBno = iota
	rootCnt
	rootIno
	rootFino
	rootRmap
	rootRefcount
)

// The btrees of an AG.
var rootRows = [...]rootRow{
	rootBno: {
		name: "bnobt root", magic: ondisk.BnoMagic, v4: ondisk.BnoMagicV4, there: always, owner: placeAGF,
		at:     func(f *ondisk.AGF, _ *ondisk.AGI) (uint32, uint32) { return f.BnoRoot, f.BnoLevel },
		height: func(h *geometry.Heights) uint64 { return h.Alloc },
		record: ondisk.AllocRecordSize, key: 8,
	},
	rootCnt: {
		name: "cntbt root", magic: ondisk.CntMagic, v4: ondisk.CntMagicV4, there: always, owner: placeAGF,
		at:     func(f *ondisk.AGF, _ *ondisk.AGI) (uint32, uint32) { return f.CntRoot, f.CntLevel },
		height: func(h *geometry.Heights) uint64 { return h.Alloc },
		record: ondisk.AllocRecordSize, key: 8,
	},
	rootIno: {
		name: "inobt root", magic: ondisk.InoMagic, v4: ondisk.InoMagicV4, there: always, owner: placeAGI,
		at:     func(_ *ondisk.AGF, i *ondisk.AGI) (uint32, uint32) { return i.Root, i.Level },
		height: func(h *geometry.Heights) uint64 { return h.Inode },
		record: ondisk.InodeRecordSize, key: 4,
	},
	rootFino: {
		name: "finobt root", magic: ondisk.FinoMagic, owner: placeAGI,
		there:  func(f *filesystem) bool { return f.Geometry.Features.Finobt },
		at:     func(_ *ondisk.AGF, i *ondisk.AGI) (uint32, uint32) { return i.FreeRoot, i.FreeLevel },
		height: func(h *geometry.Heights) uint64 { return h.Inode },
		record: ondisk.InodeRecordSize, key: 4,
	},
	rootRmap: {
		name: "rmapbt root", magic: ondisk.RmapMagic, owner: placeAGF,
		there:  func(f *filesystem) bool { return f.Geometry.Features.Rmapbt },
		at:     func(f *ondisk.AGF, _ *ondisk.AGI) (uint32, uint32) { return f.RmapRoot, f.RmapLevel },
		height: func(h *geometry.Heights) uint64 { return h.Rmap },
		record: ondisk.RmapRecordSize, key: 2 * 20, // the least and the greatest of the block
	},
	rootRefcount: {
		name: "refcountbt root", magic: ondisk.RefcountMagic, owner: placeAGF,
		there:  func(f *filesystem) bool { return f.Geometry.Features.Reflink },
		at:     func(f *ondisk.AGF, _ *ondisk.AGI) (uint32, uint32) { return f.RefcountRoot, f.RefcountLevel },
		height: func(h *geometry.Heights) uint64 { return h.Refcount },
		record: ondisk.RefcountRecordSize, key: 4,
	},
}

func always(*filesystem) bool { return true }

// rootBlock is a btree root that was read.
type rootBlock struct {
	ondisk.BtreeBlock
	row    *rootRow
	place  place
	agbno  uint32
	levels uint32 // of the tree, says the header
	body   []byte // behind the block's header
	most   int    // records that it has room for
}

// rootRules check the header of a root.
var rootRules = []agRule[rootBlock]{
	rule.Of("owner", func(c *checker, r *rootBlock) string { return only5(c, r.Owner, uint32(c.no)) }),
	rule.Of("block number", func(c *checker, r *rootBlock) string {
		return only5(c, r.Blkno, uint64(c.fs.Geometry.Daddr(c.no, geometry.AGBlock(r.agbno))))
	}),
	rule.Of("UUID", func(c *checker, r *rootBlock) string { return c.isMetaUUID(r.UUID) }),
	rule.Of("LSN", func(c *checker, r *rootBlock) string { return c.fs.isLSN(r.LSN) }),
	rule.Of("level", func(c *checker, r *rootBlock) string {
		if !c.fs.settled {
			return ""
		}
		return rule.Is(uint32(r.Level), r.levels-1)
	}),
	rule.Of("number of records", func(_ *checker, r *rootBlock) string {
		least := 0
		if r.Level > 0 {
			least = 1
		}
		return rule.Within(int(r.Records), least, r.most)
	}),
	rule.Of("left sibling", func(c *checker, r *rootBlock) string { return c.noSibling(r.Left) }),
	rule.Of("right sibling", func(c *checker, r *rootBlock) string { return c.noSibling(r.Right) }),
}

// noSibling checks that a root has no neighbour. With a dirty log it may have
// become an ordinary node since.
func (c *checker) noSibling(agbno uint32) string {
	if !c.fs.settled {
		return ""
	}
	return rule.Is(agbno, geometry.NullAGBlock)
}

// only5 compares what V4 does not have.
func only5[T comparable](c *checker, got, want T) string {
	if !c.fs.V5 {
		return ""
	}
	return rule.Is(got, want)
}

// root checks a btree's root, and its records if it is a leaf.
func (c *checker) root(i int) {
	row := &rootRows[i]
	if row.owner == placeAGF && !c.hasAGF || row.owner == placeAGI && !c.hasAGI {
		return
	}
	agbno, levels := row.at(&c.agf, &c.agi)
	tree := row.name[:len(row.name)-len(" root")]
	if text := rule.Within(uint64(levels), 1, row.height(&c.fs.heights)); text != "" {
		c.tell(row.owner, "number of levels of the "+tree+" "+text)
		return
	}
	if !c.isExtent(agbno, 1) {
		c.tell(row.owner, fmt.Sprintf("root of the %s is block %d, not within the AG's %d blocks", tree, agbno, c.length))
		return
	}
	b := c.roots[i]
	if b == nil { // behind the device's end, which has been told
		return
	}
	r := &c.other
	if i == rootBno {
		r = &c.bnobt
	}
	*r = rootBlock{row: row, place: placeRoots + place(i), agbno: agbno, levels: levels}
	if c.decodeRoot(r, b) && rule.Apply(rootRules, c, r, c.teller(r.place)) == 0 {
		if r.Level == 0 {
			leafChecks[i](c, r, &c.tallies[i])
		} else {
			c.node(r)
		}
	}
}

// decodeRoot reads the header of a root, if it is one.
func (c *checker) decodeRoot(r *rootBlock, b []byte) bool {
	r.BtreeBlock, _ = ondisk.DecodeBtreeBlock(b, c.fs.V5)
	magic, header := r.row.v4, ondisk.BtreeHeaderV4
	if c.fs.V5 {
		magic, header = r.row.magic, ondisk.BtreeHeader
	}
	r.body = b[header:]
	r.most = len(r.body) / r.row.record
	if r.Level > 0 {
		r.most = ondisk.NodeCapacity(len(r.body), r.row.key)
	}
	unsure := !c.fs.settled // the header may be newer than the block it names
	switch {
	case r.Magic != magic:
		if !unsure {
			c.tell(r.place, fmt.Sprintf("the magic number is %#x, not %#x", uint32(r.Magic), uint32(magic)))
		}
		return false
	case unsure && c.fs.V5 && (r.Owner != uint32(c.no) || r.UUID != c.fs.MetaUUID ||
		r.Blkno != uint64(c.fs.Geometry.Daddr(c.no, geometry.AGBlock(r.agbno)))):
		return false
	case c.fs.V5 && !ondisk.Sealed(b, ondisk.BtreeCRC):
		c.tell(r.place, super.BadChecksum)
		return false
	}
	return true
}

// node checks the keys and pointers of a root that is no leaf.
func (c *checker) node(r *rootBlock) {
	last := uint32(0)
	for i := range int(r.Records) {
		p := ondisk.NodePointer(r.body, r.most, r.row.key, i)
		if !c.isExtent(p, 1) || p == r.agbno {
			c.tell(r.place, fmt.Sprintf("pointer %d is to block %d, which is no other one of the AG", i, p))
			return
		}
		key := ondisk.FirstWord(r.body[i*r.row.key:])
		if r.row.magic == ondisk.CntMagic { // by size, then by start
			key = ondisk.DecodeAllocRecord(r.body[i*r.row.key:]).Blocks
		}
		if key < last {
			c.tell(r.place, fmt.Sprintf("key %d is out of order", i))
			return
		}
		last = key
	}
}
