package da

import (
	"mkfs/internal/buffer"
	"mkfs/internal/geometry"
)

// Lookup goes down to what the operation is for, or to where it would be, and
// tells whether it is there (xfs_da3_node_lookup_int in libxfs).
func (s *State) Lookup() (found bool, err error) {
	if err := s.descend(); err != nil {
		return false, err
	}
	for n := geometry.Blocks(1); ; n++ {
		leaf := s.Path.Last()
		found, err := s.Leaves.Search(s, leaf)
		if found || err != nil || leaf.Hash != s.Hash {
			return found, err
		}
		if more, err := s.Shift(&s.Path, true); !more || err != nil {
			return false, err
		}
		if n > manyEqual && n > s.mapped() {
			return false, s.Damaged(s.IP, leaf.At, "there are more leaves than blocks")
		}
	}
}

// manyEqual is how many leaves that end with the same hash are searched before their
// number is looked at.
const manyEqual = 16

// mapped is how many blocks the fork has.
func (s *State) mapped() (n geometry.Blocks) {
	for _, e := range s.fork(s.IP).Extents {
		n += e.Blocks
	}
	return n
}

// descend goes down to the first leaf that may have the hash.
func (s *State) descend() error {
	at, level := s.Root, -1
	for depth := 0; ; depth++ {
		if depth == MaxDepth {
			return s.Damaged(s.IP, at, "the index has more than %d levels", MaxDepth)
		}
		b, err := s.Read(at)
		if err != nil {
			return err
		}
		step := &s.Path.Steps[depth]
		s.Path.Depth = depth + 1
		if err := s.enter(step, b, at, level); err != nil || step.Leaf {
			return err
		}
		d := s.view(b)
		list, n := d.Entries(), d.Count()
		level = d.Level() - 1
		step.Index = min(list.Search(n, s.Hash), n-1)
		if at = Block(list.Value(step.Index)); at == s.Root {
			return s.Damaged(s.IP, step.At, "it points back to the root")
		}
	}
}

// Shift moves a path to the next leaf, or to that before (xfs_da3_path_shift in
// libxfs); more precisely to the next block of the level that the path ends at. It
// returns false if there is none.
func (s *State) Shift(p *Path, forward bool) (bool, error) {
	i := p.Depth - 2
	for ; i >= 0; i-- {
		step := &p.Steps[i]
		if forward && step.Index < s.view(step.Buf).Count()-1 {
			step.Index++
			break
		}
		if !forward && step.Index > 0 {
			step.Index--
			break
		}
	}
	if i < 0 {
		return false, nil
	}
	for ; i < p.Depth-1; i++ {
		above, step := &p.Steps[i], &p.Steps[i+1]
		d := s.view(above.Buf)
		at := Block(d.Entries().Value(above.Index))
		b, err := s.Read(at)
		if err != nil {
			return false, err
		}
		if err := s.enter(step, b, at, d.Level()-1); err != nil {
			return false, err
		}
		if !forward && !step.Leaf {
			step.Index = s.view(b).Count() - 1
		}
	}
	return true, nil
}

// enter makes a step of a block, which is to be of a level: 0 for leaves, -1 for any.
func (s *State) enter(step *Step, b *buffer.Buf, at Block, level int) error {
	*step = Step{Buf: b, At: at, Leaf: !s.IsNode(b)}
	is := 0
	if !step.Leaf {
		is = s.view(b).Level()
	}
	if level >= 0 && is != level {
		return s.Damaged(s.IP, at, "it is of level %d, where one of level %d is to be", is, level)
	}
	var any bool
	if step.Hash, any = s.rulesOf(step).LastHash(b); !any && !step.Leaf {
		return s.Damaged(s.IP, at, "a node without entries")
	}
	return nil
}

// FixHashes tells the nodes above the last step of a path what its greatest hash
// is (xfs_da3_fixhashpath in libxfs).
func (s *State) FixHashes(p *Path) {
	last, any := s.rulesOf(p.Last()).LastHash(p.Last().Buf)
	if !any {
		return
	}
	for i := p.Depth - 2; i >= 0; i-- {
		step := &p.Steps[i]
		list := s.view(step.Buf).Entries()
		if list.Hash(step.Index) == last {
			return
		}
		list.SetHash(step.Index, last)
		s.Touch(step.Buf)
		last, _ = nodes{s.Tree}.LastHash(step.Buf)
	}
}
