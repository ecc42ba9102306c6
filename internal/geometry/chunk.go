package geometry

import "mkfs/internal/memtree"

// inode allocates an inode in the first AG from start on that has a free one or
// room for a chunk. (xfs_dialloc in libxfs: a second pass is less demanding.)
func (s *space) inode(start AGNumber) (Inode, bool) {
	ceiling := s.g.maxInodes()
	more := ceiling == 0 || s.inodes+uint64(s.g.ChunkInodes()) <= ceiling
	low := s.free < s.g.Blocks/100 // then free inodes go before new chunks
	for _, first := range []bool{true, false} {
		for agno := range s.around(start, 0) {
			a := s.look(agno)
			if a.FreeInodes.Root().Live == 0 {
				if !more || low && first || !a.chunkFits(first) {
					continue
				}
				if !s.chunk(agno) {
					if s.stuck {
						return 0, false
					}
					continue
				}
			}
			return s.g.InodeOf(agno, s.keep(agno).takeInode()), true
		}
	}
	return 0, false
}

// chunkFits tells whether an AG may have room for a chunk, or a part of one, and
// for a block of the file: at first with room to align it.
func (a *AG) chunkFits(first bool) bool {
	need := a.g.chunkPart()
	if need > 1 && first {
		need += a.g.clusterAlign()
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
	} else if !a.FreeInodes.Remove(p) {
		panic("geometry: there are more chunks with free inodes than are ever open at once")
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
	r := request{min: n, max: n, align: 1, left: Blocks(a.trees.inodeLevels)}
	var got Extent
	ok := false
	if a.NewInode != NullAGInode {
		r.target, r.slop = AGBlock(a.NewInode>>g.InodeBlockLog())+AGBlock(n), g.clusterAlign()-1
		if Blocks(r.target) < a.Length {
			got, ok = a.exact(r)
		}
	}
	r.target, r.slop = AGBlock(a.Inodes.Root().At), 0
	align, striped := g.chunkAlign()
	if !ok {
		r.align = align
		got, ok = a.near(r)
	}
	if !ok && striped {
		r.align = g.clusterAlign()
		got, ok = a.near(r)
	}
	if part := g.chunkPart(); !ok && part < n {
		r.min, r.max, r.align = part, part, part
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
	return a.own(Use{Extent: got, Owner: OwnedByInodes}) && s.enterChunk(a, got) || s.stick()
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
	for _, t := range []*memtree.Tree[InodeRecord]{a.Inodes, a.FreeInodes} {
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
	if !ok {
		return 0, false
	}
	if !a.own(Use{Extent: got, Owner: OwnedByInobt}) {
		return 0, s.stick()
	}
	s.free--
	return uint64(got.Start), true
}
