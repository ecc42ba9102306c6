// Package namei has operations on a file and its name: each of them changes a directory, the
// inode that the name stands for, and what points from one to the other.
//
//	a name in a directory -> inode        package dir
//	an inode -> its directory and name    a parent pointer, an attribute; with the feature
//	a directory -> number of links        itself, its name, and ".." of each directory in it
//
// They are steps of a transaction that the caller begins and commits, and that has reserved what
// Space says:
//
//	Create, Symlink     a new file with a name; Enter and EnterLink do what mkfs.xfs does of it
//	Link                another name of a file
//	Rename, Exchange    another name in place of the old one; two names that change places
//	Remove              a name less; with its last one a file goes on a list of unlinked inodes
//	Inactivate          which frees it, in transactions of its own
//
// The order of steps, stamps of time, counts of links and pointers to directories are those of
// xfs_dir2.c and xfs_inode_util.c in libxfs; functions name theirs. What could be known before is
// an error before anything is changed: a name that none can have, a directory that would be in itself, one
// that is not empty.
package namei

import (
	"fmt"
	"strings"

	"mkfs/internal/attr"
	"mkfs/internal/bmap"
	"mkfs/internal/dir"
	"mkfs/internal/geometry"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
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

// spill moves what the data fork has out of the inode, where attributes need the room
// (xfs_bmap_add_attrfork_local in libxfs).
func (n *Names) spill(t *live.Trans, ip *inode.Inode) (err error) {
	ok := false
	switch ip.Core.Mode & ondisk.ModeType {
	case ondisk.ModeDirectory:
		ok, err = n.Dirs.Spill(t, ip, geometry.Blocks(n.fs.G.DirBlockSize/n.fs.G.BlockSize))
	case ondisk.ModeSymlink:
		ok, err = symlink.Spill(t, ip)
	default:
		return fmt.Errorf("inode %d: its data fork leaves no room for attributes", ip.Ino)
	}
	if err == nil && !ok {
		err = bmap.ErrNoRoom
	}
	return err
}

// CheckName tells what is wrong with a name that a directory is to have, with an error that says which
// directory. (xfs_dir2_namecheck in libxfs.)
func CheckName(dp *inode.Inode, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("directory %d: an empty name", dp.Ino)
	case len(name) > dir.MaxName:
		return fmt.Errorf("directory %d: the name %.20q... has %d bytes, more than %d", dp.Ino, name, len(name), dir.MaxName)
	case strings.IndexByte(name, '/') >= 0 || strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("directory %d: the name %q has a slash or a zero byte in it", dp.Ino, name)
	case name == "." || name == "..":
		return fmt.Errorf("directory %d: the name %q is taken", dp.Ino, name)
	case !dp.IsDir():
		return fmt.Errorf("inode %d: it is no directory, and has no %q", dp.Ino, name)
	case dp.Core.Nlink == 0:
		return fmt.Errorf("directory %d: it is removed, and has no %q", dp.Ino, name)
	}
	return nil
}

func isDir(mode uint16) bool { return mode&ondisk.ModeType == ondisk.ModeDirectory }

// fileTypes are the types that entries of directories have, by that of the mode.
var fileTypes = [16]uint8{8: 1, 4: 2, 2: 3, 6: 4, 1: 5, 12: 6, 10: 7}

// FileType is the type that an entry has of a file of a mode.
func FileType(mode uint16) uint8 { return fileTypes[mode>>12] }
