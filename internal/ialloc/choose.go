package ialloc

import (
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Alloc takes an inode for a file of a mode in a directory, nil for the root of a
// tree. ok is false if there is none. If it made a chunk it has rolled the transaction.
// (xfs_dialloc.)
func Alloc(t *live.Trans, parent *inode.Inode, mode uint16) (ino geometry.Inode, ok bool, err error) {
	c := t.InodeChunk()
	s := search{t: t, mode: mode, more: c.MaxInodes == 0 || t.Counts.Inodes+uint64(t.G.ChunkInodes()) <= c.MaxInodes}
	if parent != nil {
		s.parent = parent.Ino
	}
	low := t.Counts.FreeBlocks < t.G.Blocks/100 // then free inodes go before new chunks
	s.more = s.more && !low
	s.start = of(t.FS).start(t, parent, mode)
	for _, s.careful = range []bool{true, false} {
		for i := range t.G.AGCount {
			agno := geometry.AGNumber((uint64(s.start) + uint64(i)) % uint64(t.G.AGCount))
			ino, r, err := s.look(agno)
			if err != nil || r == found || r == full {
				return ino, r == found, err
			}
		}
		s.more = s.more || low
	}
	return 0, false, nil
}

// start is the AG that is looked at first (xfs_dialloc_pick_ag).
func (a *allocator) start(t *live.Trans, parent *inode.Inode, mode uint16) geometry.AGNumber {
	switch {
	case parent == nil:
		return 0
	case parent.Core.Flags2&ondisk.Flag2Metadata != 0:
		if t.G.Log.External {
			return 0
		}
		return t.G.Log.AG
	case mode&ondisk.ModeType == ondisk.ModeDirectory:
		a.rotor++
		return geometry.AGNumber((a.rotor - 1) % uint32(t.G.AGCount))
	}
	agno, _ := t.G.InodeAddress(parent.Ino)
	if agno >= t.G.AGCount {
		return 0
	}
	return agno
}

// search is the search of a transaction for an inode.
type search struct {
	t       *live.Trans
	parent  geometry.Inode // 0 for none
	mode    uint16
	start   geometry.AGNumber // where it begins
	more    bool              // chunks may be made
	careful bool              // with room to align them
}

// result is what came of a look at an AG.
type result int

const (
	none  result = iota
	found        // an inode
	full         // the filesystem may have no more inodes
)

// look looks for an inode in an AG (xfs_dialloc_good_ag, xfs_dialloc_try_ag).
func (s *search) look(agno geometry.AGNumber) (geometry.Inode, result, error) {
	g, free, err := s.peek(agno)
	if err != nil {
		return 0, none, err
	}
	if free == 0 {
		if ok, err := s.room(agno); err != nil || !ok {
			return 0, none, err
		}
	}
	if g == nil {
		if g, err = open(s.t, agno); err != nil {
			return 0, none, err
		}
	}
	if free == 0 {
		if r, err := g.makeChunk(); err != nil || r != found {
			return 0, r, err
		}
		if err := s.t.Roll(); err != nil {
			return 0, none, err
		}
	}
	agino, err := g.take(s.parent)
	if err != nil {
		return 0, none, err
	}
	return s.t.G.InodeOf(agno, agino), found, nil
}

// peek tells how many inodes of an AG are free. The first AG that is looked at mostly is
// the one, and is opened; of others the AGI need not stay in memory, for they may be many.
func (s *search) peek(agno geometry.AGNumber) (g *group, free uint32, err error) {
	if agno != s.start {
		_, free, err = s.t.InodeCounts(agno)
		return nil, free, err
	}
	if g, err = open(s.t, agno); err != nil {
		return nil, 0, err
	}
	return g, g.FreeCount(), nil
}

// room tells whether an AG seems to have room for a chunk, or a part of one, and for
// a block of the file.
func (s *search) room(agno geometry.AGNumber) (bool, error) {
	if !s.more {
		return false, nil
	}
	c := s.t.InodeChunk()
	need := c.SparseBlocks
	if s.careful && need > 1 {
		need += c.Align
	}
	free, longest, listed, err := s.t.SpaceCounts(agno)
	if err != nil {
		return false, err
	}
	if longest == 0 && listed > 0 {
		longest = 1
	}
	file := geometry.Blocks(0)
	switch s.mode & ondisk.ModeType {
	case ondisk.ModeDirectory, ondisk.ModeRegular, ondisk.ModeSymlink:
		file = 1
	}
	return free >= file+need && longest >= need, nil
}
