package namei

import (
	"errors"
	"fmt"
	"io/fs"

	"mkfs/internal/attr"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
)

// At is a name in a directory and the file that it stands for, nil if it is free. An inode is in memory
// once: a directory that is named twice is the same one.
type At struct {
	Dir  *inode.Inode
	Name string
	File *inode.Inode
}

func (a At) errorf(format string, args ...any) error {
	return fmt.Errorf("directory %d, %q: %w", a.Dir.Ino, a.Name, fmt.Errorf(format, args...))
}

// link is the link that the name is.
func (a At) link() attr.Link {
	return attr.Link{Dir: a.Dir.Ino, Generation: a.Dir.Core.Generation, Name: []byte(a.Name)}
}

// ErrNotEmpty is what an operation ends with that would remove a directory that has entries.
var ErrNotEmpty = errors.New("the directory has entries")

// check makes sure that a name stands for what it is said to, or for nothing.
func (n *Names) check(t *live.Trans, a At) error {
	if err := CheckName(a.Dir, a.Name); err != nil {
		return err
	}
	e, found, err := n.Dirs.Lookup(t, a.Dir, a.Name)
	switch {
	case err != nil:
		return err
	case a.File == nil && found && string(e.Name) == a.Name:
		return a.errorf("%w", fs.ErrExist)
	case a.File == nil:
		return nil
	case !found:
		return a.errorf("%w", fs.ErrNotExist)
	case e.Ino != a.File.Ino:
		return a.errorf("it stands for inode %d, not for %d", e.Ino, a.File.Ino)
	case a.File.Core.Nlink == 0:
		return a.errorf("inode %d counts no names", a.File.Ino)
	}
	return nil
}

// removable makes sure that a directory has no entries, and nothing else names it.
func (n *Names) removable(a At) error {
	empty, err := n.Dirs.Empty(a.File)
	switch {
	case err != nil:
		return err
	case !empty || a.File.Core.Nlink > 2:
		return a.errorf("%w", ErrNotEmpty)
	case a.File.Core.Nlink < 2:
		return a.errorf("inode %d: a directory with %d links", a.File.Ino, a.File.Core.Nlink)
	}
	return nil
}

// Remove takes a name out of a directory. A file without another name goes on the list of unlinked inodes,
// from which Inactivate takes it; a directory must have no entries. The transaction has reserved what it may
// take, Space.Remove, or nothing where that is not to be had. Before an error of the name nothing is
// changed. (xfs_dir_remove_child.)
func (n *Names) Remove(t *live.Trans, a At) error {
	if a.File == nil {
		return a.errorf("%w", fs.ErrNotExist)
	}
	if err := n.check(t, a); err != nil {
		return err
	}
	if a.File.IsDir() {
		if err := n.removeDir(t, a); err != nil {
			return err
		}
	}
	n.changed(t, a.Dir)
	if err := drop(t, a.File); err != nil {
		return err
	}
	if err := n.Dirs.Remove(t, a.Dir, a.Name, t.Reserve); err != nil {
		return err
	}
	if !n.fs.G.Features.Parent {
		return nil
	}
	return n.Attrs.RemoveParent(t, a.File, a.link())
}

// removeDir takes away what points to and from a directory that is removed, but for its name. It gets the root
// directory for its parent, since its own may be gone before it is.
func (n *Names) removeDir(t *live.Trans, a At) error {
	if err := n.removable(a); err != nil {
		return err
	}
	if err := dropDir(t, a.Dir); err != nil {
		return err
	}
	if err := drop(t, a.File); err != nil {
		return err
	}
	root := n.fs.G.RootInode()
	if a.Dir.Ino == root {
		return nil
	}
	ok, err := n.Dirs.Replace(t, a.File, "..", root, dirType, 0)
	if !ok && err == nil {
		err = a.errorf("inode %d has no room for the number of the root directory", a.File.Ino)
	}
	return err
}

// drop counts one link less to an inode. One that has none left goes on the list of unlinked inodes.
// (xfs_droplink.)
func drop(t *live.Trans, ip *inode.Inode) error {
	ip.Stamp(t.FS, inode.Changed)
	if ip.Core.Nlink == 0 {
		return fmt.Errorf("inode %d: it has no links, of which one is removed", ip.Ino)
	}
	if ip.Core.Nlink != pinned {
		ip.Core.Nlink--
	}
	ip.Log(t)
	if ip.Core.Nlink > 0 {
		return nil
	}
	return ialloc.Unlink(t, ip)
}

// dropDir counts the link less that a directory has from one that is in it. Its own two stay.
func dropDir(t *live.Trans, dp *inode.Inode) error {
	if dp.Core.Nlink <= 2 {
		return fmt.Errorf("directory %d: it has %d links, and a directory in it", dp.Ino, dp.Core.Nlink)
	}
	return drop(t, dp)
}

const dirType = uint8(ondisk.DirDirectory)
