package namei

import (
	"fmt"
	"math"

	"mkfs/internal/attr"
	"mkfs/internal/geometry"
	"mkfs/internal/ialloc"
	"mkfs/internal/inode"
	"mkfs/internal/live"
	"mkfs/internal/ondisk"
	"mkfs/internal/symlink"
)

// Inode makes an inode for a file in a directory, nil for the root of a tree. ok is false if there is
// none.
func (n *Names) Inode(t *live.Trans, dp *inode.Inode, what ialloc.New) (ip *inode.Inode, ok bool, err error) {
	ino, ok, err := ialloc.Alloc(t, dp, what.Mode)
	if !ok || err != nil {
		return nil, ok, err
	}
	ip, err = ialloc.Create(t, ino, dp, what)
	return ip, err == nil, err
}

// Root makes an inode that is the root of a tree, and its own parent. ok is false if there is no inode.
func (n *Names) Root(t *live.Trans, what ialloc.New) (ip *inode.Inode, ok bool, err error) {
	ip, ok, err = n.Inode(t, nil, what)
	if ok && isDir(what.Mode) {
		n.Dirs.Init(t, ip, ip.Ino)
	}
	return ip, ok, err
}

// Enter enters a new inode into a directory, as mkfs.xfs does it (newdirent): the directory is logged
// only if the entry is in its inode or takes a block, or is that of a directory, and is not stamped for
// the entry. total is how many blocks may be taken. ok is false if there was no room; what is changed by
// then cannot be committed, nor what is if there is an error.
func (n *Names) Enter(t *live.Trans, dp *inode.Inode, name string, ip *inode.Inode, total geometry.Blocks) (
	ok bool, err error) {
	if err := CheckName(dp, name); err != nil {
		return false, err
	}
	t.Join(dp)
	if ok, err = n.Dirs.Add(t, dp, name, ip.Ino, FileType(ip.Core.Mode), total); !ok || err != nil {
		return ok, err
	}
	if n.fs.G.Features.Parent {
		if err := n.Attrs.AddParent(t, ip, n.link(dp, name)); err != nil {
			return false, err
		}
	}
	if ip.IsDir() {
		bump(t, dp)
		n.Dirs.Init(t, ip, dp.Ino)
	}
	return true, nil
}

// EnterLink enters a file that is there into a directory, under another name (handle_hardlink of mkfs.xfs).
// See Enter.
func (n *Names) EnterLink(t *live.Trans, dp *inode.Inode, name string, ip *inode.Inode, total geometry.Blocks) (
	ok bool, err error) {
	switch {
	case ip.IsDir():
		return false, fmt.Errorf("inode %d: a directory has one name, and would get %q", ip.Ino, name)
	case ip.Core.Nlink == 0:
		return false, fmt.Errorf("inode %d: it has no name any more, and would get %q", ip.Ino, name)
	case ip.Core.Nlink >= pinned-1:
		return false, fmt.Errorf("inode %d: it has %d names, the most that can be", ip.Ino, ip.Core.Nlink)
	}
	t.Join(ip)
	if ok, err = n.Enter(t, dp, name, ip, total); ok {
		bump(t, ip)
	}
	return ok, err
}

// Create makes a file and enters it into a directory (xfs_dir_create_child). The transaction has
// reserved what it may take: Space.Create. ok is false if there was no room; what is changed by then
// cannot be committed, nor what is if there is an error.
func (n *Names) Create(t *live.Trans, dp *inode.Inode, name string, what ialloc.New) (
	ip *inode.Inode, ok bool, err error) {
	if err := CheckName(dp, name); err != nil {
		return nil, false, err
	}
	if ip, ok, err = n.Inode(t, dp, what); !ok || err != nil {
		return ip, ok, err
	}
	if ok, err = n.Enter(t, dp, name, ip, t.Reserve); ok {
		n.changed(t, dp)
	}
	return ip, ok, err
}

// Symlink makes a symbolic link and enters it into a directory (xfs_symlink). Besides what Create does it
// takes symlink.Blocks.
func (n *Names) Symlink(t *live.Trans, dp *inode.Inode, name, target string, what ialloc.New) (
	ip *inode.Inode, ok bool, err error) {
	if err := symlink.Check(target); err != nil {
		return nil, false, fmt.Errorf("directory %d, %q: %w", dp.Ino, name, err)
	}
	if err := CheckName(dp, name); err != nil {
		return nil, false, err
	}
	what.Mode = what.Mode&^ondisk.ModeType | ondisk.ModeSymlink
	if ip, ok, err = n.Inode(t, dp, what); !ok || err != nil {
		return ip, ok, err
	}
	if ok, err = symlink.Write(t, ip, target, t.Reserve); !ok || err != nil {
		return ip, ok, err
	}
	if ok, err = n.Enter(t, dp, name, ip, t.Reserve); ok {
		n.changed(t, dp)
	}
	return ip, ok, err
}

// Link gives a file another name (xfs_dir_add_child). Before an error of the name, or of the file, nothing
// is changed.
func (n *Names) Link(t *live.Trans, dp *inode.Inode, name string, ip *inode.Inode) (ok bool, err error) {
	if err := checkProject(At{Dir: dp, Name: name}, ip); err != nil {
		return false, err
	}
	if ok, err = n.EnterLink(t, dp, name, ip, t.Reserve); ok {
		n.changed(t, dp)
	}
	return ok, err
}

// link is that of a name in a directory, until the next one is asked for.
func (n *Names) link(dp *inode.Inode, name string) attr.Link {
	n.name = append(n.name[:0], name...)
	return attr.Link{Dir: dp.Ino, Generation: dp.Core.Generation, Name: n.name}
}

// changed stamps a directory whose entries have changed.
func (n *Names) changed(t *live.Trans, dp *inode.Inode) {
	dp.Stamp(t.FS, inode.Modified|inode.Changed)
	dp.Log(t)
}

// pinned is a number of links that is none: it stays whatever happens (XFS_NLINK_PINNED).
const pinned = math.MaxUint32

// bump counts one more link to an inode (xfs_bumplink).
func bump(t *live.Trans, ip *inode.Inode) {
	ip.Stamp(t.FS, inode.Changed)
	if ip.Core.Nlink != pinned {
		ip.Core.Nlink++
	}
	ip.Log(t)
}
