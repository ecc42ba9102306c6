package populate

import (
	"context"
	"io"
	"slices"
	"strings"

	"mkfs/internal/geometry"
	"mkfs/internal/ondisk"
	"mkfs/internal/tree"
)

// Survey is what a look at a tree shows, for a geometry.
type Survey struct {
	geometry.Load
	Entries   int64  // with the root
	Bytes     int64  // of data, in whole blocks
	Realtime  string // a file with data that would be in the realtime section
	ACLs      int64  // files whose access control lists become attributes that nobody follows
	g         *geometry.Geometry
	open      []directory // from the root to that of the entry
	blockSize int64
	links     map[tree.Link]bool
}

// directory is one whose entries are being counted.
type directory struct {
	entries               uint64
	block, short, longest geometry.Bytes
}

// Look goes through a tree and tells what it puts into a filesystem.
func Look(ctx context.Context, g *geometry.Geometry, t tree.Tree, unreadable func(path string, err error)) (*Survey, error) {
	src, err := t.Survey(ctx, int64(g.BlockSize), unreadable)
	if err != nil {
		return nil, err
	}
	s := &Survey{g: g, blockSize: int64(g.BlockSize), links: map[tree.Link]bool{}}
	err = s.all(src)
	if e := src.Close(); err == nil {
		err = e
	}
	return s, err
}

func (s *Survey) all(src tree.Source) error {
	for {
		e, err := src.Next()
		if err == io.EOF {
			s.leave(0)
			return nil
		}
		if err != nil {
			return err
		}
		if s.Realtime == "" && e.Stored > 0 && s.g.Inherit.Realtime.Value && s.g.RT.Blocks > 0 {
			s.Realtime = src.Path()
		}
		s.add(e)
	}
}

// leave counts the directories that are complete, deeper than some depth.
func (s *Survey) leave(depth int) {
	for n := len(s.open); n > depth; n-- {
		d := &s.open[n-1]
		s.blocks(s.g.DirBlocks(d.entries, d.block, d.short, d.longest, s.half()), 0)
		s.open = s.open[:n-1]
	}
}

const symlinkHeader = 56 // of a block of a symbolic link

// half is half of what an inode has for its forks: what either of them has at least.
func (s *Survey) half() geometry.Bytes {
	return (s.g.InodeSize - geometry.Bytes(ondisk.CoreSize(s.g.Features.CRC))) / 2
}

// blocks counts blocks of a fork, in so many extents; 0 for as many as there are blocks.
func (s *Survey) blocks(n, extents geometry.Blocks) {
	if extents == 0 {
		extents = n
	}
	s.Blocks += n
	s.Extents += extents
	s.Forks += s.g.ForkBlocks(extents, s.half())
}

// add counts an entry.
func (s *Survey) add(e *tree.Entry) {
	s.Entries++
	s.leave(e.Depth)
	if n := len(s.open); n > 0 {
		d := &s.open[n-1]
		block, short := geometry.DirEntry(len(e.Name))
		d.entries, d.block, d.short, d.longest = d.entries+1, d.block+block, d.short+short, max(d.longest, block)
	}
	if e.Link != (tree.Link{}) {
		if s.links[e.Link] {
			return
		}
		s.links[e.Link] = true
	}
	s.Inodes++
	switch e.Mode & tree.TypeMask {
	case tree.TypeDirectory:
		s.Folders++
		s.open = append(s.open, directory{})
	case tree.TypeRegular:
		s.data(e)
	case tree.TypeSymlink:
		if n := geometry.Bytes(len(e.Target)); n > s.half() {
			s.blocks(s.ceil(int64(n), s.blockSize-symlinkHeader), 0)
		}
	}
	s.attrs(e)
}

// data counts the blocks of a regular file.
func (s *Survey) data(e *tree.Entry) {
	stored := e.Stored
	if e.Reserve {
		stored = e.Size
	}
	n, pieces := s.ceil(stored, s.blockSize), geometry.Blocks(max(1, e.Pieces))
	if n > 0 {
		s.Bytes += int64(s.g.Bytes(n))
		// An extent size hint makes both ends of a piece longer.
		n += 2 * pieces * geometry.Blocks(s.g.Inherit.ExtentSize.Value)
		s.blocks(n, pieces+n/s.g.AGBlocks)
	}
}

func (s *Survey) ceil(n, unit int64) geometry.Blocks { return geometry.Blocks((n + unit - 1) / unit) }

// attrs counts the blocks of attributes, of which the pointer to the directory is one.
func (s *Survey) attrs(e *tree.Entry) {
	const header, item, entry = 64, 12, 8
	size := int64(header)
	if s.g.Features.Parent {
		size += item + int64(len(e.Name)) + ondisk.ParentRecSize
	}
	n := geometry.Blocks(0)
	if slices.ContainsFunc(e.Attrs, func(a tree.Attr) bool { return strings.HasPrefix(a.Name, "system.posix_acl_") }) {
		s.ACLs++
	}
	for _, a := range e.Attrs {
		value := int64(len(a.Value))
		if value > s.blockSize/4 {
			n += s.ceil(value, s.blockSize-header)
			value = 0
		}
		size += item + entry + int64(len(a.Name)) + value
	}
	if geometry.Bytes(size) > s.half() {
		leaves := s.ceil(size, s.blockSize-header)
		if n += leaves; leaves > 1 {
			n += leaves + 1
		}
	}
	if n > 0 {
		s.blocks(n, 0)
	}
}
