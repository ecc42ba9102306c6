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
}

type deferredUse struct {
	agno AGNumber
	Use
}

func newSpace(g *Geometry) *space {
	return &space{g: g, ags: map[AGNumber]*AG{}}
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
	s.deferred = s.deferred[:0]
	return true
}

// around lists AG numbers from one on, those before it last.
func (s *space) around(start AGNumber) func(yield func(AGNumber) bool) {
	return func(yield func(AGNumber) bool) {
		for i := range s.g.AGCount {
			if !yield(AGNumber((uint64(start) + uint64(i)) % uint64(s.g.AGCount))) {
				return
			}
		}
	}
}

// inode allocates an inode in the first AG from start on that has a free one
// or room for a chunk.
func (s *space) inode(start AGNumber) (Inode, bool) {
	for agno := range s.around(start) {
		a := s.look(agno)
		if a.FreeInodes.Root().Live == 0 && !s.chunk(agno) {
			continue
		}
		return s.g.InodeOf(agno, s.keep(agno).takeInode()), true
	}
	return 0, false
}

// takeInode takes the first free inode. All but the newest chunk are full.
func (a *AG) takeInode() uint32 {
	p := a.FreeInodes.Find(InodeRecord{})
	r := p.Record()
	agino := r.Start + uint32(r.Used)
	r.Used++
	if r.Free() > 0 {
		a.FreeInodes.Update(p, r)
	} else {
		a.FreeInodes.Remove(p) // one of at most a few
	}
	a.Inodes.Update(a.Inodes.Find(r), r)
	return agino
}

// chunk allocates a chunk of inodes: behind the last one, else aligned near the
// inode btree's root, at a stripe if inodes are aligned to those.
func (s *space) chunk(agno AGNumber) bool {
	g, a := s.g, s.look(agno)
	n := g.chunkBlocks()
	align, striped := g.chunkAlign()
	r := request{min: n, max: n, align: 1, left: Blocks(a.trees.inodeLevels)}
	var got Extent
	ok := false
	if last := len(a.Chunks) - 1; last >= 0 {
		r.target, r.slop = a.Chunks[last].End(), g.clusterAlign()-1
		if Blocks(r.target) < a.Length {
			got, ok = a.exact(r)
		}
	}
	r.target, r.slop, r.align = g.Roots().Ino, 0, align
	if !ok {
		got, ok = a.near(r)
	}
	if r.align = g.InodeAlign; !ok && striped {
		got, ok = a.near(r)
	}
	if !ok {
		return false
	}
	s.ags[agno] = a
	a.Chunks = append(a.Chunks, got)
	if !a.own(Use{Extent: got, Owner: OwnedByInodes}) {
		return false
	}
	for _, t := range []*btree.Tree[InodeRecord]{a.Inodes, a.FreeInodes} {
		for i := 0; i < g.ChunkInodes(); i += InodesPerChunk {
			r := InodeRecord{Start: uint32(got.Start)<<g.InodeBlockLog() + uint32(i)}
			if !t.Insert(t.Find(r), r, a.inodeTreeBlock) {
				return false
			}
		}
	}
	return true
}

// inodeTreeBlock allocates a block of an inode btree, near another.
func (a *AG) inodeTreeBlock(near uint64) (uint64, bool) {
	got, ok := a.near(request{target: AGBlock(near), min: 1, max: 1, align: 1})
	if !ok || !a.own(Use{Extent: got, Owner: OwnedByInobt}) {
		return 0, false
	}
	return uint64(got.Start), true
}

// blocks allocates blocks for a file: behind its last extent, else near its
// inode, else in another AG. A directory gets them in one piece, from an AG
// that has room for all of the operation (total) if there is one.
func (s *space) blocks(f *File, offset, n, total Blocks) (FileExtent, bool) {
	g := s.g
	start, target := s.target(f, offset)
	r := request{target: target, min: 1, max: min(n, maxFileExtent, g.logRoom()+1), align: 1, left: f.treeLeft(), total: total}
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
func (s *space) treeBlock(f *File, near FSBlock, left Blocks) (uint64, bool) {
	agno, agbno := s.g.BlockAddress(near)
	r := request{target: agbno, min: 1, max: 1, align: 1, left: left}
	agno, got, ok := s.allocate(agno, r)
	if !ok || !s.ags[agno].own(Use{Extent: got, Owner: OwnedByFile, Inode: f.Inode, Bmbt: true}) {
		return 0, false
	}
	return uint64(s.g.FSBlock(agno, got.Start)), true
}

// allocate takes blocks from the first AG that has them, near the target in
// the first of all.
func (s *space) allocate(start AGNumber, r request) (AGNumber, Extent, bool) {
	for agno := range s.around(start) {
		a := s.look(agno)
		try := a.near
		if agno != start || r.target == 0 {
			try = a.anywhere
		}
		if got, ok := try(r); ok {
			s.ags[agno] = a
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
	for agno := range s.around(start) {
		if n = max(n, s.look(agno).Free.Longest); n >= enough {
			break
		}
	}
	return n
}
