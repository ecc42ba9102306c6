package rmap

import (
	"mkfs/internal/btree"
	"mkfs/internal/geometry"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// cursor is a place in the rmapbt of an AG. It is kept, so that its parts need not be
// made again, and open makes it one of a transaction.
type cursor struct {
	live.AGF
	btree.Cursor
	known bool // that it is of the AG
	tree  btree.Tree
	buf   [ondisk.RmapRecordSize]byte
}

// cursors are those of AGs that were used last, each in the place of its AG's number
// modulo theirs.
type cursors [16]cursor

// open gets the rmapbt of an AG.
func open(t *live.Trans, agno geometry.AGNumber) (*cursor, error) {
	agf, err := t.AGF(agno)
	if err != nil {
		return nil, err
	}
	all, ok := t.Owners.(*cursors)
	if !ok {
		all = &cursors{}
		t.Owners = all
	}
	c := &all[int(agno)%len(all)]
	if !c.known || c.AG != agno {
		*c = cursor{known: true}
		c.tree = btree.Tree{Kind: btree.Rmapbt, AG: agno, Root: (*root)(&c.AGF)}
	}
	c.AGF = agf
	c.Init(&c.tree, t)
	return c, nil
}

// root is the root of the rmapbt, which takes its blocks from the free list.
type root live.AGF

func (r *root) agf() live.AGF { return live.AGF(*r) }

// reserve is what is set aside for it.
func (r *root) reserve() *live.Reserve {
	all := r.agf().Trans().Reserves
	if int(r.AG) >= len(all) {
		return &live.Reserve{}
	}
	return &all[r.AG].Rmap
}

func (r *root) Root() (ptr uint64, levels int) {
	return uint64(r.agf().Get(ondisk.AGFRmapRoot)), int(r.agf().Get(ondisk.AGFRmapLevel))
}

func (r *root) SetRoot(_ *live.Trans, ptr uint64, levels int) error {
	r.agf().Set(ondisk.AGFRmapRoot, uint32(ptr))
	r.agf().Set(ondisk.AGFRmapLevel, uint32(levels))
	return nil
}

func (r *root) Alloc(*live.Trans, uint64) (ptr uint64, ok bool, err error) {
	at, ok, err := r.agf().TakeListed(true)
	if ok {
		r.agf().Add(ondisk.AGFRmapBlocks, 1)
		r.reserve().Take(1)
	}
	return uint64(at), ok, err
}

func (r *root) Free(_ *live.Trans, ptr uint64) error {
	r.agf().Add(ondisk.AGFRmapBlocks, -1)
	r.reserve().Give(1)
	return r.agf().PutListed(geometry.AGBlock(ptr), true)
}

// lookup moves to the record at or before another's place, or to where it is.
func (c *cursor) lookup(o btree.Order, r record) (bool, error) { return c.Lookup(o, c.encode(r)) }

// record is the record at the cursor, which is to be at one.
func (c *cursor) record() (record, error) {
	b, ok := c.Record()
	if !ok {
		return record{}, c.errorf("no record where there is to be one")
	}
	r := decode(b)
	fault := r.fault()
	if n := c.Length(); r.blocks == 0 || r.blocks > n || geometry.Blocks(r.start) > n-r.blocks {
		fault = "is not within the AG"
	}
	if fault != "" {
		return r, c.errorf("the record of %d blocks at %d of owner %#x, offset %#x, %s", r.blocks, r.start, r.owner,
			r.offset, fault)
	}
	return r, nil
}

// step moves to a neighbour of the record at the cursor, forward or back; ok is false if
// there is none.
func (c *cursor) step(forward bool) (r record, ok bool, err error) {
	if forward {
		ok, err = c.Next()
	} else {
		ok, err = c.Prev()
	}
	if err != nil || !ok {
		return r, false, err
	}
	r, err = c.record()
	return r, err == nil, err
}

// back moves to the record before the cursor, which is to be there.
func (c *cursor) back() error {
	ok, err := c.Prev()
	if err == nil && !ok {
		err = c.errorf("no record is before another's")
	}
	return err
}

// forward moves to the record behind the cursor, which is to be there.
func (c *cursor) forward() error {
	ok, err := c.Next()
	if err == nil && !ok {
		err = c.errorf("no record is behind another's")
	}
	return err
}

func (c *cursor) update(r record) error { return c.Update(c.encode(r)) }

func (c *cursor) insert(r record) error {
	ok, err := c.Insert(c.encode(r))
	if err == nil && !ok {
		err = c.errorf("no block on the free list is left for it to grow by")
	}
	return err
}

// put enters a record where it belongs, which is to be free.
func (c *cursor) put(r record) error {
	there, err := c.lookup(btree.EQ, r)
	if err != nil {
		return err
	}
	if there {
		return c.errorf("there is a record of block %d and owner %#x already", r.start, r.owner)
	}
	return c.insert(r)
}

func (c *cursor) encode(r record) []byte {
	r.put(c.buf[:])
	return c.buf[:]
}

func (c *cursor) errorf(format string, args ...any) error { return c.Errorf("rmapbt", format, args...) }
