package geometry

import (
	"cmp"
	"slices"

	"mkfs/internal/btree"
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
			return false
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

// inode allocates an inode in the first AG from start on that has a free one or
// room for a chunk. Where less than 1% of all blocks is free, free inodes go
// before a new chunk; only where no AG has room to align one, the room for that
// does not count.
func (s *space) inode(start AGNumber) (Inode, bool) {
	ceiling := s.g.maxInodes()
	more := ceiling == 0 || s.inodes+uint64(s.g.ChunkInodes()) <= ceiling
	low := s.free < s.g.Blocks/100
	for _, slack := range []Blocks{s.g.clusterAlign(), 0} {
		for agno := range s.around(start, 0) {
			a := s.look(agno)
			if a.FreeInodes.Root().Live == 0 && (!more || low && slack > 0 || !a.chunkFits(slack) || !s.chunk(agno)) {
				continue
			}
			return s.g.InodeOf(agno, s.keep(agno).takeInode()), true
		}
	}
	return 0, false
}

// chunkFits tells whether an AG may have room for a chunk and for a block of the file.
func (a *AG) chunkFits(slack Blocks) bool {
	need := a.g.chunkBlocks()
	if a.g.Features.Sparse {
		need = a.g.SparseAlign
	}
	if need > 1 {
		need += slack
	}
	return a.Free.Total() > need && a.Free.Longest >= need
}

// takeInode takes the first free inode. All but the newest chunk are full.
func (a *AG) takeInode() uint32 {
	p := a.FreeInodes.Find(InodeRecord{})
	r := p.Record()
	agino := r.take()
	if r.FreeCount() > 0 {
		a.FreeInodes.Update(p, r)
	} else {
		a.FreeInodes.Remove(p) // one of at most a few
	}
	a.Inodes.Update(a.Inodes.Find(r), r)
	return agino
}

// chunk allocates a chunk of inodes: behind the last one, else aligned near the
// inode btree's root, at a stripe if inodes are aligned to those; and if there
// is no room for a whole one, a part of one.
func (s *space) chunk(agno AGNumber) bool {
	g, a := s.g, s.look(agno)
	n := g.chunkBlocks()
	align, striped := g.chunkAlign()
	r := request{min: n, max: n, align: 1, left: Blocks(a.trees.inodeLevels)}
	var got Extent
	ok := false
	if a.NewInode != NullAGInode {
		r.target, r.slop = AGBlock(a.NewInode>>g.InodeBlockLog())+AGBlock(n), g.clusterAlign()-1
		if Blocks(r.target) < a.Length {
			got, ok = a.exact(r)
		}
	}
	r.target, r.slop, r.align = AGBlock(a.Inodes.Root().At), 0, align
	if !ok {
		got, ok = a.near(r)
	}
	if r.align = g.clusterAlign(); !ok && striped {
		got, ok = a.near(r)
	}
	if !ok && g.Features.Sparse && g.SparseAlign < n {
		r.min, r.max, r.align = g.SparseAlign, g.SparseAlign, g.SparseAlign
		r.from, r.to = AGBlock(g.InodeAlign), AGBlock(roundDown(a.Length, g.InodeAlign))
		got, ok = a.near(r)
	}
	if !ok {
		return false
	}
	s.ags[agno] = a
	s.free -= got.Blocks
	s.inodes += uint64(got.Blocks) << g.InodeBlockLog()
	a.Chunks = append(a.Chunks, got)
	return a.own(Use{Extent: got, Owner: OwnedByInodes}) && s.enterChunk(a, got)
}

// enterChunk enters a chunk in the inode btrees. A part of one is entered as all
// of it with holes, or fills holes in what is there.
func (s *space) enterChunk(a *AG, e Extent) bool {
	g := s.g
	a.NewInode = uint32(e.Start) << g.InodeBlockLog()
	var list []InodeRecord
	if e.Blocks < g.chunkBlocks() {
		before := Blocks(e.Start) % g.InodeAlign
		a.NewInode -= uint32(before) << g.InodeBlockLog()
		bit := func(n Blocks) uint { return uint(n<<g.InodeBlockLog()) / inodesPerHole }
		r := newRecord(a.NewInode)
		r.Holes = ^uint16((1<<bit(e.Blocks) - 1) << bit(before))
		if p := a.Inodes.Find(r); p.Live() && p.Record().Start == r.Start {
			r.Holes, r.Free = r.Holes&p.Record().Holes, p.Record().Free
		}
		list = append(list, r)
	} else {
		for i := 0; i < g.ChunkInodes(); i += InodesPerChunk {
			list = append(list, newRecord(a.NewInode+uint32(i)))
		}
	}
	for _, t := range []*btree.Tree[InodeRecord]{a.Inodes, a.FreeInodes} {
		for _, r := range list {
			p := t.Find(r)
			if p.Live() && p.Record().Start == r.Start {
				t.Update(p, r)
			} else if !t.Insert(p, r, func(near uint64) (uint64, bool) { return s.inodeTreeBlock(a, near) }) {
				return false
			}
		}
	}
	return true
}

// inodeTreeBlock allocates a block of an AG's inode btree, near another.
func (s *space) inodeTreeBlock(a *AG, near uint64) (uint64, bool) {
	got, ok := a.near(request{target: AGBlock(near), min: 1, max: 1, align: 1})
	if !ok || !a.own(Use{Extent: got, Owner: OwnedByInobt}) {
		return 0, false
	}
	s.free--
	return uint64(got.Start), true
}

// blocks allocates blocks for a file: behind its last extent, else near its
// inode, else in another AG. A directory gets them in one piece, from an AG
// that has room for all of the operation (total) if there is one.
func (s *space) blocks(f *File, offset, n, total Blocks) (FileExtent, bool) {
	g := s.g
	start, target := s.target(f, offset)
	r := request{target: target, min: 1, max: min(n, maxFileExtent, g.logRoom()+1), align: 1, left: s.treeLeft(f), total: total}
	if f.isDir() {
		r.min = n
	} else {
		r.min = max(1, min(r.max, s.longest(start, r.max)))
	}
	agno, got, ok := s.allocate(start, r)
	if !ok {
		r.target, r.total = 0, 0
		agno, got, ok = s.allocate(0, r)
	}
	if !ok {
		return FileExtent{}, false
	}
	s.deferred = append(s.deferred, deferredUse{agno, Use{Extent: got, Owner: OwnedByFile, Inode: f.Inode, Offset: offset}})
	return FileExtent{Offset: offset, Start: g.FSBlock(agno, got.Start), Blocks: got.Blocks}, true
}

// treeBlock allocates a block of a file's extent btree, near another.
func (s *space) treeBlock(f *File, near FSBlock) (uint64, bool) {
	agno, agbno := s.g.BlockAddress(near)
	r := request{target: agbno, min: 1, max: 1, align: 1}
	agno, got, ok := s.allocate(agno, r)
	if !ok || !s.ags[agno].own(Use{Extent: got, Owner: OwnedByFile, Inode: f.Inode, Bmbt: true}) {
		return 0, false
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
