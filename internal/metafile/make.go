// Package metafile makes what a new filesystem holds besides headers: the root
// directory, and the files of the realtime section. Without a metadata directory
// these are a bitmap and a summary, which exist even where there is no such section;
// with one, some files for each realtime group, in a tree of their own.
//
// They are made as every other file is, one after the other, so that inodes and
// blocks are where the order of work puts them. Their data goes past the cache of
// metadata: see Data.
package metafile

import (
	"context"
	"errors"

	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/namei"
	"mkfs/internal/ondisk"
)

// Data takes n blocks of a file at a place: it has fill write them into zeros, as many at
// a time as it has room for, from the first on.
type Data func(at geometry.FSBlock, n geometry.Blocks, name string,
	fill func(skip geometry.Blocks, dst []byte)) error

// Made is what has been made.
type Made struct {
	Bitmap, Summary geometry.Inode // of the realtime section, without a metadata directory
}

// ErrNoRoom tells that the data section has no room for all of it.
var ErrNoRoom = errors.New("the data section has no room for its metadata files")

// ErrRoot tells that the root directory is not where checkers look for it: a program
// that computes its place from the superblock alone would not find it.
var ErrRoot = errors.New("the root inode does not fit where checkers expect it")

// Maker makes them.
type Maker struct {
	*live.FS
	names *namei.Names
	root  *inode.Inode
	files []file                     // of a group
	ags   map[geometry.AGNumber]bool // that have inodes
	ag    geometry.AGNumber          // the one that got the last
	// Data takes blocks of files; nil for nowhere.
	Data Data
	// Progress is told how many inodes of how many are made.
	Progress    func(done, total int64)
	done, total int64
	// RootDir is what the root directory is to be.
	RootDir ialloc.New
	// Tree is what the root directory holds; nil for nothing.
	Tree Tree
}

// Tree fills the root directory.
type Tree interface {
	// Rooted completes the root directory, once it is made.
	Rooted(root *inode.Inode) error
	// Fill makes what is in it, once all metadata files are made.
	Fill(ctx context.Context) error
}

// New prepares to make the files of a filesystem that has only headers.
func New(fs *live.FS) *Maker {
	m := &Maker{
		FS: fs, names: namei.New(fs), ags: map[geometry.AGNumber]bool{0: true},
		RootDir: ialloc.New{Mode: ondisk.ModeDirectory | 0o755, Unlinkable: true},
	}
	m.total = m.Inodes()
	return m
}

// Names are the names of the filesystem.
func (m *Maker) Names() *namei.Names { return m.names }

// file is a file with data.
type file struct {
	ip    *inode.Inode
	group geometry.GroupNumber
	name  string
	block content
}

// All makes all of them.
func (m *Maker) All(ctx context.Context) (made Made, err error) {
	if err := m.Root(); err != nil {
		return made, err
	}
	if m.Tree != nil {
		if err := m.Tree.Rooted(m.root); err != nil {
			return made, err
		}
	}
	if err := ctx.Err(); err != nil {
		return made, err
	}
	if m.G.Features.Metadir {
		err = m.metadir(ctx)
	} else {
		made, err = m.realtime(ctx)
	}
	if err == nil && m.Tree != nil {
		err = m.Tree.Fill(ctx)
	}
	if err != nil {
		return made, err
	}
	return made, m.finishRoot()
}

// count notes that an inode is made.
func (m *Maker) count() {
	m.done++
	if m.Progress != nil {
		m.Progress(m.done, m.total)
	}
}
