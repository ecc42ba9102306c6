package geometry

// space hands out blocks and inodes as the kernel's allocator does, in the
// order in which a new filesystem's files are made. It keeps the state of all
// AGs that it has taken something from.
type space struct {
	g   *Geometry
	ags map[AGNumber]*AG
	// freeList is the number of blocks that an AG's free list holds.
	freeList Blocks
}

func newSpace(g *Geometry) *space {
	return &space{g: g, ags: map[AGNumber]*AG{}, freeList: g.FreeListBlocks()}
}

// look is an AG as it is now.
func (s *space) look(agno AGNumber) *AG {
	if a, there := s.ags[agno]; there {
		return a
	}
	a := s.g.agWithFreeList(agno, s.freeList)
	return &a
}

// keep is an AG that something is taken from.
func (s *space) keep(agno AGNumber) *AG {
	a := s.look(agno)
	s.ags[agno] = a
	return a
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
		if len(a.FreeInodes.Live()) == 0 && !s.chunk(agno) {
			continue
		}
		return s.g.InodeOf(agno, s.keep(agno).takeInode()), true
	}
	return 0, false
}

// takeInode takes the first free inode. All but the newest chunk are full.
func (a *AG) takeInode() uint32 {
	r := a.FreeInodes.slots[0]
	agino := r.Start + uint32(r.Used)
	r.Used++
	for i := range a.Inodes.Live() {
		if a.Inodes.slots[i].Start == r.Start {
			a.Inodes.slots[i] = r
		}
	}
	if r.Free() > 0 {
		a.FreeInodes.slots[0] = r
	} else {
		a.FreeInodes.remove(0) // as it was
	}
	return agino
}

// chunk allocates a chunk of inodes: behind the last one, else aligned near the
// inode btree's root, at a stripe if inodes are aligned to those.
func (s *space) chunk(agno AGNumber) bool {
	g, a := s.g, s.look(agno)
	n := g.chunkBlocks()
	align, striped := g.chunkAlign()
	r := request{min: n, max: n, align: 1, left: Blocks(newTrees(g).inodeLevels)}
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
	for i := 0; i < g.ChunkInodes(); i += InodesPerChunk {
		a.addRecord(InodeRecord{Start: uint32(got.Start)<<g.InodeBlockLog() + uint32(i)})
	}
	return true
}

func (a *AG) addRecord(r InodeRecord) {
	for _, t := range []*Records[InodeRecord]{&a.Inodes, &a.FreeInodes} {
		i := 0
		for i < t.live && t.slots[i].Start < r.Start {
			i++
		}
		t.insert(i, r)
	}
}

// blocks allocates blocks for a file: behind its last extent, else near its
// inode, else in another AG. A directory gets them in one piece, from an AG
// that has room for all of the operation (total) if there is one.
func (s *space) blocks(f *File, offset, n, total Blocks) (FileExtent, bool) {
	g := s.g
	start, target := s.target(f, offset)
	r := request{target: target, min: 1, max: min(n, maxFileExtent, g.logRoom()+1), align: 1, left: 1, total: total}
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
	a := s.ags[agno]
	a.Owned = append(a.Owned, Owned{Extent: got, Inode: f.Inode, Offset: offset})
	return FileExtent{Offset: offset, Start: g.FSBlock(agno, got.Start), Blocks: got.Blocks}, true
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
	last := f.Blocks[next-1]
	lastAG, lastBlock := g.BlockAddress(last.Start)
	at := Blocks(lastBlock) + last.Blocks
	if at >= g.AGBlocks {
		return agno, agbno
	}
	if gap := offset - last.Offset - last.Blocks; next == len(f.Blocks) && at+gap < g.AGBlocks {
		at += gap
	}
	return lastAG, AGBlock(at)
}

// extentAt is the index of a file's first extent behind an offset.
func (f *File) extentAt(offset Blocks) int {
	i := 0
	for i < len(f.Blocks) && f.Blocks[i].Offset < offset {
		i++
	}
	return i
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
