package da

import (
	"mkfs/internal/bmap"
	"mkfs/internal/buffer"
	"mkfs/internal/ondisk"
)

// Join is for a tree of nodes of which the last leaf of the path has lost an entry, which
// the nodes above it know (FixHashes). It joins the leaf with a sibling if it has become
// small, then nodes above it as far as they become small, and takes the root away if it
// has only one block below it. (xfs_da3_join in libxfs.)
func (s *State) Join() error {
	for ; s.Path.Depth > 1; s.Path.Depth-- {
		if joined, err := s.joinLast(); !joined || err != nil {
			return err
		}
	}
	if err := s.removeEntry(&s.Path.Steps[0]); err != nil {
		return err
	}
	return s.joinRoot(s.Path.Steps[0].Buf)
}

// joinLast joins the last block of the path with a sibling, and frees one of them. If
// it is a node it loses the entry of its step first.
func (s *State) joinLast() (joined bool, err error) {
	drop, keep := s.Path.Last(), &s.Alt.Steps[s.Path.Depth-1]
	if !drop.Leaf {
		if err := s.removeEntry(drop); err != nil {
			return false, err
		}
		s.FixHashes(&s.Path)
	}
	if found, err := s.partner(); !found || err != nil {
		return false, err
	}
	if keep.At == drop.At {
		return false, s.Damaged(s.IP, drop.At, "it is its own sibling")
	}
	if err := s.rulesOf(drop).Unbalance(s, drop, keep); err != nil {
		return false, err
	}
	s.FixHashes(&s.Alt)
	if err := s.unlink(drop, keep); err != nil {
		return false, err
	}
	return true, s.free(drop.At, drop.Buf)
}

// partner finds a sibling that the last block of the path is to be joined with. The path
// ends at the one that is to be dropped then, and s.Alt at the one that is kept: of two
// that have entries the one of the lower place. (xfs_da3_node_toosmall in libxfs, and
// what leaves have like it.)
func (s *State) partner() (bool, error) {
	last := s.Path.Last()
	r := s.rulesOf(last)
	d := s.view(last.Buf)
	switch r.Fill(last.Buf) {
	case Large:
		return false, nil
	case Empty:
		s.Alt = s.Path
		found, err := s.Shift(&s.Alt, d.Forward() != 0)
		if !found && err == nil && !last.Leaf {
			err = s.Damaged(s.IP, last.At, "it has nothing below it, and no sibling")
		}
		return found, err
	}
	siblings := [2]Block{Block(d.Back()), Block(d.Forward())}
	first := 0
	if siblings[1] < siblings[0] {
		first = 1
	}
	for _, side := range [2]int{first, 1 - first} {
		at := siblings[side]
		if at == 0 {
			continue
		}
		b, err := s.Read(at)
		if err != nil {
			return false, err
		}
		if s.IsNode(b) == last.Leaf || !last.Leaf && s.view(b).Level() != d.Level() {
			return false, s.Damaged(s.IP, at, "it is not of the level of its sibling")
		}
		if !r.Room(last.Buf, b) {
			continue
		}
		s.Alt = s.Path
		moved := &s.Path
		if at < last.At {
			moved = &s.Alt
		}
		found, err := s.Shift(moved, side == 1)
		if found && moved.Last().At != at {
			err = s.Damaged(s.IP, at, "it is no sibling by the nodes above it")
		}
		return found, err
	}
	return false, nil
}

// unlink takes a block out of the list of those of its level (xfs_da3_blk_unlink in
// libxfs). keep is one of its neighbours.
func (s *State) unlink(drop, keep *Step) error {
	d, k := s.view(drop.Buf), s.view(keep.Buf)
	back := Block(k.Back()) == drop.At
	beyond, other := Block(d.Forward()), Block(d.Back())
	if back {
		beyond, other = other, beyond
	}
	if other != keep.At || !back && Block(k.Forward()) != drop.At {
		return s.Damaged(s.IP, drop.At, "it is no neighbour of block %d", keep.At)
	}
	if back {
		k.SetBack(uint32(beyond))
	} else {
		k.SetForward(uint32(beyond))
	}
	s.Touch(keep.Buf)
	if beyond == 0 {
		return nil
	}
	return s.relink(beyond, drop, keep.At, !back)
}

// joinRoot puts the only block below the root where the root is (xfs_da3_root_join in
// libxfs).
func (s *State) joinRoot(root *buffer.Buf) error {
	d := s.view(root)
	if d.Count() > 1 {
		return nil
	}
	at := Block(d.Entries().Value(0))
	b, err := s.Read(at)
	if err != nil {
		return err
	}
	child := Step{}
	if err := s.enter(&child, b, at, d.Level()-1); err != nil {
		return err
	}
	if c := s.view(b); at == s.Root || c.Back() != 0 || c.Forward() != 0 {
		return s.Damaged(s.IP, at, "it is alone below the root, and has neighbours")
	}
	s.Copy(s.T, root, b, s.Bytes)
	return s.free(at, b)
}

