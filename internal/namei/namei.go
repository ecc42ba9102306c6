// Package namei has operations on a file and its name: each of them changes a directory, the
// inode that the name stands for, and what points from one to the other.
//
//	a name in a directory -> inode        package dir
//	an inode -> its directory and name    a parent pointer, an attribute; with the feature
//	a directory -> number of links        itself, its name, and ".." of each directory in it
//
// They are steps of a transaction that the caller begins and commits, as
// xfs_dir_create_child and its like in libxfs are.
package namei

import (
	"fmt"

	"mkfs/internal/attr"
	"mkfs/internal/bmap"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// Names are the names of a filesystem.
type Names struct {
	fs    *live.FS
	Dirs  *dir.Dirs
	Attrs *attr.FS
	Space *geometry.Space
	name  []byte
}

// New prepares for the names of a filesystem.
func New(fs *live.FS) *Names {
	n := &Names{fs: fs, Dirs: dir.New(fs), Space: geometry.NewSpace(fs.G)}
	n.Attrs = attr.New(fs, n.spill)
	return n
}

// spill moves what the data fork has out of the inode, where attributes need the room.
func (n *Names) spill(t *live.Trans, ip *inode.Inode) error {
	if !ip.IsDir() {
		return fmt.Errorf("inode %d: its data fork leaves no room for attributes", ip.Ino)
	}
	ok, err := n.Dirs.Spill(t, ip, t.Reserve)
	if err == nil && !ok {
		err = bmap.ErrNoRoom
	}
	return err
}

// Root makes an inode that is the root of a tree, and its own parent. ok is false if there is no inode.
func (n *Names) Root(t *live.Trans, what ialloc.New) (ip *inode.Inode, ok bool, err error) {
	ip, ok, err = n.inode(t, nil, what)
	if ok && isDir(what.Mode) {
		n.Dirs.Init(t, ip, ip.Ino)
	}
	return ip, ok, err
}

// Create makes a file and enters it into a directory (xfs_dir_create_child). total is how many blocks
// the transaction may take. ok is false if there was no room; what is changed by then cannot be
// committed.
func (n *Names) Create(t *live.Trans, dp *inode.Inode, name string, what ialloc.New) (ip *inode.Inode, ok bool, err error) {
	if ip, ok, err = n.inode(t, dp, what); !ok || err != nil {
		return ip, ok, err
	}
	if ok, err = n.Dirs.Add(t, dp, name, ip.Ino, FileType(what.Mode), t.Reserve); !ok || err != nil {
		return ip, ok, err
	}
	n.changed(t, dp)
	if isDir(what.Mode) {
		n.Dirs.Init(t, ip, dp.Ino)
		dp.Core.Nlink++
	}
	dp.Log(t)
	if !n.fs.G.Features.Parent {
		return ip, true, nil
	}
	n.name = append(n.name[:0], name...)
	return ip, true, n.Attrs.AddParent(t, ip, attr.Link{Dir: dp.Ino, Generation: dp.Core.Generation, Name: n.name})
}

func (n *Names) inode(t *live.Trans, dp *inode.Inode, what ialloc.New) (ip *inode.Inode, ok bool, err error) {
	ino, ok, err := ialloc.Alloc(t, dp, what.Mode)
	if !ok || err != nil {
		return nil, ok, err
	}
	ip, err = ialloc.Create(t, ino, dp, what)
	return ip, err == nil, err
}

// changed stamps a directory whose entries have changed.
func (n *Names) changed(t *live.Trans, dp *inode.Inode) {
	now := dp.EncodeTime(n.fs.Now())
	dp.Core.Mtime, dp.Core.Ctime = now, now
}

const typeMask = 0xf000

func isDir(mode uint16) bool { return mode&typeMask == ondisk.ModeDirectory }

// fileTypes are the types that entries of directories have, by that of the mode.
var fileTypes = [16]uint8{8: 1, 4: 2, 2: 3, 6: 4, 1: 5, 12: 6, 10: 7}

// FileType is the type that an entry has of a file of a mode.
func FileType(mode uint16) uint8 { return fileTypes[mode>>12] }
