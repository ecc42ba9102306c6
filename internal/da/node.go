package da

import (
	"mkfs/internal/buffer"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// MakeNode makes a block a node without entries (xfs_da3_node_create in libxfs). What
// was behind the header stays.
func (tr *Tree) MakeNode(t *live.Trans, b *buffer.Buf, owner uint64, level int) {
	tr.InitHeader(b, owner, nodeMagic(tr.FS.V5), ondisk.DAHeaderSize(tr.FS.V5))
	tr.view(b).SetLevel(level)
	b.Kind = &tr.Index.Kind
	t.Dirty(b)
}

// Copy copies n bytes of a block of the btree to another, which is of the same
// kind then (xfs_da_buf_copy in libxfs). Its place is its own.
func (tr *Tree) Copy(t *live.Trans, to, from *buffer.Buf, n int) {
	copy(to.Data, from.Data[:n])
	to.Kind = from.Kind
	if tr.FS.V5 {
		tr.view(to).SetBlkno(tr.FS.Daddr(to.Off))
	}
	t.Dirty(to)
}

// nodes are the rules of nodes.
type nodes struct{ *Tree }

func (n nodes) LastHash(b *buffer.Buf) (hash uint32, any bool) {
	d := n.view(b)
	count := d.Count()
	if count == 0 {
		return 0, false
	}
	return d.Entries().Hash(count - 1), true
}

// Fill and Room are of xfs_da3_node_toosmall in libxfs.
func (n nodes) Fill(b *buffer.Buf) Fill {
	switch count := n.view(b).Count(); {
	case count > n.NodeEntries/2:
		return Large
	case count > 0:
		return Small
	}
	return Empty
}

func (n nodes) Room(a, b *buffer.Buf) bool {
	return n.view(a).Count()+n.view(b).Count() <= n.NodeEntries-n.NodeEntries/4
}

// Unbalance is xfs_da3_node_unbalance in libxfs, which tells by hashes which node is the
// lower one, and is wrong if both begin and end with the same. Neighbours know it.
func (n nodes) Unbalance(s *State, drop, keep *Step) error {
	from, to := s.view(drop.Buf), s.view(keep.Buf)
	src, dst := from.Entries(), to.Entries()
	moved, has := from.Count(), to.Count()
	at := has
	if Block(from.Forward()) == keep.At {
		dst.Move(moved, 0, has)
		at = 0
	}
	dst.CopyFrom(at, src, 0, moved)
	to.SetCount(has + moved)
	s.Touch(keep.Buf)
	return nil
}

// addEntry enters a block into a node, before the entry of the node's step
// (xfs_da3_node_add in libxfs).
func (s *State) addEntry(node, below *Step) {
	d := s.view(node.Buf)
	list, n := d.Entries(), d.Count()
	list.Move(node.Index+1, node.Index, n-node.Index)
	list.Put(node.Index, below.Hash, uint32(below.At))
	d.SetCount(n + 1)
	node.Hash = list.Hash(n)
	s.Touch(node.Buf)
}

// removeEntry removes the entry of a node's step. The last slot is cleared
// (xfs_da3_node_remove in libxfs).
func (s *State) removeEntry(node *Step) error {
	d := s.view(node.Buf)
	list, n := d.Entries(), d.Count()
	if node.Index >= n {
		return s.Damaged(s.IP, node.At, "entry %d of %d is to be removed", node.Index, n)
	}
	list.Move(node.Index, node.Index+1, n-node.Index-1)
	list.Put(n-1, 0, 0)
	d.SetCount(n - 1)
	s.Touch(node.Buf)
	return nil
}