// free gives a block of the btree back. If that would need a block for the btree of
// extents, and there is none, a directory's last block moves to its place and
// is given back instead. (xfs_da_shrink_inode in libxfs.)
func (s *State) free(at Block, b *buffer.Buf) error {
	ok, err := s.Shrink(s.T, s.IP, at, b)
	if ok || err != nil {
		return err
	}
	if s.Fork == bmap.Attr {
		return s.Damaged(s.IP, at, "%w", bmap.ErrNoRoom)
	}
	last, moved, err := s.moveLast(at, b)
	if err != nil {
		return err
	}
	if ok, err = s.Shrink(s.T, s.IP, last, moved); !ok && err == nil {
		err = s.Damaged(s.IP, last, "the last block of the index cannot be given back")
	}
	return err
}

// moveLast moves the last block of the btree to a place that is free, and returns where
// it was (xfs_da3_swap_lastblock in libxfs). Paths go where it is now.
func (s *State) moveLast(to Block, b *buffer.Buf) (Block, *buffer.Buf, error) {
	end, err := bmap.LastOffset(s.T, s.IP, s.Fork, uint64(s.End))
	if err != nil {
		return 0, nil, err
	}
	at := Block(end) - Block(s.Blocks)
	if end <= uint64(s.Root)+uint64(s.Blocks) || at == to {
		return 0, nil, s.Damaged(s.IP, to, "it is the last of the index")
	}
	last := Step{}
	if last.Buf, err = s.Read(at); err == nil {
		err = s.enter(&last, last.Buf, at, -1)
	}
	if err != nil {
		return 0, nil, err
	}
	node, i, err := s.above(&last, to, Block(s.view(b).Forward()))
	if err != nil {
		return 0, nil, err
	}
	s.Copy(s.T, b, last.Buf, s.Bytes)
	d := s.view(b)
	if back := Block(d.Back()); back != 0 {
		if err := s.relink(back, &last, to, false); err != nil {
			return 0, nil, err
		}
	}
	if next := Block(d.Forward()); next != 0 {
		if err := s.relink(next, &last, to, true); err != nil {
			return 0, nil, err
		}
	}
	s.view(node).Entries().SetValue(i, uint32(to))
	s.Touch(node)
	for _, p := range [2]*Path{&s.Path, &s.Alt} {
		for i := range p.Steps[:p.Depth] {
			if step := &p.Steps[i]; step.At == at {
				step.At, step.Buf = to, b
			}
		}
	}
	return at, last.Buf, nil
}

// above finds the entry of a block in the node above it. A block that is gone has an entry
// still, but the one behind it on its level has what was in it.
func (s *State) above(below *Step, gone, instead Block) (node *buffer.Buf, i int, err error) {
	want := 1
	if !below.Leaf {
		want += s.view(below.Buf).Level()
	}
	var d ondisk.DABlock
	for at, level := s.Root, -1; ; {
		if at == gone {
			at = instead
		}
		if node, err = s.readNode(at, level); err != nil {
			return nil, 0, err
		}
		d = s.view(node)
		if level = d.Level(); level < want {
			return nil, 0, s.Damaged(s.IP, below.At, "there is no node above it")
		}
		if i = d.Entries().Search(d.Count(), below.Hash); i == d.Count() {
			return nil, 0, s.Damaged(s.IP, at, "its hashes end before those of block %d", below.At)
		}
		if level == want {
			break
		}
		level, at = level-1, Block(d.Entries().Value(i))
	}
	for n := s.mapped(); ; n-- {
		for ; i < d.Count(); i++ {
			if Block(d.Entries().Value(i)) == below.At {
				return node, i, nil
			}
		}
		if d.Forward() == 0 || n == 0 {
			return nil, 0, s.Damaged(s.IP, below.At, "no node has it")
		}
		if node, err = s.readNode(Block(d.Forward()), want); err != nil {
			return nil, 0, err
		}
		d, i = s.view(node), 0
	}
}

// readNode reads a node of a level, -1 for any.
func (s *State) readNode(at Block, level int) (*buffer.Buf, error) {
	b, err := s.Read(at)
	if err != nil {
		return nil, err
	}
	step := Step{}
	if err := s.enter(&step, b, at, level); err != nil {
		return nil, err
	}
	if step.Leaf {
		return nil, s.Damaged(s.IP, at, "a leaf where a node is to be")
	}
	return b, nil
}
