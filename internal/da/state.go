package da

import (
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
)

// Step is a block on the way from the root of a tree to a leaf (xfs_da_state_blk).
type Step struct {
	Buf   *buffer.Buf
	At    Block
	Index int    // which of its entries
	Hash  uint32 // its greatest
	Leaf  bool
}

// Path is the way from the root to a leaf.
type Path struct {
	Steps [MaxDepth]Step
	Depth int
}

// Last is the lowest step.
func (p *Path) Last() *Step { return &p.Steps[p.Depth-1] }

// State is an operation on a tree (xfs_da_state and xfs_da_args). It is zeroed with Begin.
type State struct {
	*Tree
	T    *live.Trans
	IP   *inode.Inode
	Op   any // of the leaves
	Hash uint32
	// Total is how many blocks the operation may still take.
	Total geometry.Blocks

	Path, Alt Path

	// InOld says that a split has entered what was to be entered into the old
	// leaf. If that had to be split twice Extra is the third leaf, ExtraAfter
	// says that it is behind the second, and ExtraValid that it is not in the
	// node above yet.
	InOld                  bool
	Extra                  Step
	ExtraValid, ExtraAfter bool
}

// Begin starts an operation.
func (s *State) Begin(tr *Tree, t *live.Trans, ip *inode.Inode, op any, hash uint32, total geometry.Blocks) {
	s.Tree, s.T, s.IP, s.Op, s.Hash, s.Total = tr, t, ip, op, hash, total
	s.Path.Depth, s.Alt.Depth = 0, 0
	s.InOld, s.Extra, s.ExtraValid, s.ExtraAfter = false, Step{}, false, false
}

// Read reads a node or a leaf.
func (s *State) Read(at Block) (*buffer.Buf, error) { return s.Tree.Read(s.T, s.IP, at) }

// Touch says that a block is changed, or is about to be.
func (s *State) Touch(b *buffer.Buf) { s.T.Dirty(b) }

// rulesOf are those of a step's block.
func (s *State) rulesOf(step *Step) rules {
	if step.Leaf {
		return s.Leaves
	}
	return nodes{s.Tree}
}
