package geometry

import (
	"cmp"
	"slices"
)

// space hands out blocks and inodes as the kernel's allocator does, in the
// order in which a new filesystem's files are made. It keeps the state of all
// AGs that it has taken something from.
type space struct {
	g   *Geometry
	ags map[AGNumber]*AG
	// deferred are uses that are entered at the end of a transaction.
	deferred []deferredUse
	// highest is the highest AG that the transaction has allocated from, if it
	// has: for fear of deadlocks it takes nothing from lower ones afterwards.
	highest   AGNumber
	allocated bool

	free   Blocks // of all AGs
	inodes uint64

	// stuck says that blocks were taken that no btree could be told of: one would
	// have to merge blocks, which is not simulated, or found none to grow by.
	// Nothing can be made any more.
	stuck bool
}

// stick notes that a btree could not be changed.
func (s *space) stick() bool {
	s.stuck = true
	return false
}

type deferredUse struct {
	agno AGNumber
	Use
}

func newSpace(g *Geometry) *space {
	return &space{g: g, ags: map[AGNumber]*AG{}, free: g.FreeBlocks()}
}

// look is an AG as it is now.
func (s *space) look(agno AGNumber) *AG {
	if a, there := s.ags[agno]; there {
		return a
	}
	return s.g.newAG(agno)
}

// keep is an AG that something is taken from.
func (s *space) keep(agno AGNumber) *AG {
	a := s.look(agno)
	s.ags[agno] = a
	return a
}

// commit ends a transaction: what files have got is entered in the rmapbt, AG by AG.
func (s *space) commit() bool {
	slices.SortStableFunc(s.deferred, func(x, y deferredUse) int { return cmp.Compare(x.agno, y.agno) })
	for _, u := range s.deferred {
		if a := s.ags[u.agno]; !a.refill() || !a.own(u.Use) {
			return s.stick()
		}
	}
	s.deferred, s.allocated = s.deferred[:0], false
	return true
}

// around lists AG numbers from one on, and then those from the lowest on that
// are before it.
func (s *space) around(start, lowest AGNumber) func(yield func(AGNumber) bool) {
	return func(yield func(AGNumber) bool) {
		for agno := start; agno < s.g.AGCount; agno++ {
			if !yield(agno) {
				return
			}
		}
		for agno := lowest; agno < start; agno++ {
			if !yield(agno) {
				return
			}
		}
	}
}

// blocks allocates blocks for a file: behind its last extent, else near its
// inode, else in another AG. A directory gets them in one piece, from an AG
// that has room for all of the operation (total) if there is one.
func (s *space) blocks(f *File, offset, n, total Blocks) (FileExtent, bool) {
	g := s.g
	start, target := s.target(f, offset)
	r := request{target: target, min: 1, max: min(n, maxFileExtent, g.logRoom()+1), align: 1, left: s.treeLeft(f),
		total: total}
	if f.isDir() {
		r.min = n
	} else {
		r.min = max(1, min(r.max, s.longest(start, r.max)))
	}
	agno, got, ok := s.allocate(start, r)
	if !ok && !f.isDir() && r.min > 1 { // the longest was not all to be had
		r.min = 1
		agno, got, ok = s.allocate(start, r)
	}
	if !ok {
		r.target, r.total = 0, r.min
		agno, got, ok = s.allocate(0, r)
	}
	if !ok {
		return FileExtent{}, false
	}
	s.deferred = append(s.deferred, deferredUse{agno, Use{Extent: got, Owner: OwnedByFile, Inode: f.Inode,
		Offset: offset}})
	return FileExtent{Offset: offset, Start: g.FSBlock(agno, got.Start), Blocks: got.Blocks}, true
}

// treeBlock allocates a block of a file's extent btree, near another.
func (s *space) treeBlock(f *File, near FSBlock) (uint64, bool) {
	agno, agbno := s.g.BlockAddress(near)
	r := request{target: agbno, min: 1, max: 1, align: 1}
	agno, got, ok := s.allocate(agno, r)
	if !ok {
		return 0, false
	}
	if !s.ags[agno].own(Use{Extent: got, Owner: OwnedByFile, Inode: f.Inode, Bmbt: true}) {
		return 0, s.stick()
	}
	return uint64(s.g.FSBlock(agno, got.Start)), true
}

// treeLeft is how many blocks are to stay free in an AG that a file gets blocks
// from: what its extent btree may need, unless that may not be there.
func (s *space) treeLeft(f *File) Blocks {
	switch {
	case s.allocated:
		return 0
	case f.Tree == nil:
		return 1
	}
	return Blocks(f.Tree.Levels())
}

// allocate takes blocks from the first AG that has them, near the target in
// the first of all.
func (s *space) allocate(start AGNumber, r request) (AGNumber, Extent, bool) {
	lowest := AGNumber(0)
	if s.allocated {
		lowest = s.highest
	}
	start = max(start, lowest)
	for agno := range s.around(start, lowest) {
		a := s.look(agno)
		try := a.near
		if agno != start || r.target == 0 {
			try = a.anywhere
		}
		if got, ok := try(r); ok {
			s.ags[agno] = a
			s.highest, s.allocated = agno, true
			s.free -= got.Blocks
			return agno, got, true
		}
	}
	return 0, Extent{}, false
}

// target is where a file's next extent belongs: behind the one before it, at
// the same distance as in the file if nothing follows and that is within the
// AG, else where its inode is.
func (s *space) target(f *File, offset Blocks) (AGNumber, AGBlock) {
	g := s.g
	agno, agino := g.InodeAddress(f.Inode)
	agbno := AGBlock(agino >> g.InodeBlockLog())
	next := f.extentAt(offset)
	if next == 0 {
		return agno, agbno
	}
	last := f.Extents[next-1]
	lastAG, lastBlock := g.BlockAddress(last.Start)
	at := Blocks(lastBlock) + last.Blocks
	if at >= g.AGBlocks {
		return agno, agbno
	}
	if gap := offset - last.Offset - last.Blocks; next == len(f.Extents) && at+gap < g.AGBlocks {
		at += gap
	}
	return lastAG, AGBlock(at)
}

// longest is the length of the longest free extent in the AGs from one on, as
// far as one is found that will do.
func (s *space) longest(start AGNumber, enough Blocks) (n Blocks) {
	for agno := range s.around(start, 0) {
		if n = max(n, s.look(agno).Free.Longest); n >= enough {
			break
		}
	}
	return n
}
