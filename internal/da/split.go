package da

// Split enters what the operation is for into a leaf that it does not fit into, the last
// of the path: the leaf splits, and nodes above it as far as they are full
// (xfs_da3_split in libxfs). The path ends at the highest block that was changed then.
//
// If the result is not Fits there was no room, and the transaction is to be given up.
func (s *State) Split() (Fit, error) {
	bottom := s.Path.Depth - 1
	fit, err := s.splitLeaf(s.Path.Last(), &s.Alt.Steps[bottom])
	if fit != Fits || err != nil {
		return fit, err
	}
	s.FixHashes(&s.Path)
	for i := bottom - 1; i >= 0; i-- {
		s.Path.Depth = i + 1
		split, fit, err := s.enterNode(&s.Path.Steps[i], &s.Alt.Steps[i], &s.Alt.Steps[i+1])
		if fit != Fits || err != nil {
			return fit, err
		}
		s.FixHashes(&s.Path)
		if !split {
			return Fits, nil
		}
	}
	if s.ExtraValid {
		panic("da: a leaf that is the root cannot split twice")
	}
	if bottom+1 == MaxDepth {
		return NoRoom, s.Damaged(s.IP, s.Root, "the index would have more than %d levels", MaxDepth)
	}
	return s.splitRoot(&s.Path.Steps[0], &s.Alt.Steps[0])
}

// splitLeaf splits a leaf, and one of the halves again if it is still too full. Nodes
// must have an entry for a third leaf then.
func (s *State) splitLeaf(old, added *Step) (Fit, error) {
	fit, err := s.Leaves.Split(s, old, added)
	if fit != TooFull || err != nil {
		return fit, err
	}
	full := added
	if s.InOld {
		full = old
	}
	s.ExtraValid, s.ExtraAfter = true, !s.InOld
	return s.Leaves.Split(s, full, &s.Extra)
}

// enterNode enters a block, and s.Extra if there is one, behind the entry of a node's
// step. If there is no room the upper half of the node goes to a new one, and split is
// true. (xfs_da3_node_split in libxfs.)
func (s *State) enterNode(node, added, below *Step) (split bool, _ Fit, _ error) {
	more := 1
	if s.ExtraValid {
		more = 2
	}
	to := node
	if d := s.view(node.Buf); d.Count()+more > s.NodeEntries {
		if fit, err := s.splitNode(node, added); fit != Fits || err != nil {
			return false, fit, err
		}
		split = true
		if n := d.Count(); node.Index >= n {
			added.Index = node.Index - n
			to = added
		}
	}
	to.Index++
	s.addEntry(to, below)
	if s.ExtraValid {
		if s.ExtraAfter {
			to.Index++
		}
		s.addEntry(to, &s.Extra)
		s.ExtraValid = false
	}
	return split, Fits, nil
}

// splitNode moves the upper half of a node to a new one (xfs_da3_node_rebalance in
// libxfs, of a node and an empty one). Of an odd number the lower has one more.
func (s *State) splitNode(node, added *Step) (Fit, error) {
	at, ok, err := s.GrowIndex()
	if !ok || err != nil {
		return NoRoom, err
	}
	b, err := s.Fresh(s.T, s.IP, at, s.Index)
	if err != nil {
		return NoRoom, err
	}
	if b == node.Buf {
		return NoRoom, s.Damaged(s.IP, at, "its block is in use and was free")
	}
	d := s.view(node.Buf)
	s.MakeNode(s.T, b, uint64(s.IP.Ino), d.Level())
	*added = Step{Buf: b, At: at}
	list, upper, n := d.Entries(), s.view(b), d.Count()
	moved := n / 2
	upper.Entries().CopyFrom(0, list, n-moved, moved)
	upper.SetCount(moved)
	d.SetCount(n - moved)
	node.Hash, added.Hash = list.Hash(n-moved-1), list.Hash(n-1)
	s.Touch(node.Buf)
	return Fits, s.Link(node, added)
}

// splitRoot puts a new root above two blocks, the first of which is where the root has
// to be: what it holds moves to a new block. Behind the two entries of the root its old
// ones stay. (xfs_da3_root_split in libxfs.)
func (s *State) splitRoot(old, added *Step) (Fit, error) {
	root := old.Buf
	d := s.view(root)
	if Block(d.Forward()) != added.At || d.Back() != 0 {
		return NoRoom, s.Damaged(s.IP, s.Root, "the root has neighbours")
	}
	at, ok, err := s.GrowIndex()
	if !ok || err != nil {
		return NoRoom, err
	}
	b, err := s.Fresh(s.T, s.IP, at, s.Index)
	if err != nil {
		return NoRoom, err
	}
	level := 0
	if !old.Leaf {
		level = d.Level()
	}
	s.Copy(s.T, b, root, s.used(d))
	old.Buf, old.At = b, at
	s.view(added.Buf).SetBack(uint32(at))
	s.Touch(added.Buf)

	s.MakeNode(s.T, root, uint64(s.IP.Ino), level+1)
	d.Entries().Put(0, old.Hash, uint32(old.At))
	d.Entries().Put(1, added.Hash, uint32(added.At))
	d.SetCount(2)
	return Fits, nil
}

// Link puts a new block behind another in the list of those of its level
// (xfs_da3_blk_link in libxfs).
func (s *State) Link(old, added *Step) error {
	o, n := s.view(old.Buf), s.view(added.Buf)
	next := Block(o.Forward())
	n.SetForward(uint32(next))
	n.SetBack(uint32(old.At))
	o.SetForward(uint32(added.At))
	s.Touch(old.Buf)
	s.Touch(added.Buf)
	if next == 0 {
		return nil
	}
	return s.relink(next, old, added.At, true)
}

// relink changes a neighbour's link to a block, the one back or the one forward.
func (s *State) relink(at Block, was *Step, to Block, back bool) error {
	b, err := s.Read(at)
	if err != nil {
		return err
	}
	d := s.view(b)
	get, set := d.Forward, d.SetForward
	if back {
		get, set = d.Back, d.SetBack
	}
	if s.IsNode(b) == was.Leaf || Block(get()) != was.At {
		return s.Damaged(s.IP, at, "it is no neighbour of block %d", was.At)
	}
	set(uint32(to))
	s.Touch(b)
	return nil
}
