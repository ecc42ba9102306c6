package dir

import (
	"mkfs/internal/buffer"
	"mkfs/internal/da"
	"mkfs/internal/ondisk"
)

// leaves is what package da has to know of the leaves of a directory's index.
type leaves struct{ d *Dirs }

// LastHash is xfs_dir2_leaf_lasthash.
func (x leaves) LastHash(b *buffer.Buf) (hash uint32, any bool) {
	v := x.d.view(b.Data)
	n := v.Count()
	if n == 0 {
		return 0, false
	}
	return v.Entries().Hash(n - 1), true
}

// Fill tells how full a leaf is, stale slots aside. It is asked of a leaf that is less than joinBelow full. One that has
// become empty stays: xfs_dir2_leafn_toosmall finds a neighbour to join it with, and takes that for none.
func (x leaves) Fill(b *buffer.Buf) da.Fill {
	if x.d.live(b) > 0 {
		return da.Small
	}
	return da.Large
}

// Room tells whether the live slots of two leaves have room in one, of which a quarter stays free.
func (x leaves) Room(a, b *buffer.Buf) bool {
	return (x.d.live(a)+x.d.live(b))*hashSize <= x.d.bytes-x.d.bytes/4
}

// live is how many slots of a leaf are not stale.
func (d *Dirs) live(b *buffer.Buf) int {
	v := d.view(b.Data)
	return v.Count() - v.Level()
}

// Search looks in a leaf for the place of a name, or for the name.
func (x leaves) Search(s *da.State, step *da.Step) (found bool, err error) {
	o := s.Op.(*op)
	v := x.d.view(step.Buf.Data)
	list, n := v.Entries(), v.Count()
	step.Index = list.Search(n, s.Hash)
	if o.find {
		found, err = o.locateIn(list, n, (*op).get)
		if found {
			step.Index = o.match.slot
		}
		return found, err
	}
	if err := o.isNew(list, step.Index, n, (*op).get); err != nil {
		return false, err
	}
	return false, o.searchRoom(list, n, step)
}

// searchRoom goes over the slots of the hash, up to one whose block has room for the entry
// (xfs_dir2_leafn_lookup_for_addname).
func (o *op) searchRoom(list ondisk.Hashes, n int, step *da.Step) error {
	last := -1
	for ; step.Index < n && list.Hash(step.Index) == o.hash; step.Index++ {
		address := list.Value(step.Index)
		if address == 0 {
			continue
		}
		db := o.d.blockOf(address)
		if db == last {
			continue
		}
		last = db
		fb, i := db/o.d.perFree, db%o.d.perFree
		if o.near.fb != fb {
			b, _, err := o.freeIn(fb)
			if err != nil {
				return err
			}
			if b == nil {
				return o.d.damaged(o.dp, "block %d of free space is not there", fb)
			}
			o.near.fb, o.near.buf = fb, b
		}
		f := freeBlock{o.near.buf.Data, o.d}
		if i >= f.count() || f.best(i) == noBest {
			return o.d.damaged(o.dp, "the index names block %d, which is not there", db)
		}
		if f.best(i) >= o.size {
			o.near.index = i
			return nil
		}
	}
	o.near.index = -1
	return nil
}

// full tells whether a leaf has no room for a slot.
func (d *Dirs) full(step *da.Step) bool {
	v := d.view(step.Buf.Data)
	return v.Count() == d.tree.NodeEntries && v.Level() == 0
}

// addSlot enters the slot of an entry into a leaf at its place; false if it is full (xfs_dir2_leafn_add).
func (d *Dirs) addSlot(step *da.Step, o *op) bool {
	v := d.view(step.Buf.Data)
	slot := leafSlot{v: v, at: step.Index}
	switch {
	case d.full(step):
		return false
	case v.Count() == d.tree.NodeEntries && v.Level() > 1:
		slot.compact()
	}
	slot.insert(o.hash, o.address)
	return true
}

// Split is xfs_dir2_leafn_split.
func (x leaves) Split(s *da.State, old, nu *da.Step) (da.Fit, error) {
	at, ok, err := s.GrowIndex()
	if !ok || err != nil {
		return da.NoRoom, err
	}
	d := x.d
	if nu.Buf, err = d.tree.Fresh(s.T, s.IP, at, d.tree.Index); err != nil {
		return da.NoRoom, err
	}
	if onPath(s, nu.Buf) {
		return da.NoRoom, s.Damaged(s.IP, at, "its block is in use, and was free")
	}
	nu.At, nu.Leaf = at, true
	d.tree.InitHeader(nu.Buf, uint64(s.IP.Ino), uint16(d.magicOf(leafNMagic)), ondisk.DAHeaderSize(d.fs.V5))
	x.rebalance(s, old, nu)
	if err := s.Link(old, nu); err != nil {
		return da.NoRoom, err
	}
	to := nu
	if s.InOld {
		to = old
	}
	if !d.addSlot(to, s.Op.(*op)) {
		return da.NoRoom, d.damaged(s.IP, "half a leaf has no room")
	}
	s.Touch(old.Buf)
	s.Touch(nu.Buf)
	old.Hash, _ = x.LastHash(old.Buf)
	nu.Hash, _ = x.LastHash(nu.Buf)
	return da.Fits, nil
}

// onPath tells whether a block is on the way from the root to the leaf.
func onPath(s *da.State, b *buffer.Buf) bool {
	for i := range s.Path.Depth {
		if s.Path.Steps[i].Buf == b {
			return true
		}
	}
	return false
}

// rebalance moves the upper half of a full leaf, of an even number of slots of which none is stale, to a new one,
// and finds out which of them the slot belongs to (xfs_dir2_leafn_rebalance).
func (x leaves) rebalance(s *da.State, old, nu *da.Step) {
	v, w := x.d.view(old.Buf.Data), x.d.view(nu.Buf.Data)
	half := v.Count() / 2
	w.Entries().CopyFrom(0, v.Entries(), half, half)
	v.SetCount(half)
	w.SetCount(half)
	if s.InOld = old.Index <= half; !s.InOld {
		nu.Index = old.Index - half
	}
}

// Unbalance is xfs_dir2_leafn_unbalance.
func (x leaves) Unbalance(s *da.State, drop, keep *da.Step) error {
	from, to := x.d.view(drop.Buf.Data), x.d.view(keep.Buf.Data)
	compactAll(from)
	compactAll(to)
	n, m := from.Count(), to.Count()
	if n+m > x.d.tree.NodeEntries {
		return s.Damaged(s.IP, keep.At, "the slots of block %d do not fit into it", drop.At)
	}
	at := m
	if n > 0 && m > 0 && (from.Entries().Hash(0) < to.Entries().Hash(0) ||
		from.Entries().Hash(n-1) < to.Entries().Hash(m-1)) {
		to.Entries().Move(n, 0, m)
		at = 0
	}
	to.Entries().CopyFrom(at, from.Entries(), 0, n)
	from.SetCount(0)
	to.SetCount(n + m)
	s.Touch(drop.Buf)
	s.Touch(keep.Buf)
	keep.Hash, _ = x.LastHash(keep.Buf)
	return nil
}

// compactAll drops all stale slots of a leaf (xfs_dir3_leaf_compact).
func compactAll(v ondisk.DABlock) {
	if v.Level() == 0 {
		return
	}
	list, n, to := v.Entries(), v.Count(), 0
	for from := range n {
		if list.Value(from) == 0 {
			continue
		}
		if from > to {
			list.Move(to, from, 1)
		}
		to++
	}
	v.SetCount(to)
	v.SetLevel(0)
}
